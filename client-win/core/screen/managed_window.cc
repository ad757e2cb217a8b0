#include "core/screen/managed_window.h"

namespace sprites {

std::optional<WindowArea> AreaOf(const ManagedWindow& window, uint32_t current_desktop,
                                 bool is_active) {
  const bool is_elsewhere = window.desktop != kAllDesktops && window.desktop != current_desktop;
  const bool is_seen = !window.is_hidden && !is_elsewhere &&
                       (window.is_viewable || window.is_shaded) &&
                       window.type == ManagedType::kNormal;
  if (!is_seen) {
    return std::nullopt;
  }
  Rect rect{window.client.left + window.shadow.left - window.frame.left,
            window.client.top + window.shadow.top - window.frame.top,
            window.client.right - window.shadow.right + window.frame.right,
            window.client.bottom - window.shadow.bottom + window.frame.bottom};
  if (window.is_shaded) {
    rect.bottom = rect.top + window.frame.top + window.frame.bottom;
  }
  if (rect.Width() <= 0 || rect.Height() <= 0) {
    return std::nullopt;
  }
  // A program that draws its own title bar has no frame either, and covers the monitor when it is
  // maximised and there is no panel. A game in a window without a frame is not maximised.
  const bool has_frame = window.frame != Sides{} || window.shadow != Sides{};
  const bool has_caption = !window.is_full_screen && (has_frame || window.is_maximised);
  return WindowArea{window.id, rect, has_caption, is_active, !window.is_full_screen};
}

}  // namespace sprites
