// A speech bubble beside a sprite: a layered window that takes neither focus nor task bar.
//
// A click closes it. Screen readers get its text as the window's name.
#ifndef CLIENT_WIN_WIN32_WINDOWS_BUBBLE_H_
#define CLIENT_WIN_WIN32_WINDOWS_BUBBLE_H_

#include <windows.h>

#include <functional>
#include <optional>
#include <string>

#include "core/scene/scene.h"
#include "win32/system/owned.h"

namespace sprites {

class Bubble {
 public:
  // `clicked` is called when the user clicks the bubble.
  explicit Bubble(std::function<void()> clicked);
  ~Bubble();
  Bubble(const Bubble&) = delete;
  Bubble& operator=(const Bubble&) = delete;

  // Cost: a system call, and a picture if the text, the scale or the place of the tail is new.
  void Show(const DrawnBubble& bubble);
  void Hide();

 private:
  static LRESULT CALLBACK OnMessage(HWND window, UINT message, WPARAM wparam, LPARAM lparam);

  std::function<void()> clicked_;
  HWND window_ = nullptr;
  std::string text_;  // of the picture; empty while the bubble is hidden
  SIZE box_{};        // px: the picture without shadow and tail
  double scale_ = 0;
  std::optional<Edge> tail_;  // of the picture
  int tail_at_ = -1;          // px along the box to the tip, of the picture
  POINT place_{};
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_WINDOWS_BUBBLE_H_
