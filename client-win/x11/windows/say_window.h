// The window in which the person types what to say.
//
// It stays open while the person talks: Enter says the line, which is cleared once the relay has
// accepted it; Escape, or Enter on an empty line, closes the window. Invariant: at most one line is
// on its way, and the field keeps a line that was refused.
#ifndef CLIENT_WIN_X11_WINDOWS_SAY_WINDOW_H_
#define CLIENT_WIN_X11_WINDOWS_SAY_WINDOW_H_

#include <gtk/gtk.h>

#include <memory>
#include <string>

#include "core/desktop/desktop.h"
#include "x11/windows/signal.h"

namespace sprites {

class SayWindow {
 public:
  explicit SayWindow(Desktop* desktop);

  bool is_closed() const { return is_closed_; }
  // Shows what has become of the line since.
  void Turn();

 private:
  void Build();
  void HandleEnter();
  void ShowCount();
  void ShowSpeech();
  std::string Words(Text text) const;
  void Send();

  Desktop* desktop_;
  std::unique_ptr<GtkWidget, DestroyWidget> window_;
  GtkWidget* field_;
  GtkWidget* note_;   // what became of the last line
  GtkWidget* count_;  // how long the line is, once it is long
  Speech shown_;      // what the window shows
  bool is_closed_ = false;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_SAY_WINDOW_H_
