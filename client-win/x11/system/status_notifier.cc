#include "x11/system/status_notifier.h"

#include <unistd.h>

#include <string_view>
#include <utility>

namespace sprites {

namespace {

constexpr char kPath[] = "/StatusNotifierItem";
constexpr char kInterface[] = "org.kde.StatusNotifierItem";
constexpr char kWatcher[] = "org.kde.StatusNotifierWatcher";
constexpr char kNotifications[] = "org.freedesktop.Notifications";
constexpr int kShownMs = 8'000;  // a notification is shown
constexpr int kUsualMs = -1;     // what GDBus waits for an answer
constexpr char kItem[] = R"(<node><interface name='org.kde.StatusNotifierItem'>
  <method name='Activate'><arg type='i'/><arg type='i'/></method>
  <method name='ContextMenu'><arg type='i'/><arg type='i'/></method>
  <method name='SecondaryActivate'><arg type='i'/><arg type='i'/></method>
  <method name='Scroll'><arg type='i'/><arg type='s'/></method>
  <property name='Category' type='s' access='read'/>
  <property name='Id' type='s' access='read'/>
  <property name='Title' type='s' access='read'/>
  <property name='Status' type='s' access='read'/>
  <property name='IconName' type='s' access='read'/>
  <property name='WindowId' type='i' access='read'/>
  <property name='ItemIsMenu' type='b' access='read'/>
  <property name='Menu' type='o' access='read'/>
  <property name='IconPixmap' type='a(iiay)' access='read'/>
  <property name='ToolTip' type='(sa(iiay)ss)' access='read'/>
  <signal name='NewToolTip'/>
</interface></node>)";

// Text for a daemon that reads markup.
std::string Escaped(const std::string& text) {
  char* escaped = g_markup_escape_text(text.c_str(), -1);
  std::string copy(escaped);
  g_free(escaped);
  return copy;
}

// The answer to a call; null for an error.
GVariant* AnswerOf(GObject* bus, GAsyncResult* result) {
  return g_dbus_connection_call_finish(G_DBUS_CONNECTION(bus), result, nullptr);
}

}  // namespace

StatusNotifier::StatusNotifier(const SheetPointer& icon, std::function<void(Point)> clicked)
    : clicked_(std::move(clicked)) {
  ReadIcon(*icon);
  const auto handle = +[](GObject*, GAsyncResult* result, gpointer own) {
    if (GDBusConnection* bus = g_bus_get_finish(result, nullptr)) {
      static_cast<StatusNotifier*>(own)->Offer(bus);
    }
  };
  g_bus_get(G_BUS_TYPE_SESSION, nullptr, handle, this);
}

StatusNotifier::~StatusNotifier() {
  if (bus_ != nullptr) {
    g_bus_unwatch_name(watcher_);
    g_bus_unown_name(owned_);
    g_dbus_connection_signal_unsubscribe(bus_.get(), clicks_);
    g_dbus_connection_unregister_object(bus_.get(), item_);
  }
}

void StatusNotifier::ReadIcon(const Sheet& sheet) {
  width_ = sheet.description.frame_width;
  height_ = sheet.description.frame_height;
  const int cell = CellOf(sheet.description, Mode::kIdle, 0);
  for (int y = 0; y < height_; y++) {
    for (int x = 0; x < width_; x++) {
      const size_t at = static_cast<size_t>(cell / sheet.Columns() * height_ + y) *
                            static_cast<size_t>(sheet.width) +
                        static_cast<size_t>(cell % sheet.Columns() * width_ + x);
      const uint8_t* rgba = &sheet.rgba[4 * at];
      pixels_.insert(pixels_.end(), {rgba[3], rgba[0], rgba[1], rgba[2]});
    }
  }
}

// Offers the icon to panels, also to one that is started later, and asks for a notification daemon.
void StatusNotifier::Offer(GDBusConnection* bus) {
  bus_.reset(bus);
  g_dbus_connection_set_exit_on_close(bus, FALSE);
  static const GDBusInterfaceVTable kHandlers{
      [](GDBusConnection*, const char*, const char*, const char*, const char*, GVariant* arguments,
         GDBusMethodInvocation* call, gpointer own) {
        // A scroll has a word for its second.
        if (g_variant_is_of_type(arguments, G_VARIANT_TYPE("(ii)"))) {
          int x = 0;
          int y = 0;
          g_variant_get(arguments, "(ii)", &x, &y);
          static_cast<StatusNotifier*>(own)->clicked_({x * 1.0, y * 1.0});
        }
        g_dbus_method_invocation_return_value(call, nullptr);
      },
      [](GDBusConnection*, const char*, const char*, const char*, const char* property, GError**,
         gpointer own) { return static_cast<StatusNotifier*>(own)->Property(property); },
      nullptr,
      {}};
  GDBusNodeInfo* node = g_dbus_node_info_new_for_xml(kItem, nullptr);
  item_ = g_dbus_connection_register_object(bus, kPath, node->interfaces[0], &kHandlers, this,
                                            nullptr, nullptr);
  g_dbus_node_info_unref(node);
  name_ = std::string(kInterface) + "-" + std::to_string(getpid()) + "-1";
  owned_ = g_bus_own_name_on_connection(bus, name_.c_str(), G_BUS_NAME_OWNER_FLAGS_NONE, nullptr,
                                        nullptr, nullptr, nullptr);
  watcher_ = g_bus_watch_name_on_connection(
      bus, kWatcher, G_BUS_NAME_WATCHER_FLAGS_NONE,
      [](GDBusConnection*, const char*, const char*, gpointer own) {
        static_cast<StatusNotifier*>(own)->Register();
      },
      [](GDBusConnection*, const char*, gpointer own) {
        static_cast<StatusNotifier*>(own)->is_registered_ = false;
      },
      this, nullptr);
  clicks_ = g_dbus_connection_signal_subscribe(
      bus, kNotifications, kNotifications, "ActionInvoked", nullptr, nullptr,
      G_DBUS_SIGNAL_FLAGS_NONE,
      [](GDBusConnection*, const char*, const char*, const char*, const char*, GVariant* which,
         gpointer own) { static_cast<StatusNotifier*>(own)->HandleNoticeClicked(which); },
      this, nullptr);
  g_dbus_connection_call(
      bus, kNotifications, "/org/freedesktop/Notifications", kNotifications, "GetCapabilities",
      nullptr, G_VARIANT_TYPE("(as)"), G_DBUS_CALL_FLAGS_NONE, kUsualMs, nullptr,
      [](GObject* source, GAsyncResult* result, gpointer own) {
        if (GVariant* answer = AnswerOf(source, result)) {
          static_cast<StatusNotifier*>(own)->HandleCapabilities(answer);
          g_variant_unref(answer);
        }
      },
      this);
}

