#include "x11/system/status_notifier.h"

#include <poll.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include <cstring>
#include <utility>
#include <vector>

namespace sprites {

namespace {

constexpr char kPath[] = "/StatusNotifierItem";
constexpr char kInterface[] = "org.kde.StatusNotifierItem";
constexpr char kWatcher[] = "org.kde.StatusNotifierWatcher";
constexpr char kNotifications[] = "org.freedesktop.Notifications";
constexpr int kNoticeMs = 8'000;  // a notification is shown

// Text for a daemon that reads markup.
std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char letter : text) {
    escaped += letter == '&'   ? "&amp;"
               : letter == '<' ? "&lt;"
               : letter == '>' ? "&gt;"
                               : std::string(1, letter);
  }
  return escaped;
}

}  // namespace

struct StatusNotifier::Bus {
  Bus(const SheetPointer& icon, std::function<void(Point)> when_clicked)
      : clicked(std::move(when_clicked)) {
    ReadIcon(*icon);
  }
  ~Bus() { sd_bus_flush_close_unref(bus); }
  Bus(const Bus&) = delete;
  Bus& operator=(const Bus&) = delete;

  bool Open();
  void ReadIcon(const Sheet& sheet);
  void Register();
  int AppendIcon(sd_bus_message* message) const;

  static int OnClick(sd_bus_message* message, void* own, sd_bus_error*);
  static int OnScroll(sd_bus_message* message, void*, sd_bus_error*);
  static int OnRegistered(sd_bus_message* answer, void* own, sd_bus_error*);
  static int OnOwnerChanged(sd_bus_message* message, void* own, sd_bus_error*);
  static int OnCapabilities(sd_bus_message* answer, void* own, sd_bus_error*);
  static int OnText(sd_bus* bus, const char* path, const char* interface, const char* property,
                    sd_bus_message* answer, void* own, sd_bus_error*);
  static int OnIcon(sd_bus* bus, const char* path, const char* interface, const char* property,
                    sd_bus_message* answer, void* own, sd_bus_error*);
  static int OnTooltip(sd_bus* bus, const char* path, const char* interface, const char* property,
                       sd_bus_message* answer, void* own, sd_bus_error*);
  static int OnOther(sd_bus* bus, const char* path, const char* interface, const char* property,
                     sd_bus_message* answer, void* own, sd_bus_error*);
  static const sd_bus_vtable kItem[];

  sd_bus* bus = nullptr;
  std::function<void(Point)> clicked;
  std::string name;
  std::string tooltip;
  std::vector<uint8_t> pixels;  // alpha, red, green, blue
  int side_width = 0;
  int side_height = 0;
  bool is_registered = false;
  bool can_notify = false;
  bool reads_markup = false;
};

