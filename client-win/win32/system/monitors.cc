#include "win32/system/monitors.h"

#include <windows.h>
// After windows.h.
#include <shellscalingapi.h>

namespace sprites {

namespace {

constexpr double kDefaultDpi = 96;  // at 100 %

Rect RectOf(const RECT& rect) {
  return {static_cast<double>(rect.left), static_cast<double>(rect.top),
          static_cast<double>(rect.right), static_cast<double>(rect.bottom)};
}

BOOL CALLBACK OnMonitor(HMONITOR monitor, HDC, RECT*, LPARAM context) {
  MONITORINFO info{};
  info.cbSize = sizeof info;
  if (GetMonitorInfoW(monitor, &info)) {
    UINT dpi = 96;
    UINT dpi_y = 96;
    GetDpiForMonitor(monitor, MDT_EFFECTIVE_DPI, &dpi, &dpi_y);
    reinterpret_cast<std::vector<Monitor>*>(context)->push_back(
        {RectOf(info.rcMonitor), RectOf(info.rcWork), dpi / kDefaultDpi,
         (info.dwFlags & MONITORINFOF_PRIMARY) != 0});
  }
  return TRUE;
}

}  // namespace

std::vector<Monitor> MonitorsNow() {
  std::vector<Monitor> monitors;
  EnumDisplayMonitors(nullptr, nullptr, OnMonitor, reinterpret_cast<LPARAM>(&monitors));
  return monitors;
}

}  // namespace sprites
