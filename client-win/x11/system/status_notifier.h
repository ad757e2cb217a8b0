// The icon in the panel (StatusNotifierItem) and notifications, both through the session's D-Bus.
//
// Invariant: without a bus, without a panel that shows such icons, or without a notification
// daemon, the program works the same: is_shown() and CanNotify() are false then, and may change at
// any time. Threads: all calls on that of GTK's main loop, which does not run on after the end of
// this. No call waits for another program.
#ifndef CLIENT_WIN_X11_SYSTEM_STATUS_NOTIFIER_H_
#define CLIENT_WIN_X11_SYSTEM_STATUS_NOTIFIER_H_

#include <gio/gio.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/picture/sheet.h"
#include "core/screen/geometry.h"

namespace sprites {

class StatusNotifier {
 public:
  // `clicked` gets the point of the screen where the person has clicked the icon.
  StatusNotifier(const SheetPointer& icon, std::function<void(Point)> clicked);
  ~StatusNotifier();
  StatusNotifier(const StatusNotifier&) = delete;
  StatusNotifier& operator=(const StatusNotifier&) = delete;

  // Whether a panel shows the icon.
  bool is_shown() const { return is_registered_; }
  bool CanNotify() const { return can_notify_ && !g_dbus_connection_is_closed(bus_.get()); }
  void SetTooltip(const std::string& text);
  // REQUIRES: CanNotify().
  // `clicked` is called when the person clicks this notification, if the daemon tells.
  void Notify(const std::string& title, const std::string& text,
              std::function<void()> clicked = {});

 private:
  struct Unref {
    void operator()(GDBusConnection* bus) const { g_object_unref(bus); }
  };

  void ReadIcon(const Sheet& sheet);
  void Offer(GDBusConnection* bus);
  void Register();
  void HandleCapabilities(GVariant* answer);
  void HandleNoticeClicked(GVariant* which) const;
  GVariant* Icon() const;
  GVariant* Property(const std::string& name) const;

  std::function<void(Point)> clicked_;
  std::function<void()> notice_clicked_;  // the last notification
  std::vector<uint8_t> pixels_;           // alpha, red, green, blue
  int width_ = 0;
  int height_ = 0;
  std::unique_ptr<GDBusConnection, Unref> bus_;  // null without one
  std::string name_;                             // on the bus
  std::string tooltip_;
  guint item_ = 0;     // of GLib, and so are the next three: what ends with this
  guint owned_ = 0;    // the name
  guint watcher_ = 0;  // the look-out for the panel
  guint clicks_ = 0;   // that for clicks on notifications
  guint notice_ = 0;   // the last notification, by the daemon's number; 0 without one
  bool is_registered_ = false;
  bool can_notify_ = false;
  bool reads_markup_ = false;  // the notification daemon
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SYSTEM_STATUS_NOTIFIER_H_