const sd_bus_vtable StatusNotifier::Bus::kItem[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("Activate", "ii", "", OnClick, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("ContextMenu", "ii", "", OnClick, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("SecondaryActivate", "ii", "", OnClick, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Scroll", "is", "", OnScroll, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_PROPERTY("Category", "s", OnText, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("Id", "s", OnText, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("Title", "s", OnText, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("Status", "s", OnText, 0, 0),
    SD_BUS_PROPERTY("IconName", "s", OnText, 0, 0),
    SD_BUS_PROPERTY("WindowId", "i", OnOther, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("ItemIsMenu", "b", OnOther, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("Menu", "o", OnOther, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("IconPixmap", "a(iiay)", OnIcon, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("ToolTip", "(sa(iiay)ss)", OnTooltip, 0, 0),
    SD_BUS_SIGNAL("NewToolTip", "", 0),
    SD_BUS_VTABLE_END};

StatusNotifier::StatusNotifier(const SheetPointer& icon, std::function<void(Point)> clicked)
    : bus_(std::make_unique<Bus>(icon, std::move(clicked))) {
  if (!bus_->Open()) {
    bus_.reset();
  }
}

StatusNotifier::~StatusNotifier() = default;

bool StatusNotifier::Bus::Open() {
  name = std::string(kInterface) + "-" + std::to_string(getpid()) + "-1";
  if (sd_bus_open_user(&bus) < 0 ||
      sd_bus_add_object_vtable(bus, nullptr, kPath, kInterface, kItem, this) < 0) {
    return false;
  }
  sd_bus_request_name_async(bus, nullptr, name.c_str(), 0, nullptr, nullptr);
  const std::string owners =
      "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='" +
      std::string(kWatcher) + "'";
  sd_bus_add_match_async(bus, nullptr, owners.c_str(), OnOwnerChanged, nullptr, this);
  Register();
  sd_bus_call_method_async(bus, nullptr, kNotifications, "/org/freedesktop/Notifications",
                           kNotifications, "GetCapabilities", OnCapabilities, this, "");
  return true;
}

// Asks the panel to show the icon.
void StatusNotifier::Bus::Register() {
  sd_bus_call_method_async(bus, nullptr, kWatcher, "/StatusNotifierWatcher", kWatcher,
                           "RegisterStatusNotifierItem", OnRegistered, this, "s", name.c_str());
}

void StatusNotifier::Bus::ReadIcon(const Sheet& sheet) {
  side_width = sheet.description.frame_width;
  side_height = sheet.description.frame_height;
  const int cell = CellOf(sheet.description, Mode::kIdle, 0);
  for (int y = 0; y < side_height; y++) {
    for (int x = 0; x < side_width; x++) {
      const size_t at = static_cast<size_t>(cell / sheet.Columns() * side_height + y) *
                            static_cast<size_t>(sheet.width) +
                        static_cast<size_t>(cell % sheet.Columns() * side_width + x);
      const uint8_t* rgba = &sheet.rgba[4 * at];
      pixels.insert(pixels.end(), {rgba[3], rgba[0], rgba[1], rgba[2]});
    }
  }
}

int StatusNotifier::Bus::OnClick(sd_bus_message* message, void* own, sd_bus_error*) {
  int32_t x = 0;
  int32_t y = 0;
  if (const int failed = sd_bus_message_read(message, "ii", &x, &y); failed < 0) {
    return failed;
  }
  static_cast<Bus*>(own)->clicked({static_cast<double>(x), static_cast<double>(y)});
  return sd_bus_reply_method_return(message, "");
}

int StatusNotifier::Bus::OnScroll(sd_bus_message* message, void*, sd_bus_error*) {
  return sd_bus_reply_method_return(message, "");
}

int StatusNotifier::Bus::OnRegistered(sd_bus_message* answer, void* own, sd_bus_error*) {
  static_cast<Bus*>(own)->is_registered = sd_bus_message_is_method_error(answer, nullptr) == 0;
  return 0;
}

int StatusNotifier::Bus::OnOwnerChanged(sd_bus_message* message, void* own, sd_bus_error*) {
  const char* watcher = "";
  const char* before = "";
  const char* now = "";
  if (sd_bus_message_read(message, "sss", &watcher, &before, &now) < 0) {
    return 0;
  }
  auto* bus = static_cast<Bus*>(own);
  bus->is_registered = false;
  if (*now != 0) {
    bus->Register();  // the panel was started, or started again
  }
  return 0;
}

int StatusNotifier::Bus::OnCapabilities(sd_bus_message* answer, void* own, sd_bus_error*) {
  auto* bus = static_cast<Bus*>(own);
  if (sd_bus_message_is_method_error(answer, nullptr) != 0 ||
      sd_bus_message_enter_container(answer, 'a', "s") < 0) {
    return 0;
  }
  bus->can_notify = true;
  const char* capability = nullptr;
  while (sd_bus_message_read_basic(answer, 's', &capability) > 0) {
    bus->reads_markup = bus->reads_markup || strcmp(capability, "body-markup") == 0;
  }
  return 0;
}

int StatusNotifier::Bus::OnText(sd_bus*, const char*, const char*, const char* property,
                                sd_bus_message* answer, void*, sd_bus_error*) {
  const char* text = strcmp(property, "Category") == 0 ? "ApplicationStatus"
                     : strcmp(property, "Id") == 0     ? "sprites"
                     : strcmp(property, "Title") == 0  ? "Sprites"
                     : strcmp(property, "Status") == 0 ? "Active"
                                                       : "";  // the icon is in IconPixmap
  return sd_bus_message_append(answer, "s", text);
}

int StatusNotifier::Bus::OnOther(sd_bus*, const char*, const char*, const char* property,
                                 sd_bus_message* answer, void*, sd_bus_error*) {
  if (strcmp(property, "Menu") == 0) {
    return sd_bus_message_append(answer, "o", "/NO_DBUSMENU");  // the program shows its own
  }
  return strcmp(property, "ItemIsMenu") == 0 ? sd_bus_message_append(answer, "b", 0)
                                             : sd_bus_message_append(answer, "i", 0);
}

int StatusNotifier::Bus::AppendIcon(sd_bus_message* message) const {
  sd_bus_message_open_container(message, 'a', "(iiay)");
  sd_bus_message_open_container(message, 'r', "iiay");
  sd_bus_message_append(message, "ii", side_width, side_height);
  sd_bus_message_append_array(message, 'y', pixels.data(), pixels.size());
  sd_bus_message_close_container(message);
  return sd_bus_message_close_container(message);
}

int StatusNotifier::Bus::OnIcon(sd_bus*, const char*, const char*, const char*,
                                sd_bus_message* answer, void* own, sd_bus_error*) {
  return static_cast<Bus*>(own)->AppendIcon(answer);
}

int StatusNotifier::Bus::OnTooltip(sd_bus*, const char*, const char*, const char*,
                                   sd_bus_message* answer, void* own, sd_bus_error*) {
  const auto* bus = static_cast<Bus*>(own);
  sd_bus_message_open_container(answer, 'r', "sa(iiay)ss");
  sd_bus_message_append(answer, "s", "");
  bus->AppendIcon(answer);
  sd_bus_message_append(answer, "ss", "Sprites", Escaped(bus->tooltip).c_str());
  return sd_bus_message_close_container(answer);
}

int StatusNotifier::fd() const { return bus_ == nullptr ? -1 : sd_bus_get_fd(bus_->bus); }

short StatusNotifier::events() const {
  const int events = bus_ == nullptr ? 0 : sd_bus_get_events(bus_->bus);
  return static_cast<short>(events < 0 ? 0 : events);
}

void StatusNotifier::Process() {
  if (bus_ == nullptr) {
    return;
  }
  int more = 0;
  while ((more = sd_bus_process(bus_->bus, nullptr)) > 0) {
  }
  if (more < 0) {
    bus_.reset();  // the session's bus has ended
  }
}

bool StatusNotifier::is_shown() const { return bus_ != nullptr && bus_->is_registered; }

bool StatusNotifier::CanNotify() const { return bus_ != nullptr && bus_->can_notify; }

void StatusNotifier::SetTooltip(const std::string& text) {
  if (bus_ != nullptr && text != bus_->tooltip) {
    bus_->tooltip = text;
    sd_bus_emit_signal(bus_->bus, kPath, kInterface, "NewToolTip", "");
  }
}

void StatusNotifier::Notify(const std::string& title, const std::string& text) {
  const std::string body = bus_->reads_markup ? Escaped(text) : text;
  sd_bus_call_method_async(bus_->bus, nullptr, kNotifications, "/org/freedesktop/Notifications",
                           kNotifications, "Notify", nullptr, nullptr, "susssasa{sv}i", "Sprites",
                           uint32_t{0}, "sprites", title.c_str(), body.c_str(), 0, 0, kNoticeMs);
}

}  // namespace sprites
