#include "x11/system/status_notifier.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sprites {
namespace {

constexpr guint kWaitMsMax = 20'000;

// Runs the main loop until a condition is true; false if it is not in time.
template <class Condition>
bool Comes(Condition condition) {
  bool is_late = false;
  const auto end = +[](gpointer late) -> gboolean { return *static_cast<bool*>(late) = true; };
  const guint timer = g_timeout_add(kWaitMsMax, end, &is_late);
  while (!condition() && !is_late) {
    g_main_context_iteration(nullptr, TRUE);
  }
  g_source_remove(timer);
  return !is_late;
}

// A session's bus of its own. GLib forgets where the X server is while one runs.
class Session {
 public:
  Session() { g_test_dbus_up(bus_); }
  ~Session() {
    if (address() != nullptr) {
      End();
    }
    g_object_unref(bus_);
    if (display_) {
      setenv("DISPLAY", display_->c_str(), 1);
    }
  }
  // Null once it has ended.
  const char* address() const { return g_test_dbus_get_bus_address(bus_); }
  void End() { g_test_dbus_stop(bus_); }

 private:
  static std::optional<std::string> Display() {
    const char* display = std::getenv("DISPLAY");
    return display == nullptr ? std::nullopt : std::optional<std::string>(display);
  }

  std::optional<std::string> display_ = Display();
  GTestDBus* bus_ = g_test_dbus_new(G_TEST_DBUS_NONE);
};

// A desktop's panel, which is its notification daemon too.
class Panel {
 public:
  explicit Panel(const Session& session) {
    constexpr auto kFlags =
        static_cast<GDBusConnectionFlags>(G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
                                          G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION);
    bus_ = g_dbus_connection_new_for_address_sync(session.address(), kFlags, nullptr, nullptr,
                                                  nullptr);
    Offer("/StatusNotifierWatcher", R"(<node><interface name='org.kde.StatusNotifierWatcher'>
        <method name='RegisterStatusNotifierItem'><arg type='s'/></method></interface></node>)");
    Offer("/org/freedesktop/Notifications",
          R"(<node><interface name='org.freedesktop.Notifications'>
        <method name='GetCapabilities'><arg type='as' direction='out'/></method>
        <method name='Notify'><arg type='s'/><arg type='u'/><arg type='s'/><arg type='s'/><arg type='s'/>
          <arg type='as'/><arg type='a{sv}'/><arg type='i'/><arg type='u' direction='out'/></method>
        </interface></node>)");
  }
  ~Panel() {
    g_dbus_connection_close_sync(bus_, nullptr, nullptr);
    g_object_unref(bus_);
  }
  Panel(const Panel&) = delete;
  Panel& operator=(const Panel&) = delete;

  std::vector<std::string> icons;    // the names of those that are shown
  std::vector<std::string> notices;  // heading: text
  // The person clicks a notification.
  void Click(guint notice) {
    g_dbus_connection_emit_signal(bus_, nullptr, "/org/freedesktop/Notifications",
                                  "org.freedesktop.Notifications", "ActionInvoked",
                                  g_variant_new("(us)", notice, "default"), nullptr);
  }

 private:
  // The interface has the name of the service.
  void Offer(const char* path, const char* xml) {
    static const GDBusInterfaceVTable kHandlers{
        [](GDBusConnection*, const char*, const char*, const char*, const char* method,
           GVariant* arguments, GDBusMethodInvocation* call, gpointer own) {
          g_dbus_method_invocation_return_value(
              call, static_cast<Panel*>(own)->Handle(method, arguments));
        },
        nullptr,
        nullptr,
        {}};
    GDBusNodeInfo* node = g_dbus_node_info_new_for_xml(xml, nullptr);
    g_dbus_connection_register_object(bus_, path, node->interfaces[0], &kHandlers, this, nullptr,
                                      nullptr);
    g_bus_own_name_on_connection(bus_, node->interfaces[0]->name, G_BUS_NAME_OWNER_FLAGS_NONE,
                                 nullptr, nullptr, nullptr, nullptr);
    g_dbus_node_info_unref(node);
  }

  GVariant* Handle(const std::string& method, GVariant* arguments) {
    if (method == "GetCapabilities") {
      return g_variant_new_parsed("(['body', 'body-markup'],)");
    }
    const char* first = "";
    const char* second = "";
    if (method == "Notify") {
      g_variant_get_child(arguments, 3, "&s", &first);
      g_variant_get_child(arguments, 4, "&s", &second);
      notices.push_back(std::string(first) + ": " + second);
      return g_variant_new("(u)", static_cast<guint>(notices.size()));
    }
    g_variant_get_child(arguments, 0, "&s", &first);
    icons.emplace_back(first);
    return nullptr;
  }

  GDBusConnection* bus_ = nullptr;
};

TEST_CASE("status notifier › is in the panel, in one that comes later, and in none without a bus") {
  char* daemon = g_find_program_in_path("dbus-daemon");
  if (daemon == nullptr) {
    MESSAGE("there is no dbus-daemon");
    return;
  }
  g_free(daemon);
  Session session;
  auto panel = std::make_unique<Panel>(session);
  StatusNotifier notifier(Parcel(), [](Point) {});
  const std::string name = "org.kde.StatusNotifierItem-" + std::to_string(getpid()) + "-1";
  CHECK(Comes([&] { return notifier.is_shown() && notifier.CanNotify(); }));
  CHECK(panel->icons == std::vector{name});
  notifier.Notify("Miso has come", "From Grace & Ada.");
  CHECK(Comes([&] { return !panel->notices.empty(); }));
  CHECK(panel->notices == std::vector<std::string>{"Miso has come: From Grace &amp; Ada."});
  int clicks = 0;
  notifier.Notify("The picture is saved", "Sprites.png", [&] { clicks++; });
  CHECK(Comes([&] { return panel->notices.size() == 2; }));
  // Only a click on the last notification counts.
  CHECK(Comes([&] {
    panel->Click(1);
    panel->Click(2);
    return clicks > 0;
  }));
  panel.reset();
  CHECK(Comes([&] { return !notifier.is_shown(); }));
  panel = std::make_unique<Panel>(session);
  CHECK(Comes([&] { return notifier.is_shown(); }));
  CHECK(panel->icons == std::vector{name});
  session.End();
  CHECK(Comes([&] { return !notifier.is_shown() && !notifier.CanNotify(); }));
}

}  // namespace
}  // namespace sprites
