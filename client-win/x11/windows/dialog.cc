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
constexpr double kHeadingGap = 8;  // below the heading
constexpr int kZoom = 2;           // px of the screen for a pixel of a character, at 100 %

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

// The parts from top to bottom, as Measure has reserved room for them; each returns where it ends.
void Dialog::Paint() {
  const Page page = Measure();
  Canvas canvas(page.width, page.height);
  canvas.Fill({0, 0, page.width, page.height}, kPaper);
  int y = DrawParade(page, page.margin, &canvas);
  y = DrawTexts(page, y, &canvas);
  y = DrawField(page, y, &canvas);
  y = DrawError(page, y, &canvas);
  DrawTickBox(page, y, &canvas);
  DrawButtons(page, &canvas);
  const Rect work = look_->PrimaryWork();
  panel_.Show(canvas, static_cast<int>((work.left + work.right - page.width) / 2),
              static_cast<int>((work.top + work.bottom - page.height) / 2));
}

Dialog::Page Dialog::Measure() const {
  Fonts* fonts = look_->fonts;
  Page page;
  page.width = look_->Px(kWidth);
  page.margin = look_->Px(kMargin);
  page.gap = look_->Px(kGap);
  page.zoom = std::max(1, look_->Px(kZoom));
  page.heading = fonts->MetricsOf(look_->Heading());
  page.text = fonts->MetricsOf(look_->Text());
  page.small = fonts->MetricsOf(look_->Small());
  page.line_height = page.text.LineHeight() + look_->Px(3);
  const int inner = page.width - 2 * page.margin;
  page.headings = fonts->Wrapped(look_->Heading(), question_.heading, inner);
  page.lines = fonts->Wrapped(look_->Text(), question_.text, inner);
  if (!error_.empty()) {
    page.errors = fonts->Wrapped(look_->Small(), error_, inner);
  }
  for (const SheetPointer& sheet : question_.characters) {
    page.parade = std::max(page.parade, sheet->description.frame_height * page.zoom);
  }
  const auto all = [](const std::vector<std::string>& lines, int height) {
    return static_cast<int>(lines.size()) * height;
  };
  page.height = page.margin + (page.parade > 0 ? page.parade + page.gap : 0);
  page.height += all(page.headings, page.heading.LineHeight()) + look_->Px(kHeadingGap);
  page.height += all(page.lines, page.line_height);
  page.height += Has(Part::kField) ? page.gap + page.line_height + look_->Px(kFieldHeight) : 0;
  page.height +=
      all(page.errors, page.small.LineHeight()) + (page.errors.empty() ? 0 : page.gap / 2);
  page.height += Has(Part::kBox) ? page.gap + look_->Px(kBoxSize) : 0;
  page.height += 2 * page.gap + look_->Px(kButtonSize.height) + page.margin;
  return page;
}

// The characters stand side by side on a line.
int Dialog::DrawParade(const Page& page, int y, Canvas* canvas) const {
  if (page.parade == 0) {
    return y;
  }
  const int floor = y + page.parade;
  int x = page.margin;
  for (const SheetPointer& sheet : question_.characters) {
    const Description& description = sheet->description;
    canvas->DrawCell(*sheet, CellOf(description, Mode::kIdle, 0), x,
                     floor - description.frame_height * page.zoom, page.zoom);
    x += description.frame_width * page.zoom + page.gap;
  }
  canvas->Fill({page.margin, floor, page.width - page.margin, floor + look_->Px(1)}, kLineColour);
  return floor + page.gap;
}

int Dialog::DrawTexts(const Page& page, int y, Canvas* canvas) const {
  for (const std::string& line : page.headings) {
    canvas->Write(look_->fonts, look_->Heading(), page.margin, y + page.heading.ascent, line, kInk);
    y += page.heading.LineHeight();
  }
  y += look_->Px(kHeadingGap);
  for (const std::string& line : page.lines) {
    canvas->Write(look_->fonts, look_->Text(), page.margin, y + page.text.ascent, line, kInk);
    y += page.line_height;
  }
  return y;
}

int Dialog::DrawField(const Page& page, int y, Canvas* canvas) {
  if (!Has(Part::kField)) {
    return y;
  }
  y += page.gap;
  canvas->Write(look_->fonts, look_->Small(), page.margin, y + page.text.ascent,
                ReadMenuText(question_.field_label).text, kFaintInk);
  y += page.line_height;
  const Box box{page.margin, y, page.width - page.margin, y + look_->Px(kFieldHeight)};
  boxes_[static_cast<size_t>(Part::kField)] = box;
  field_.Draw(canvas, *look_, box, focus_ == Part::kField, question_.field_cue);
  return box.bottom;
}

int Dialog::DrawError(const Page& page, int y, Canvas* canvas) const {
  y += page.errors.empty() ? 0 : page.gap / 2;
  for (const std::string& line : page.errors) {
    canvas->Write(look_->fonts, look_->Small(), page.margin, y + page.small.ascent, line, kWarning);
    y += page.small.LineHeight();
  }
  return y;
}

void Dialog::DrawTickBox(const Page& page, int y, Canvas* canvas) {
  if (!Has(Part::kBox)) {
    return;
  }
  y += page.gap;
  const int size = look_->Px(kBoxSize);
  const Box box{page.margin, y, page.margin + size, y + size};
  const std::string label = ReadMenuText(question_.box_label).text;
  const int label_x = box.right + look_->Px(8);
  // A click on the label counts too.
  boxes_[static_cast<size_t>(Part::kBox)] = {
      box.left, box.top, label_x + look_->fonts->WidthOf(look_->Text(), label), box.bottom};
  const bool has_focus = focus_ == Part::kBox;
  canvas->FillRound(box, look_->Px(3), kPaper, has_focus ? kAccent : kFaintInk,
                    look_->Px(has_focus ? 2 : 1));
  if (is_ticked_) {
    canvas->DrawTick(box, kAccent);
  }
  canvas->Write(look_->fonts, look_->Text(), label_x,
                (box.top + box.bottom + page.text.ascent - page.text.descent) / 2, label, kInk);
}

// From the right bottom corner to the left.
void Dialog::DrawButtons(const Page& page, Canvas* canvas) {
  const int top = page.height - page.margin - look_->Px(kButtonSize.height);
  int right = page.width - page.margin;
  for (const Part part : {Part::kNo, Part::kYes}) {
    if (!Has(part)) {
      continue;
    }
    const bool is_main = part == Part::kYes;
    const std::string label = ReadMenuText(is_main ? question_.yes : question_.no).text;
    const Box box = DrawButton(canvas, *look_, {label, is_main, hover_ == part, focus_ == part},
                               kButtonSize, right, top);
    boxes_[static_cast<size_t>(part)] = box;
    right = box.left - page.gap;
  }
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
