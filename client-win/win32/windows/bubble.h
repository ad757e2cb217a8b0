// A speech bubble above a sprite: a layered window that takes neither focus nor task bar.
//
// A click closes it. Screen readers get its text as the window's name.
#ifndef CLIENT_WIN_WIN32_WINDOWS_BUBBLE_H_
#define CLIENT_WIN_WIN32_WINDOWS_BUBBLE_H_

#include <windows.h>

#include <functional>
#include <string>

#include "win32/system/owned.h"

namespace sprites {

class Bubble {
 public:
  // `clicked` is called when the user clicks the bubble.
  explicit Bubble(std::function<void()> clicked);
  ~Bubble();
  Bubble(const Bubble&) = delete;
  Bubble& operator=(const Bubble&) = delete;

  // Shows `text` with the tip at (x, y), a point above which there may be no room: then the bubble
  // is moved into the work area of the monitor. Cost: a system call, and a picture if the
  // text or the place of the tail is new.
  void Show(const std::wstring& text, int x, int y);
  void Hide();

 private:
  static LRESULT CALLBACK OnMessage(HWND window, UINT message, WPARAM wparam, LPARAM lparam);

  std::function<void()> clicked_;
  HWND window_ = nullptr;
  std::wstring text_;  // of the picture; empty while the bubble is hidden
  SIZE box_{};         // px: the picture without shadow and tail
  int dpi_ = 0;
  int tail_x_ = -1;  // px from the left of the box to the tip, of the picture
  POINT place_{};
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_WINDOWS_BUBBLE_H_
