// The list of what was said: who said what and when, the newest at its end. Each speaker can be
// muted there.
//
// It follows what is said while it is open. Threads: that of the shell.
#ifndef CLIENT_WIN_WIN32_DIALOGS_HEARD_DIALOG_H_
#define CLIENT_WIN_WIN32_DIALOGS_HEARD_DIALOG_H_

#include <windows.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/words/heard_list.h"
#include "win32/dialogs/modeless_dialog.h"
#include "win32/system/resource.h"

namespace sprites {

class HeardDialog : public ModelessDialog {
 public:
  // `choose` gets the mute that the user wants.
  HeardDialog(const Desktop* desktop, Foreground* foreground,
              std::function<void(const MenuChoice&)> choose)
      : ModelessDialog(IDD_HEARD, IDC_HEARD, foreground),
        desktop_(desktop),
        choose_(std::move(choose)) {}

  // Shows what was said since.
  void Update();

 private:
  void SetUp() override;
  bool Handle(UINT message, WPARAM wparam, LPARAM lparam) override;
  void HandleCommand(WPARAM wparam);
  void Fill();
  void ShowChosen();
  void AskToMute(LPARAM point);
  const HeardRow* Chosen() const;

  const Desktop* desktop_;
  std::function<void(const MenuChoice&)> choose_;
  std::vector<HeardRow> rows_;  // those in the list
  uint64_t first_line_ = 0;     // the HeardLine::id of the first row
  uint64_t version_ = 0;        // of the history that the list shows
  std::vector<Neighbour> muted_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_DIALOGS_HEARD_DIALOG_H_
