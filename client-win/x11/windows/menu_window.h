// A menu on the screen, with submenus, for the pointer, the keyboard and screen readers.
//
// While it is open, GTK grabs pointer and keyboard, as every menu of X does, so a click anywhere
// else closes it. Invariant: at most one menu is open; it ends by a choice, by Escape, by a click
// elsewhere, or when the grab is refused for kGrabTriesMax turns.
#ifndef CLIENT_WIN_X11_WINDOWS_MENU_WINDOW_H_
#define CLIENT_WIN_X11_WINDOWS_MENU_WINDOW_H_

#include <gtk/gtk.h>

#include <functional>
#include <memory>

#include "core/words/menus.h"
#include "x11/windows/signal.h"
#include "x11/windows/sprite_display.h"

namespace sprites {

// Tries to open it, one a turn: the panel that opens the menu may hold the pointer for a moment.
constexpr int kGrabTriesMax = 50;

class MenuWindow {
 public:
  using Choose = std::function<void(const MenuChoice&)>;
  using FindCorner = std::function<MenuCorner()>;

  // Opens a menu with its corner there; another one is closed first. `choose` is called at most
  // once.
  void Open(const Menu& menu, FindCorner corner, Choose choose);
  void Close();
  bool is_open() const { return IsPending() || (menu_ && gtk_widget_get_visible(menu_.get())); }
  // Whether it is still to be tried: Turn must be called soon.
  bool IsPending() const { return tries_left_ > 0; }
  void Turn();

 private:
  GtkWidget* Make(const Menu& menu);

  std::unique_ptr<GtkWidget, DestroyWidget> menu_;
  Choose choose_;
  FindCorner corner_;
  int tries_left_ = 0;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_MENU_WINDOW_H_
