// The surroundings of the sprites: the monitors, and the windows of other programs.
//
// Polls them, reports changes to the desktop, and restores windows that a full-screen program or an
// unplugged monitor has moved. Threads: all calls on the one that constructed it, which must handle
// messages. Cost: Update calls Windows only when a check is due; a check takes 0.1 to 0.5 ms.
#ifndef CLIENT_WIN_WIN32_SYSTEM_SURROUNDINGS_H_
#define CLIENT_WIN_WIN32_SYSTEM_SURROUNDINGS_H_

#include <cstdint>

#include "core/desktop/desktop.h"
#include "core/screen/window_places.h"
#include "win32/system/window_watch.h"

namespace sprites {

class Surroundings {
 public:
  // Makes the checks that are due and reports what has changed to the desktop. Call it every turn.
  void Update(Desktop* desktop, int64_t now_ms);
  // Makes the next Update check the monitors.
  void MonitorsMayHaveChanged() { monitors_may_have_changed_ = true; }
  // How often the windows of other programs were listed so far.
  uint64_t looks() const { return looks_; }
  // The ms until the next check of the windows.
  int64_t CheckMs(const Simulation& simulation, int64_t now_ms) const;
  // Forgets where windows belong. Call it when the user turns restoring off.
  void ForgetPlaces() { places_ = WindowPlaces(); }

 private:
  void UpdateMonitors(Desktop* desktop, int64_t now_ms);
  void UpdateWindows(Desktop* desktop, int64_t now_ms);
  void RestoreWindows(int64_t now_ms);

  WindowWatch watch_;
  WindowPlaces places_;
  bool monitors_may_have_changed_ = true;
  int64_t monitors_checked_ms_ = 0;
  int64_t windows_checked_ms_ = 0;
  uint64_t looks_ = 0;
  int64_t windows_moved_ms_ = 0;  // when a check found a change
  int64_t places_checked_ms_ = 0;
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_SURROUNDINGS_H_
