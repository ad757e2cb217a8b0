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
#include <string>
#include <vector>

#include "core/picture/sheet.h"
#include "core/words/link_words.h"
#include "core/words/questions.h"
#include "x11/windows/signal.h"

namespace sprites {

struct QuestionField {
  std::string text;
  std::string label;
  std::string cue;       // shown while it is empty
  size_t bytes_max = 0;  // bytes
};

// What a dialog shows.
struct DialogQuestion : Question {
  std::vector<QuestionField> fields;
  // What the text of the first field means, shown below it; empty for nothing.
  std::function<FieldNote(const std::string& text)> note;
  // Whether a text of the clipboard may stand in the first field while that is empty; empty for no.
  std::function<bool(const std::string& copied)> offers;
  bool is_ticked = false;
  std::vector<SheetPointer> characters;  // stand above the heading
};

struct DialogAnswer {
  bool is_yes = false;
  std::vector<std::string> fields;
  bool is_ticked = false;
};

class Dialog {
 public:
  // Returns a sentence that is shown, and the dialog stays open; or "" if the answer is fine.
  using Answer = std::function<std::string(const DialogAnswer&)>;

  Dialog(const DialogQuestion& question, Answer answer);

  bool is_answered() const { return is_answered_; }

 private:
  void AddParade(const DialogQuestion& question, GtkContainer* content);
  void AddTexts(const DialogQuestion& question, GtkContainer* content);
  void AddFields(const DialogQuestion& question, GtkContainer* content);
  void ExplainFirstField(const DialogQuestion& question);
  void ShowNote(const FieldNote& note);
  void AddBox(const DialogQuestion& question, GtkContainer* content);
  void AddButtons(const DialogQuestion& question);
  void Reply(bool is_yes);

  std::unique_ptr<GtkWidget, DestroyWidget> window_;
  Answer answer_;
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