// Asks the panel to show the icon.
void StatusNotifier::Register() {
  g_dbus_connection_call(
      bus_.get(), kWatcher, "/StatusNotifierWatcher", kWatcher, "RegisterStatusNotifierItem",
      g_variant_new("(s)", name_.c_str()), nullptr, G_DBUS_CALL_FLAGS_NONE, kUsualMs, nullptr,
      [](GObject* source, GAsyncResult* result, gpointer own) {
        if (GVariant* answer = AnswerOf(source, result)) {
          static_cast<StatusNotifier*>(own)->is_registered_ = true;
          g_variant_unref(answer);
        }
      },
      this);
}

void StatusNotifier::HandleCapabilities(GVariant* answer) {
  can_notify_ = true;
  const char** all = nullptr;
  g_variant_get(answer, "(^a&s)", &all);
  reads_markup_ = g_strv_contains(all, "body-markup") != FALSE;
  g_free(all);
}

GVariant* StatusNotifier::Icon() const {
  GVariant* pixels =
      g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, pixels_.data(), pixels_.size(), 1);
  GVariant* picture = g_variant_new("(ii@ay)", width_, height_, pixels);
  return g_variant_new_array(nullptr, &picture, 1);
}

GVariant* StatusNotifier::Property(const std::string& name) const {
  if (name == "IconPixmap") {
    return Icon();
  }
  if (name == "ToolTip") {
    return g_variant_new("(s@a(iiay)ss)", "", Icon(), "Sprites", Escaped(tooltip_).c_str());
  }
  if (name == "Menu") {
    return g_variant_new_object_path("/NO_DBUSMENU");  // the program shows its own
  }
  if (name == "ItemIsMenu") {
    return g_variant_new_boolean(FALSE);
  }
  if (name == "WindowId") {
    return g_variant_new_int32(0);
  }
  return g_variant_new_string(name == "Category" ? "ApplicationStatus"
                              : name == "Id"     ? "sprites"
                              : name == "Title"  ? "Sprites"
                              : name == "Status" ? "Active"
                                                 : "");  // the icon is in IconPixmap
}

void StatusNotifier::SetTooltip(const std::string& text) {
  if (text == tooltip_) {
    return;
  }
  tooltip_ = text;
  if (bus_ != nullptr) {
    g_dbus_connection_emit_signal(bus_.get(), nullptr, kPath, kInterface, "NewToolTip", nullptr,
                                  nullptr);
  }
}

void StatusNotifier::Notify(const std::string& title, const std::string& text,
                            std::function<void()> clicked) {
  const std::string body = reads_markup_ ? Escaped(text) : text;
  // The daemon calls the click on the notification itself `default`; the words are for others.
  const char* const actions[] = {"default", "OK", nullptr};
  const auto handle = +[](GObject* source, GAsyncResult* result, gpointer own) {
    if (GVariant* answer = AnswerOf(source, result)) {
      g_variant_get(answer, "(u)", &static_cast<StatusNotifier*>(own)->notice_);
      g_variant_unref(answer);
    }
  };
  notice_ = 0;
  notice_clicked_ = std::move(clicked);
  g_dbus_connection_call(
      bus_.get(), kNotifications, "/org/freedesktop/Notifications", kNotifications, "Notify",
      g_variant_new("(susss^asa{sv}i)", "Sprites", 0, "sprites", title.c_str(), body.c_str(),
                    notice_clicked_ ? actions : actions + 2, nullptr, kShownMs),
      G_VARIANT_TYPE("(u)"), G_DBUS_CALL_FLAGS_NONE, kUsualMs, nullptr, handle, this);
}

void StatusNotifier::HandleNoticeClicked(GVariant* which) const {
  guint notice = 0;
  g_variant_get_child(which, 0, "u", &notice);
  if (notice == notice_ && notice != 0 && notice_clicked_) {
    notice_clicked_();
  }
}

}  // namespace sprites
