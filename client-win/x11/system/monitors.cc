#include "x11/system/monitors.h"

#include <gtk/gtk.h>
#include <xcb/randr.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "core/scene/frame_clock.h"

namespace sprites {

namespace {

constexpr double kDefaultDpi = 96;  // at 100 %
constexpr double kScaleStep = 0.25;
constexpr double kMsPerSecond = 1'000;

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

// Between two refreshes of the fastest output that is on; 0 when none is known.
double FastestRefreshMs(const XConnection& connection) {
  xcb_connection_t* x = connection.get();
  const Reply<xcb_randr_get_screen_resources_current_reply_t> resources(
      xcb_randr_get_screen_resources_current_reply(
          x, xcb_randr_get_screen_resources_current(x, connection.root()), nullptr));
  if (resources == nullptr) {
    return 0;
  }
  const xcb_randr_crtc_t* crtcs = xcb_randr_get_screen_resources_current_crtcs(resources.get());
  const int crtc_count = xcb_randr_get_screen_resources_current_crtcs_length(resources.get());
  double fastest = 0;
  for (int i = 0; i < crtc_count; i++) {
    const Reply<xcb_randr_get_crtc_info_reply_t> crtc(xcb_randr_get_crtc_info_reply(
        x, xcb_randr_get_crtc_info(x, crtcs[i], XCB_CURRENT_TIME), nullptr));
    auto mode = xcb_randr_get_screen_resources_current_modes_iterator(resources.get());
    for (; crtc != nullptr && mode.rem > 0; xcb_randr_mode_info_next(&mode)) {
      if (mode.data->id != crtc->mode || mode.data->dot_clock == 0) {
        continue;
      }
      double lines = mode.data->vtotal;
      lines *= (mode.data->mode_flags & XCB_RANDR_MODE_FLAG_DOUBLE_SCAN) != 0 ? 2 : 1;
      lines /= (mode.data->mode_flags & XCB_RANDR_MODE_FLAG_INTERLACE) != 0 ? 2 : 1;
      const double ms = mode.data->htotal * lines * kMsPerSecond / mode.data->dot_clock;
      if (IsRefreshPeriod(ms) && (fastest == 0 || ms < fastest)) {
        fastest = ms;
      }
    }
  }
  return fastest;
}

}  // namespace

int WindowScale() {
  return gdk_window_get_scale_factor(gdk_screen_get_root_window(gdk_screen_get_default()));
}

MonitorsNow ReadMonitors(const XConnection& connection) {
  MonitorsNow now;
  const Reply<xcb_randr_get_monitors_reply_t> reply(xcb_randr_get_monitors_reply(
      connection.get(), xcb_randr_get_monitors(connection.get(), connection.root(), 1), nullptr));
  if (reply == nullptr) {
    return now;
  }
  const double scale = std::max(ScaleOfTexts(connection), double(WindowScale()));
  for (auto monitor = xcb_randr_get_monitors_monitors_iterator(reply.get()); monitor.rem > 0;
       xcb_randr_monitor_info_next(&monitor)) {
    const auto& info = *monitor.data;
    const Rect bounds{static_cast<double>(info.x), static_cast<double>(info.y),
                      static_cast<double>(info.x + info.width),
                      static_cast<double>(info.y + info.height)};
    now.monitors.push_back({bounds, bounds, scale, info.primary != 0});
  }
  const bool has_primary = std::ranges::any_of(now.monitors, &Monitor::is_primary);
  if (!now.monitors.empty() && !has_primary) {
    now.monitors.front().is_primary = true;
  }
  now.refresh_ms = FastestRefreshMs(connection);
  return now;
}

std::vector<Monitor> WithoutStruts(std::vector<Monitor> monitors, std::span<const Strut> struts) {
  const Rect screen = Screen(monitors).bounds();
  for (Monitor& monitor : monitors) {
    monitor.work = WorkAreaOf(monitor.bounds, screen, struts);
  }
  return monitors;
}

}  // namespace sprites
