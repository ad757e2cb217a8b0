// The list of what was said: who said what and when, the newest at its end. Each speaker can be
// muted there.
//
// It has no message loop, and follows what is said while it is open. Threads: that of the shell.
#ifndef CLIENT_WIN_WIN32_HEARD_DIALOG_H_
#define CLIENT_WIN_WIN32_HEARD_DIALOG_H_

#include <windows.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/desktop/heard_list.h"
#include "win32/dialog_look.h"

namespace sprites {

class HeardDialog {
 public:
  // `choose` gets the mute that the user wants.
  HeardDialog(const Desktop* desktop, std::function<void(const MenuChoice&)> choose)
      : desktop_(desktop), choose_(std::move(choose)) {}
  ~HeardDialog() { Close(); }
  HeardDialog(const HeardDialog&) = delete;
  HeardDialog& operator=(const HeardDialog&) = delete;

  // Opens it, or brings it to the front.
  void Open(HWND owner);
  void Close();
  // Shows what was said since.
  void Update();
  // Handles the keys that move between its controls. Returns whether the message was for it.
  bool HandleMessage(MSG* message) const {
    return window_ != nullptr && IsDialogMessageW(window_, message) != 0;
  }

 private:
  static INT_PTR CALLBACK OnMessage(HWND window, UINT message, WPARAM wparam, LPARAM lparam);
  INT_PTR HandleCommand(WPARAM wparam);
  void SetUp();
  void Fill();
  void ShowChosen();
  void AskToMute(LPARAM point);
  const HeardRow* Chosen() const;

  const Desktop* desktop_;
  std::function<void(const MenuChoice&)> choose_;
  HWND window_ = nullptr;  // while it is open
  DialogLook look_;
  std::vector<HeardRow> rows_;  // those in the list
  uint64_t first_line_ = 0;     // the HeardLine::id of the first row
  uint64_t version_ = 0;        // of the history that the list shows
  std::vector<std::string> muted_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_HEARD_DIALOG_H_
