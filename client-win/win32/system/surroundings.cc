#include "win32/system/surroundings.h"

#include <vector>

#include "core/screen/check_pace.h"
#include "win32/system/monitors.h"
#include "win32/system/other_windows.h"

namespace sprites {

namespace {

constexpr int64_t kMonitorsMs = 1'000;  // between two checks of the monitors
constexpr int64_t kPlacesMs = 500;      // between two checks of where windows belong

// Since the person last used the pointer or the keyboard.
int64_t InputAgeMs() {
  LASTINPUTINFO last{};
  last.cbSize = sizeof last;
  return GetLastInputInfo(&last) == FALSE ? 0 : static_cast<DWORD>(GetTickCount() - last.dwTime);
}

}  // namespace

int64_t Surroundings::CheckMs(const Simulation& simulation, int64_t now_ms) const {
  return sprites::CheckMs(AnySpriteOnWindow(simulation), now_ms - windows_moved_ms_, InputAgeMs());
}

void Surroundings::Update(Desktop* desktop, int64_t now_ms) {
  if (monitors_may_have_changed_ || now_ms - monitors_checked_ms_ >= kMonitorsMs) {
    UpdateMonitors(desktop, now_ms);
  }
  const int64_t check_ms = CheckMs(desktop->simulation(), now_ms);
  if (watch_.MayHaveChanged() || now_ms - windows_checked_ms_ >= check_ms) {
    UpdateWindows(desktop, now_ms);
  }
  if (desktop->settings().restore_windows && now_ms - places_checked_ms_ >= kPlacesMs) {
    RestoreWindows(now_ms);
  }
}

void Surroundings::UpdateMonitors(Desktop* desktop, int64_t now_ms) {
  monitors_checked_ms_ = now_ms;
  monitors_may_have_changed_ = false;
  const std::vector<Monitor> monitors = MonitorsNow();
  if (desktop->settings().restore_windows) {
    places_.SeeMonitors(monitors, now_ms);  // before the sprites hide from a full-screen program
  }
  if (!monitors.empty() && Screen(monitors) != desktop->simulation().screen()) {
    desktop->look().SetMonitors(monitors);
  }
}

void Surroundings::UpdateWindows(Desktop* desktop, int64_t now_ms) {
  windows_checked_ms_ = now_ms;
  looks_++;
  if (watch_.Look()) {
    windows_moved_ms_ = now_ms;
    desktop->look().SetWindows(watch_.windows());
  }
}

void Surroundings::RestoreWindows(int64_t now_ms) {
  places_checked_ms_ = now_ms;
  const std::vector<Monitor> monitors = MonitorsNow();
  const std::vector<OpenWindow> windows = OtherWindowsNow();
  if (monitors != MonitorsNow()) {
    return;  // the monitors have just changed, so some of the places are older than others
  }
  const Screen screen(monitors);
  const std::vector<bool> is_covered = FullScreenMonitors(watch_.windows(), screen);
  std::vector<Rect> covered;
  for (size_t i = 0; i < is_covered.size(); i++) {
    if (is_covered[i]) {
      covered.push_back(screen.monitors()[i].bounds);
    }
  }
  PutBackNow(places_.Update(monitors, windows, covered, now_ms));
}

}  // namespace sprites
