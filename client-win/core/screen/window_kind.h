// What a window of another program is for the sprites: ground, something in front, or nothing.
#ifndef CLIENT_WIN_CORE_SCREEN_WINDOW_KIND_H_
#define CLIENT_WIN_CORE_SCREEN_WINDOW_KIND_H_

#include <cstdint>
#include <string_view>

namespace sprites {

enum class WindowKind : uint8_t {
  kIgnored,  // invisible, or there for a moment only: a menu, a tooltip, an overlay
  kCover,    // hides what is behind it, but carries no sprites: a full-screen program
  kGround,   // sprites stand on its top edge
};

// What the system reports of a window that is not minimised and has a size.
struct WindowTraits {
  std::wstring_view class_name;
  bool has_caption = false;
  bool is_maximised = false;
  bool has_frame = false;            // its size can be changed by its border
  bool is_on_task_bar = false;       // it asked for a button there
  bool is_never_active = false;      // it takes no keyboard focus
  bool lets_clicks_through = false;  // all of it
  bool is_tool = false;              // asked not to be on the task bar
  bool is_layered = false;           // with an alpha value, or one for each pixel
  // Of a layered window, if it has one value for all pixels: 0 is invisible. Else -1: the window
  // is drawn pixel by pixel, and only its program knows which of them can be seen.
  int alpha = 255;
};

WindowKind KindOf(const WindowTraits& traits);
// Whether the window may be a film or a game when it covers a whole monitor: a maximised window
// without a caption does too, where the task bar hides itself.
bool MayBeFilm(const WindowTraits& traits);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCREEN_WINDOW_KIND_H_
