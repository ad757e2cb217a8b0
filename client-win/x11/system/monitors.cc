#include "x11/system/monitors.h"

#include <gtk/gtk.h>
#include <xcb/randr.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

namespace sprites {

namespace {

constexpr double kDefaultDpi = 96;  // at 100 %
constexpr double kScaleStep = 0.25;

// Desktops write the resolution of texts, `Xft.dpi: 192`, for all monitors.
double ScaleOfTexts(const XConnection& connection) {
  constexpr std::string_view kKey = "Xft.dpi:";
  const std::string resources =
      connection.Text(connection.AskFor(connection.root(), Atom::RESOURCE_MANAGER));
  for (size_t at = 0; at < resources.size();) {
    const size_t end = std::min(resources.find('\n', at), resources.size());
    std::string_view line(resources.data() + at, end - at);
    at = end + 1;
    if (!line.starts_with(kKey)) {
      continue;
    }
    line.remove_prefix(std::min(line.find_first_not_of(" \t", kKey.size()), line.size()));
    double dpi = 0;
    std::from_chars(line.data(), line.data() + line.size(), dpi);
    const double scale = std::round(dpi / kDefaultDpi / kScaleStep) * kScaleStep;
    return scale > 0 ? std::clamp(scale, 1.0, kScaleMax) : 1;
  }
  return 1;
}

}  // namespace

int WindowScale() {
  return gdk_window_get_scale_factor(gdk_screen_get_root_window(gdk_screen_get_default()));
}

std::vector<Monitor> ReadMonitors(const XConnection& connection) {
  std::vector<Monitor> monitors;
  const Reply<xcb_randr_get_monitors_reply_t> reply(xcb_randr_get_monitors_reply(
      connection.get(), xcb_randr_get_monitors(connection.get(), connection.root(), 1), nullptr));
  if (reply == nullptr) {
    return monitors;
  }
  const double scale = std::max(ScaleOfTexts(connection), double(WindowScale()));
  for (auto monitor = xcb_randr_get_monitors_monitors_iterator(reply.get()); monitor.rem > 0;
       xcb_randr_monitor_info_next(&monitor)) {
    const auto& info = *monitor.data;
    const Rect bounds{static_cast<double>(info.x), static_cast<double>(info.y),
                      static_cast<double>(info.x + info.width),
                      static_cast<double>(info.y + info.height)};
    monitors.push_back({bounds, bounds, scale, info.primary != 0});
  }
  const bool has_primary = std::ranges::any_of(monitors, &Monitor::is_primary);
  if (!monitors.empty() && !has_primary) {
    monitors.front().is_primary = true;
  }
  return monitors;
}

std::vector<Monitor> WithoutStruts(std::vector<Monitor> monitors, std::span<const Strut> struts) {
  const Rect screen = Screen(monitors).bounds();
  for (Monitor& monitor : monitors) {
    monitor.work = WorkAreaOf(monitor.bounds, screen, struts);
  }
  return monitors;
}

}  // namespace sprites
