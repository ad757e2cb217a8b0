// The window that shows who is here: a picture of where everybody sits, the same as a list, and the
// sprite to throw to one of them.
//
// It follows who comes and leaves. A screen reader reads the list; the picture adds nothing to it.
#ifndef CLIENT_WIN_X11_WINDOWS_COMPANY_WINDOW_H_
#define CLIENT_WIN_X11_WINDOWS_COMPANY_WINDOW_H_

#include <gtk/gtk.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/words/company_view.h"
#include "x11/windows/signal.h"

namespace sprites {

class CompanyWindow {
 public:
  // `choose` gets the throw that the person wants.
  CompanyWindow(const Desktop* desktop, std::function<void(const MenuChoice&)> choose);

  bool is_closed() const { return is_closed_; }
  // Shows who is here now.
  void Turn();

 private:
  void Build();
  GtkWidget* NewList();
  GtkWidget* NewPicture();
  GtkWidget* NewSpriteLine();
  void Fill();
  void FillRows();
  void FillSprites();
  void ShowThrow();
  void Choose(int row);
  void Throw();
  void Swap();
  std::vector<Rect> Faces() const;
  void Draw(cairo_t* canvas) const;
  // The row whose face is at a point of the picture, or -1.
  int FaceAt(double x, double y) const;
  std::string Words(Text text) const;

  const Desktop* desktop_;
  std::function<void(const MenuChoice&)> choose_;
  CompanyView view_;
  std::unique_ptr<GtkWidget, DestroyWidget> window_;
  GtkWidget* summary_;
  GtkWidget* picture_;
  GtkWidget* list_;
  GtkWidget* sprites_;
  GtkWidget* throw_;
  GtkWidget* swap_;
  std::vector<ThrowableSprite> shown_sprites_;  // those in `sprites_`
  bool is_filling_ = false;  // the rows and the sprites change by the program, not by the person
  bool is_closed_ = false;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_COMPANY_WINDOW_H_
