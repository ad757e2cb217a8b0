// A window that asks the person something: a heading, a text, perhaps a line to type, a box to
// tick, and one or two buttons.
//
// It is GTK's dialog. Invariant: a dialog is answered once, by a button, a key, or by being closed,
// which counts as No.
#ifndef CLIENT_WIN_X11_WINDOWS_DIALOG_H_
#define CLIENT_WIN_X11_WINDOWS_DIALOG_H_

#include <gtk/gtk.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/picture/sheet.h"
#include "x11/windows/signal.h"

namespace sprites {

// What a dialog shows. Labels may have `&` before their access keys.
struct Question {
  std::string title = "Sprites";
  std::string heading;
  std::string text;
  std::string yes;                   // the label of the first button
  std::string no;                    // of the second; empty for none
  std::optional<std::string> field;  // the text in the line; nothing without a line
  std::string field_label;
  std::string field_cue;       // shown in an empty line
  size_t field_bytes_max = 0;  // bytes
  std::string box_label;       // of the box; empty for none
  bool is_ticked = false;
  std::vector<SheetPointer> characters;  // stand above the heading
};

struct DialogAnswer {
  bool is_yes = false;
  std::string field;
  bool is_ticked = false;
};

class Dialog {
 public:
  // Returns a sentence that is shown, and the dialog stays open; or "" if the answer is fine.
  using Answer = std::function<std::string(const DialogAnswer&)>;

  Dialog(const Question& question, Answer answer);

  bool is_answered() const { return is_answered_; }

 private:
  void AddParade(const Question& question, GtkContainer* content);
  void AddTexts(const Question& question, GtkContainer* content);
  void AddField(const Question& question, GtkContainer* content);
  void AddBox(const Question& question, GtkContainer* content);
  void AddButtons(const Question& question);
  void Reply(bool is_yes);

  std::unique_ptr<GtkWidget, DestroyWidget> window_;
  Answer answer_;
  size_t field_bytes_max_;
  GtkWidget* field_ = nullptr;  // null without a line
  GtkWidget* error_ = nullptr;  // likewise
  GtkWidget* box_ = nullptr;    // null without a box
  bool is_answered_ = false;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_DIALOG_H_
