// A window that asks the person something: a heading, a text, perhaps a line to type, a box to
// tick, and one or two buttons.
//
// The window manager manages it, so it has a frame, and the keyboard. Invariant: a dialog is
// answered once, by a button, a key, or by being closed, which counts as No.
#ifndef CLIENT_WIN_X11_WINDOWS_DIALOG_H_
#define CLIENT_WIN_X11_WINDOWS_DIALOG_H_

#include <xcb/xcb.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/picture/sheet.h"
#include "x11/system/clipboard.h"
#include "x11/system/keyboard.h"
#include "x11/system/x_connection.h"
#include "x11/windows/look.h"
#include "x11/windows/panel.h"
#include "x11/windows/text_field.h"

namespace sprites {

// What a dialog shows. Labels may have `&`, which is not shown.
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

  Dialog(const XConnection* connection, const Keyboard* keyboard, Clipboard* clipboard,
         const Look* look, Question question, Answer answer);

  bool is_answered() const { return is_answered_; }
  bool HandleEvent(const xcb_generic_event_t& event);
  // Text from the clipboard, that was asked for.
  void Paste(const std::string& text);
  // Answers No.
  void Cancel() { Reply(false); }

 private:
  enum class Part : uint8_t { kField, kBox, kYes, kNo, kNone };

  // What the picture has room for: px, and the texts in lines of its width.
  struct Page {
    int width = 0;
    int height = 0;
    int margin = 0;
    int gap = 0;
    int zoom = 1;    // of the characters
    int parade = 0;  // the height of the tallest character; 0 without characters
    int line_height = 0;
    FontMetrics heading;
    FontMetrics text;
    FontMetrics small;
    std::vector<std::string> headings;
    std::vector<std::string> lines;
    std::vector<std::string> errors;
  };

  void Paint();
  Page Measure() const;
  int DrawParade(const Page& page, int y, Canvas* canvas) const;
  int DrawTexts(const Page& page, int y, Canvas* canvas) const;
  int DrawField(const Page& page, int y, Canvas* canvas);
  int DrawError(const Page& page, int y, Canvas* canvas) const;
  void DrawTickBox(const Page& page, int y, Canvas* canvas);
  void DrawButtons(const Page& page, Canvas* canvas);
  void Reply(bool is_yes);
  void HandleKey(const xcb_key_press_event_t& event);
  void FocusNext();
  bool Has(Part part) const;
  void Press(Part part);
  Part PartAt(int x, int y) const;

  const XConnection* connection_;
  const Keyboard* keyboard_;
  Clipboard* clipboard_;
  const Look* look_;
  Question question_;
  Answer answer_;
  Panel panel_;
  TextField field_;
  std::string error_;
  bool is_ticked_;
  bool is_answered_ = false;
  Part focus_;
  Part hover_ = Part::kNone;
  Box boxes_[4]{};  // by Part: where they are, px of the panel
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_DIALOG_H_
