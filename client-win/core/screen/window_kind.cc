#include "core/screen/window_kind.h"

#include <algorithm>
#include <array>

namespace sprites {

namespace {

constexpr int kAlphaVisibleMin = 16;  // of 255: below that a window can't be seen

// Windows of the system that come and go: menus, tooltips, shadows, what is dragged, input methods,
// combo boxes' lists, and the ghosts of the task switcher.
constexpr std::array<std::wstring_view, 12> kPassing = {L"#32768",
                                                        L"#32771",
                                                        L"tooltips_class32",
                                                        L"SysShadow",
                                                        L"SysDragImage",
                                                        L"ComboLBox",
                                                        L"IME",
                                                        L"MSCTFIME UI",
                                                        L"Default IME",
                                                        L"Ghost",
                                                        L"XamlExplorerHostIslandWindow",
                                                        L"DropDown"};

}  // namespace

WindowKind KindOf(const WindowTraits& traits) {
  const bool has_border = traits.has_caption || traits.has_frame;
  const bool is_invisible =
      traits.is_layered && traits.alpha >= 0 && traits.alpha < kAlphaVisibleMin;
  const bool is_shaped = traits.is_layered && traits.alpha < 0 && !has_border;
  const bool is_overlay = traits.is_never_active && !traits.is_on_task_bar;
  const bool is_popup = traits.is_tool && !has_border;
  if (traits.lets_clicks_through || is_invisible || is_shaped || is_overlay || is_popup ||
      std::ranges::find(kPassing, traits.class_name) != kPassing.end()) {
    return WindowKind::kIgnored;
  }
  return has_border || traits.is_on_task_bar ? WindowKind::kGround : WindowKind::kCover;
}

bool MayBeFilm(const WindowTraits& traits) { return !traits.has_caption && !traits.is_maximised; }

}  // namespace sprites
