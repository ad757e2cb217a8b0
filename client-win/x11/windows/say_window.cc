#include "x11/windows/say_window.h"

#include <xkbcommon/xkbcommon-keysyms.h>

#include <algorithm>
#include <utility>

#include "x11/system/event.h"
#include "x11/windows/button.h"
#include "x11/windows/menu_window.h"

namespace sprites {

namespace {

// Sizes in dip.
constexpr double kWidth = 460;
constexpr double kMargin = 18;
constexpr double kGap = 10;
constexpr double kNoteLineGap = 2;  // between the lines of the note
constexpr ButtonSize kButtonSize{32, 18, 84};

}  // namespace

SayWindow::SayWindow(const XConnection* connection, const Keyboard* keyboard, Clipboard* clipboard,
                     const Look* look, Desktop* desktop)
    : connection_(connection),
      keyboard_(keyboard),
      clipboard_(clipboard),
      look_(look),
      desktop_(desktop),
      panel_(connection, PanelKind::kDialog, Say(desktop->language(), Text::kSayTitle)),
      field_(desktop->speech().unsaid, kSayingBytesMax) {
  desktop->ClearSpeechNote();
  shown_ = desktop->speech();
  Paint();
}

void SayWindow::Turn() {
  const Speech& speech = desktop_->speech();
  if (speech == shown_) {
    return;
  }
  const bool is_accepted = speech.accepted != shown_.accepted;
  shown_ = speech;
  if (is_accepted) {
    field_.Clear();
  }
  Paint();
}

void SayWindow::Paint() {
  const int margin = look_->Px(kMargin);
  const int gap = look_->Px(kGap);
  const int width = look_->Px(kWidth);
  const FontMetrics small = look_->fonts->MetricsOf(look_->Small());
  const int note_height = 2 * (small.LineHeight() + look_->Px(kNoteLineGap));
  const int field_top = margin + small.LineHeight() + look_->Px(6);
  const int note_top = field_top + look_->Px(kFieldHeight) + gap / 2;
  const int button_top = note_top + note_height + gap / 2;
  Canvas canvas(width, button_top + look_->Px(kButtonSize.height) + margin);
  canvas.Fill({0, 0, canvas.width(), canvas.height()}, kPaper);
  canvas.Write(look_->fonts, look_->Small(), margin, margin + small.ascent, Words(Text::kSayLabel),
               kFaintInk);
  const bool is_typing = !shown_.is_pending;
  field_.Draw(&canvas, *look_, {margin, field_top, width - margin, note_top - gap / 2}, is_typing,
              "");
  const int count_left = DrawCount(note_top, width - margin, &canvas);
  DrawNote(margin, note_top, count_left, &canvas);
  DrawButtons(button_top, width - margin, &canvas);
  const Rect work = look_->PrimaryWork();
  panel_.Show(canvas, static_cast<int>((work.left + work.right - width) / 2),
              static_cast<int>(work.top + (work.Height() - canvas.height()) * 2 / 3));
}

// How long the line is, once it is long, up to `right`. Returns where the room at its left ends.
int SayWindow::DrawCount(int top, int right, Canvas* canvas) const {
  const size_t bytes = SayingText(field_.text()).size();
  const std::string count = SayingLength(bytes);
  if (count.empty()) {
    return right;
  }
  Fonts* fonts = look_->fonts;
  const int left = right - fonts->WidthOf(look_->Small(), count);
  canvas->Write(fonts, look_->Small(), left, top + fonts->MetricsOf(look_->Small()).ascent, count,
                bytes >= kSayingBytesMax ? kWarning : kFaintInk);
  return left - look_->Px(kGap);
}

// What became of the last line.
void SayWindow::DrawNote(int left, int top, int right, Canvas* canvas) const {
  if (shown_.note.empty()) {
    return;
  }
  Fonts* fonts = look_->fonts;
  const FontMetrics small = fonts->MetricsOf(look_->Small());
  int y = top;
  for (const std::string& line : fonts->Wrapped(look_->Small(), shown_.note, right - left)) {
    canvas->Write(fonts, look_->Small(), left, y + small.ascent, line,
                  shown_.IsRefused() ? kWarning : kFaintInk);
    y += small.LineHeight() + look_->Px(kNoteLineGap);
  }
}

void SayWindow::DrawButtons(int top, int right, Canvas* canvas) {
  for (const Part part : {Part::kClose, Part::kSend}) {
    const bool is_main = part == Part::kSend;
    const Button button{Words(is_main ? Text::kSaySend : Text::kSayClose), is_main, hover_ == part};
    const Box box = DrawButton(canvas, *look_, button, kButtonSize, right, top);
    boxes_[static_cast<size_t>(part)] = box;
    right = box.left - look_->Px(kGap);
  }
}

// A label, without the mark of its key.
std::string SayWindow::Words(Text text) const {
  return ReadMenuText(Say(desktop_->language(), text)).text;
}

bool SayWindow::HandleEvent(const xcb_generic_event_t& event) {
  if (WindowOfInput(event) != panel_.window()) {
    return false;
  }
  switch (TypeOfEvent(event)) {
    case XCB_CLIENT_MESSAGE:
      is_closed_ = is_closed_ || As<xcb_client_message_event_t>(event).data.data32[0] ==
                                     connection_->atom(Atom::WM_DELETE_WINDOW);
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
      const Part part = PartAt(released.event_x, released.event_y);
      if (part == Part::kSend) {
        Send();
      }
      is_closed_ = is_closed_ || part == Part::kClose;
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

SayWindow::Part SayWindow::PartAt(int x, int y) const {
  for (const Part part : {Part::kSend, Part::kClose}) {
    if (boxes_[static_cast<size_t>(part)].Contains(x, y)) {
      return part;
    }
  }
  return Part::kNone;
}

void SayWindow::HandleKey(const xcb_key_press_event_t& event) {
  const Keyboard::Stroke stroke = keyboard_->Read(event);
  const bool is_line_end = stroke.symbol == XKB_KEY_Return || stroke.symbol == XKB_KEY_KP_Enter;
  if (stroke.symbol == XKB_KEY_Escape) {
    is_closed_ = true;
  } else if (is_line_end && SayingText(field_.text()).empty()) {
    is_closed_ = !shown_.is_pending;
  } else if (is_line_end) {
    Send();
  } else if (!desktop_->speech().is_pending) {
    const Edit edit = field_.HandleKey(stroke, clipboard_);
    awaits_paste_ = awaits_paste_ || edit == Edit::kPaste;
    if (edit == Edit::kText) {
      Paint();
    }
  }
}

void SayWindow::Send() {
  desktop_->Speak(field_.text());
  Turn();
}

bool SayWindow::Paste(const std::string& text) {
  if (!std::exchange(awaits_paste_, false)) {
    return false;
  }
  field_.Add(text);
  Paint();
  return true;
}

}  // namespace sprites
