#include "x11/windows/dialog.h"

#include <xkbcommon/xkbcommon-keysyms.h>

#include <algorithm>
#include <utility>

#include "x11/system/event.h"
#include "x11/windows/button.h"
#include "x11/windows/menu_window.h"

namespace sprites {

namespace {

// Sizes in dip.
constexpr double kWidth = 440;
constexpr double kMargin = 24;
constexpr double kGap = 12;
constexpr ButtonSize kButtonSize{34, 20, 96};
constexpr double kBoxSize = 18;
constexpr int kZoom = 2;  // px of the screen for a pixel of a character, at 100 %

}  // namespace

Dialog::Dialog(const XConnection* connection, const Keyboard* keyboard, Clipboard* clipboard,
               const Look* look, Question question, Answer answer)
    : connection_(connection),
      keyboard_(keyboard),
      clipboard_(clipboard),
      look_(look),
      question_(std::move(question)),
      answer_(std::move(answer)),
      panel_(connection, PanelKind::kDialog, question_.title),
      field_(question_.field.value_or(""), question_.field_bytes_max),
      is_ticked_(question_.is_ticked),
      focus_(question_.field        ? Part::kField
             : question_.no.empty() ? Part::kYes
                                    : Part::kNo) {
  Paint();
}

bool Dialog::Has(Part part) const {
  switch (part) {
    case Part::kField:
      return question_.field.has_value();
    case Part::kBox:
      return !question_.box_label.empty();
    case Part::kYes:
      return true;
    case Part::kNo:
      return !question_.no.empty();
    case Part::kNone:
      break;
  }
  return false;
}

void Dialog::Paint() {
  Fonts* fonts = look_->fonts;
  const int width = look_->Px(kWidth);
  const int margin = look_->Px(kMargin);
  const int gap = look_->Px(kGap);
  const int inner = width - 2 * margin;
  const auto headings = fonts->Wrapped(look_->Heading(), question_.heading, inner);
  const auto lines = fonts->Wrapped(look_->Text(), question_.text, inner);
  const auto errors =
      error_.empty() ? std::vector<std::string>{} : fonts->Wrapped(look_->Small(), error_, inner);
  const FontMetrics heading = fonts->MetricsOf(look_->Heading());
  const FontMetrics text = fonts->MetricsOf(look_->Text());
  const FontMetrics small = fonts->MetricsOf(look_->Small());
  const int line_height = text.LineHeight() + look_->Px(3);
  const int zoom = std::max(1, look_->Px(kZoom));
  int parade = 0;
  for (const SheetPointer& sheet : question_.characters) {
    parade = std::max(parade, sheet->description.frame_height * zoom);
  }
  int height = margin + (parade > 0 ? parade + gap : 0);
  height += static_cast<int>(headings.size()) * heading.LineHeight() + look_->Px(8);
  height += static_cast<int>(lines.size()) * line_height;
  height += Has(Part::kField) ? gap + line_height + look_->Px(kFieldHeight) : 0;
  height += static_cast<int>(errors.size()) * small.LineHeight() + (errors.empty() ? 0 : gap / 2);
  height += Has(Part::kBox) ? gap + look_->Px(kBoxSize) : 0;
  height += 2 * gap + look_->Px(kButtonSize.height) + margin;

  Canvas canvas(width, height);
  canvas.Fill({0, 0, width, height}, kPaper);
  int y = margin;
  if (parade > 0) {
    int x = margin;
    for (const SheetPointer& sheet : question_.characters) {
      const int foot = sheet->description.frame_height * zoom;
      canvas.DrawCell(*sheet, CellOf(sheet->description, Mode::kIdle, 0), x, y + parade - foot,
                      zoom);
      x += sheet->description.frame_width * zoom + gap;
    }
    canvas.Fill({margin, y + parade, width - margin, y + parade + look_->Px(1)}, kLineColour);
    y += parade + gap;
  }
  for (const std::string& line : headings) {
    canvas.Write(fonts, look_->Heading(), margin, y + heading.ascent, line, kInk);
    y += heading.LineHeight();
  }
  y += look_->Px(8);
  for (const std::string& line : lines) {
    canvas.Write(fonts, look_->Text(), margin, y + text.ascent, line, kInk);
    y += line_height;
  }
  if (Has(Part::kField)) {
    y += gap;
    canvas.Write(fonts, look_->Small(), margin, y + text.ascent,
                 ReadMenuText(question_.field_label).text, kFaintInk);
    y += line_height;
    const Box box{margin, y, width - margin, y + look_->Px(kFieldHeight)};
    boxes_[static_cast<size_t>(Part::kField)] = box;
    field_.Draw(&canvas, *look_, box, focus_ == Part::kField, question_.field_cue);
    y = box.bottom;
  }
  if (!errors.empty()) {
    y += gap / 2;
    for (const std::string& line : errors) {
      canvas.Write(fonts, look_->Small(), margin, y + small.ascent, line, kWarning);
      y += small.LineHeight();
    }
  }
  if (Has(Part::kBox)) {
    y += gap;
    const int size = look_->Px(kBoxSize);
    const Box box{margin, y, margin + size, y + size};
    const std::string label = ReadMenuText(question_.box_label).text;
    const int label_x = box.right + look_->Px(8);
    boxes_[static_cast<size_t>(Part::kBox)] = {
        margin, y, label_x + fonts->WidthOf(look_->Text(), label), y + size};
    canvas.FillRound(box, look_->Px(3), kPaper, focus_ == Part::kBox ? kAccent : kFaintInk,
                     look_->Px(focus_ == Part::kBox ? 2 : 1));
    if (is_ticked_) {
      canvas.DrawTick(box, kAccent);
    }
    canvas.Write(fonts, look_->Text(), label_x,
                 (box.top + box.bottom + text.ascent - text.descent) / 2, label, kInk);
  }
  int right = width - margin;
  for (const Part part : {Part::kNo, Part::kYes}) {
    if (!Has(part)) {
      continue;
    }
    const bool is_main = part == Part::kYes;
    const Box box = DrawButton(&canvas, *look_,
                               {ReadMenuText(is_main ? question_.yes : question_.no).text, is_main,
                                hover_ == part, focus_ == part},
                               kButtonSize, right, height - margin - look_->Px(kButtonSize.height));
    boxes_[static_cast<size_t>(part)] = box;
    right = box.left - gap;
  }
  const Screen screen(look_->monitors);
  const Rect work = screen.monitors()[screen.PrimaryMonitor()].work;
  panel_.Show(canvas, static_cast<int>((work.left + work.right - width) / 2),
              static_cast<int>((work.top + work.bottom - height) / 2));
}

bool Dialog::HandleEvent(const xcb_generic_event_t& event) {
  if (WindowOfInput(event) != panel_.window()) {
    return false;
  }
  switch (TypeOfEvent(event)) {
    case XCB_CLIENT_MESSAGE:
      if (As<xcb_client_message_event_t>(event).data.data32[0] ==
          connection_->atom(Atom::WM_DELETE_WINDOW)) {
        Reply(false);
      }
      break;
    case XCB_MOTION_NOTIFY: {
      const auto& moved = As<xcb_motion_notify_event_t>(event);
      const Part part = PartAt(moved.event_x, moved.event_y);
      if (std::exchange(hover_, part) != part) {
        Paint();
      }
      break;
    }
    case XCB_BUTTON_RELEASE: {
      const auto& released = As<xcb_button_release_event_t>(event);
      Press(PartAt(released.event_x, released.event_y));
      break;
    }
    case XCB_KEY_PRESS:
      HandleKey(As<xcb_key_press_event_t>(event));
      break;
    default:
      break;
  }
  return true;
}

Dialog::Part Dialog::PartAt(int x, int y) const {
  for (const Part part : {Part::kField, Part::kBox, Part::kYes, Part::kNo}) {
    if (Has(part) && boxes_[static_cast<size_t>(part)].Contains(x, y)) {
      return part;
    }
  }
  return Part::kNone;
}

void Dialog::Press(Part part) {
  switch (part) {
    case Part::kField:
      focus_ = part;
      Paint();
      break;
    case Part::kBox:
      is_ticked_ = !is_ticked_;
      focus_ = part;
      Paint();
      break;
    case Part::kYes:
    case Part::kNo:
      Reply(part == Part::kYes);
      break;
    case Part::kNone:
      break;
  }
}

void Dialog::HandleKey(const xcb_key_press_event_t& event) {
  const Keyboard::Stroke stroke = keyboard_->Read(event);
  const bool is_typing = focus_ == Part::kField;
  switch (stroke.symbol) {
    case XKB_KEY_Escape:
      Reply(false);
      return;
    case XKB_KEY_Return:
    case XKB_KEY_KP_Enter:
      Reply(focus_ != Part::kNo);
      return;
    case XKB_KEY_Tab:
    case XKB_KEY_ISO_Left_Tab:
      FocusNext();
      return;
    case XKB_KEY_space:
      if (!is_typing) {
        Press(focus_);
        return;
      }
      break;
    default:
      break;
  }
  if (is_typing && field_.HandleKey(stroke, clipboard_) == Edit::kText) {
    error_.clear();
    Paint();
  }
}

void Dialog::Paste(const std::string& text) {
  if (Has(Part::kField)) {
    field_.Add(text);
    error_.clear();
    Paint();
  }
}

void Dialog::FocusNext() {
  constexpr int kParts = 4;
  for (int i = 1; i <= kParts; i++) {
    const auto part = static_cast<Part>((static_cast<int>(focus_) + i) % kParts);
    if (Has(part)) {
      focus_ = part;
      break;
    }
  }
  Paint();
}

void Dialog::Reply(bool is_yes) {
  if (is_answered_) {
    return;
  }
  error_ = answer_({is_yes, field_.text(), is_ticked_});
  if (is_yes && !error_.empty()) {
    focus_ = Has(Part::kField) ? Part::kField : focus_;
    Paint();
    return;
  }
  is_answered_ = true;
  panel_.Hide();
}

}  // namespace sprites
