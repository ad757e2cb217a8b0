// A menu on the screen, with submenus, for the pointer and for the keyboard.
//
// While it is open, it grabs pointer and keyboard, as every menu of X does, so a click anywhere
// else closes it. Invariant: at most one menu is open; it ends by a choice, by Escape, by a click
// elsewhere, or when the grab is refused for kGrabTriesMax turns.
#ifndef CLIENT_WIN_X11_WINDOWS_MENU_WINDOW_H_
#define CLIENT_WIN_X11_WINDOWS_MENU_WINDOW_H_

#include <xcb/xcb.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/desktop/menus.h"
#include "x11/system/keyboard.h"
#include "x11/system/x_connection.h"
#include "x11/windows/look.h"
#include "x11/windows/panel.h"

namespace sprites {

// Tries to grab the pointer, one a turn: the panel that opens the menu may hold it for a moment.
constexpr int kGrabTriesMax = 50;
// A menu is at most as high as this many rows, so it fits on a screen of 768 px. The wheel and the
// keys scroll to the others.
constexpr int kRowsMax = 28;

class MenuWindow {
 public:
  using Choose = std::function<void(const MenuChoice&)>;

  MenuWindow(const XConnection* connection, const Keyboard* keyboard, const Look* look);

  // Opens a menu with its corner at a point; another one is closed first. `choose` is called at
  // most once.
  void Open(Menu menu, Point point, Choose choose);
  void Close();
  bool is_open() const { return !levels_.empty(); }
  // Whether a grab is still to be tried: Turn must be called soon.
  bool IsPending() const { return is_open() && !has_grab_; }
  void Turn();
  // Whether the event was for the menu.
  bool HandleEvent(const xcb_generic_event_t& event);

 private:
  // A menu or one of its open submenus.
  struct Level {
    Menu menu;
    std::unique_ptr<Panel> panel;
    Box inside;             // px of the panel: without the shadow
    std::vector<int> tops;  // px of the panel: of each item, and the end
    int chosen = -1;        // the item under the pointer, or reached by keys
    size_t first = 0;       // the item at the top, of a menu that is too long
  };

  void OpenLevel(Menu menu, Box beside, bool is_submenu);
  void CloseFrom(size_t level);
  void Paint(Level* level) const;
  void MoveTo(int x, int y);
  void Scroll(int x, int y, int by);
  void Release(int x, int y, bool was_pressed);
  void HandleKey(const xcb_key_press_event_t& event);
  void Step(int by);
  void Enter(size_t level, int item, bool by_keys);
  void Take(size_t level, int item);
  void SelectItem(size_t level, int item);
  int ItemAt(const Level& level, int x, int y) const;

  const XConnection* connection_;
  const Keyboard* keyboard_;
  const Look* look_;
  Choose choose_;
  std::vector<Level> levels_;
  bool has_grab_ = false;
  bool was_pressed_ = false;  // a button, since the menu is open
  int grab_tries_ = 0;
};

// A text of a menu without the mark of its access key, which is the letter at `mark`; -1 for none.
struct MenuText {
  std::string text;
  int mark = -1;
  char key = 0;  // in lower case; 0 for none
};
MenuText ReadMenuText(std::string_view text);

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_MENU_WINDOW_H_
