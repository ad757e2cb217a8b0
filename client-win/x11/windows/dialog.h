// A window that asks the person something: a heading, a text, perhaps lines to type, a box to tick,
// and one or two buttons.
//
// It is GTK's dialog. Invariant: a dialog is answered once, by a button, a key, or by being closed,
// which counts as No.
#ifndef CLIENT_WIN_X11_WINDOWS_DIALOG_H_
#define CLIENT_WIN_X11_WINDOWS_DIALOG_H_

#include <gtk/gtk.h>

#include <functional>
#include <memory>
#include <vector>

#include "core/words/questions.h"
#include "x11/windows/signal.h"

namespace sprites {

class Dialog {
 public:
  // `no` is called at any other answer than the first button; it may be empty.
  Dialog(const Question& question, Yes yes, std::function<void()> no);

  bool is_answered() const { return is_answered_; }

 private:
  void AddParade(const Question& question, GtkContainer* content);
  void AddTexts(const Question& question, GtkContainer* content);
  void AddFields(const Question& question, GtkContainer* content);
  void ExplainFirstField(const Question& question);
  void ShowNote(const FieldNote& note);
  void AddBox(const Question& question, GtkContainer* content);
  void AddButtons(const Question& question);
  void Reply(bool is_yes);

  std::unique_ptr<GtkWidget, DestroyWidget> window_;
  Yes yes_;
  std::function<void()> no_;
  struct Field {
    GtkWidget* entry;
    size_t bytes_max;
  };
  std::vector<Field> fields_;
  GtkWidget* note_ = nullptr;  // below the first field; null without one
  GtkWidget* box_ = nullptr;   // null without a box
  bool is_answered_ = false;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_DIALOG_H_
