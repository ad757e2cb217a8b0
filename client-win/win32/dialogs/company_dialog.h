// The dialog that shows who is here: a picture of where everybody sits, the same as a list, and the
// sprite to throw to one of them.
//
// It follows who comes and leaves while it is open. A screen reader reads the list; the picture
// adds nothing to it. Threads: that of the shell.
#ifndef CLIENT_WIN_WIN32_DIALOGS_COMPANY_DIALOG_H_
#define CLIENT_WIN_WIN32_DIALOGS_COMPANY_DIALOG_H_

#include <windows.h>

#include <functional>
#include <utility>
#include <vector>

#include "core/words/company_view.h"
#include "win32/dialogs/modeless_dialog.h"
#include "win32/system/resource.h"

namespace sprites {

class CompanyDialog : public ModelessDialog {
 public:
  // `choose` gets the throw that the user wants.
  CompanyDialog(const Desktop* desktop, Foreground* foreground,
                std::function<void(const MenuChoice&)> choose)
      : ModelessDialog(IDD_COMPANY, IDC_COMPANY, foreground),
        desktop_(desktop),
        choose_(std::move(choose)) {}

  // Shows who is here now.
  void Update();

 private:
  void SetUp() override;
  bool Handle(UINT message, WPARAM wparam, LPARAM lparam) override;
  void HandleCommand(int id, int notice);
  void Fill();
  void FillSprites();
  void ShowChoices();
  void Enable(int id, bool is_enabled);
  void Throw();
  void Swap();
  std::vector<Rect> Faces() const;
  void Paint(HDC canvas) const;
  // Chooses the row whose face is below the pointer. Returns false if there is none.
  bool ChooseFace();

  const Desktop* desktop_;
  std::function<void(const MenuChoice&)> choose_;
  CompanyView view_;
  std::vector<ThrowableSprite> shown_sprites_;  // those in the combo box
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_DIALOGS_COMPANY_DIALOG_H_
