// A window that shows a picture of the program's own: a menu, a bubble, a dialog.
//
// The picture is the background of the window, so the server draws it again by itself.
#ifndef CLIENT_WIN_X11_WINDOWS_PANEL_H_
#define CLIENT_WIN_X11_WINDOWS_PANEL_H_

#include <xcb/xcb.h>

#include <string>

#include "x11/system/x_connection.h"
#include "x11/windows/canvas.h"

namespace sprites {

enum class PanelKind : uint8_t {
  kMenu,    // above all others, without a frame; takes the pointer
  kBubble,  // likewise; takes clicks
  kSaying,  // likewise; clicks go through it
  kDialog,  // managed by the window manager: with a frame, and with the keyboard's focus
};

class Panel {
 public:
  Panel(const XConnection* connection, PanelKind kind, const std::string& title);
  ~Panel();
  Panel(const Panel&) = delete;
  Panel& operator=(const Panel&) = delete;

  xcb_window_t window() const { return window_; }
  bool is_shown() const { return is_shown_; }
  int x() const { return x_; }
  int y() const { return y_; }
  int width() const { return width_; }
  int height() const { return height_; }
  // Shows the picture with its left top corner at (x, y), or moves there, on top of all others.
  void Show(const Canvas& canvas, int x, int y);
  void Move(int x, int y);
  // Puts it above all others again.
  void Raise() const;
  void Hide();

 private:
  void SetPicture(const Canvas& canvas);
  void SetHints(int x, int y) const;

  const XConnection* connection_;
  PanelKind kind_;
  PixelFormat format_;
  xcb_window_t window_;
  xcb_gcontext_t context_;
  bool is_shown_ = false;
  int x_ = 0;
  int y_ = 0;
  int width_ = 1;
  int height_ = 1;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_PANEL_H_
