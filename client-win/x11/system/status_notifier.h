// The icon in the panel (StatusNotifierItem) and notifications, both through the session's D-Bus.
//
// Invariant: without a bus, without a panel that shows such icons, or without a notification
// daemon, the program works the same: is_shown() and CanNotify() are false then, and may change at
// any time. Threads: all calls on one; no call waits for another program.
#ifndef CLIENT_WIN_X11_SYSTEM_STATUS_NOTIFIER_H_
#define CLIENT_WIN_X11_SYSTEM_STATUS_NOTIFIER_H_

#include <functional>
#include <memory>
#include <string>

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

  // To wait for, as poll() has it; a negative fd when there is no bus.
  int fd() const;
  short events() const;
  // Handles what has come from the bus, and sends what waits.
  void Process();
  // Whether a panel shows the icon.
  bool is_shown() const;
  bool CanNotify() const;
  void SetTooltip(const std::string& text);
  // REQUIRES: CanNotify().
  void Notify(const std::string& title, const std::string& text);

 private:
  struct Bus;

  std::unique_ptr<Bus> bus_;  // null without a bus
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SYSTEM_STATUS_NOTIFIER_H_
