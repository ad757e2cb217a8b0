#include "x11/windows/menu_window.h"

#include <xkbcommon/xkbcommon-keysyms.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/text/text.h"
#include "x11/system/event.h"

namespace sprites {

namespace {

// Sizes in dip.
constexpr double kRowHeight = 26;
constexpr double kLineHeight = 9;
constexpr double kSidePadding = 30;  // room for a tick at the left, for an arrow at the right
constexpr double kEndPadding = 5;
constexpr double kRadius = 8;
constexpr double kShadow = 12;
constexpr double kWidthMin = 170;
constexpr double kTickSize = 14;
constexpr double kArrowSize = 4;
constexpr double kOverlap = 3;  // of a submenu and the menu it belongs to
constexpr uint8_t kFirstButton = 1;
constexpr uint8_t kThirdButton = 3;
constexpr uint8_t kWheelUp = 4;  // X reports the wheel as buttons
constexpr uint8_t kWheelDown = 5;
constexpr int kWheelRows = 3;

bool IsSubmenu(const MenuItem& item) { return !item.children.empty(); }

bool IsChoosable(const MenuItem& item) { return !item.IsLine() && item.is_enabled; }

}  // namespace

MenuText ReadMenuText(std::string_view text) {
  MenuText read;
  int letters = 0;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] == '&' && i + 1 < text.size()) {
      i++;
      if (text[i] != '&') {
        read.mark = letters;
        read.key = static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
      }
    }
    letters += IsFirstByte(text[i]) ? 1 : 0;
    read.text += text[i];
  }
  return read;
}

MenuWindow::MenuWindow(const XConnection* connection, const Keyboard* keyboard, const Look* look)
    : connection_(connection), keyboard_(keyboard), look_(look) {}

void MenuWindow::Open(Menu menu, Point point, Choose choose) {
  Close();
  choose_ = std::move(choose);
  was_pressed_ = false;
  grab_tries_ = 0;
  const int x = static_cast<int>(point.x);
  const int y = static_cast<int>(point.y);
  OpenLevel(std::move(menu), {x, y, x, y}, false);
  Turn();
}

void MenuWindow::Close() {
  if (has_grab_) {
    xcb_ungrab_pointer(connection_->get(), XCB_CURRENT_TIME);
    xcb_ungrab_keyboard(connection_->get(), XCB_CURRENT_TIME);
    has_grab_ = false;
  }
  levels_.clear();
}

void MenuWindow::Turn() {
  if (!IsPending()) {
    return;
  }
  constexpr uint16_t kEvents =
      XCB_EVENT_MASK_BUTTON_PRESS | XCB_EVENT_MASK_BUTTON_RELEASE | XCB_EVENT_MASK_POINTER_MOTION;
  xcb_connection_t* x = connection_->get();
  const xcb_window_t window = levels_.front().panel->window();
  const Reply<xcb_grab_pointer_reply_t> pointer(xcb_grab_pointer_reply(
      x,
      xcb_grab_pointer(x, 0, window, kEvents, XCB_GRAB_MODE_ASYNC, XCB_GRAB_MODE_ASYNC,
                       XCB_WINDOW_NONE, XCB_CURSOR_NONE, XCB_CURRENT_TIME),
      nullptr));
  has_grab_ = pointer != nullptr && pointer->status == XCB_GRAB_STATUS_SUCCESS;
  if (has_grab_) {
    // Without the keyboard, the menu still works with the pointer.
    const Reply<xcb_grab_keyboard_reply_t> keys(xcb_grab_keyboard_reply(
        x,
        xcb_grab_keyboard(x, 1, window, XCB_CURRENT_TIME, XCB_GRAB_MODE_ASYNC, XCB_GRAB_MODE_ASYNC),
        nullptr));
  } else if (++grab_tries_ >= kGrabTriesMax) {
    Close();
  }
}

// `beside`: what the menu must not cover, px of the screen.
void MenuWindow::OpenLevel(Menu menu, Box beside, bool is_submenu) {
  Level level;
  level.menu = std::move(menu);
  const int shadow = look_->is_composited ? look_->Px(kShadow) : 0;
  int width = look_->Px(kWidthMin);
  for (const MenuItem& item : level.menu) {
    const int text = look_->fonts->WidthOf(look_->Text(), ReadMenuText(item.text).text);
    width = std::max(width, text + 2 * look_->Px(kSidePadding));
  }
  int y = shadow + look_->Px(kEndPadding);
  const int y_max = y + kRowsMax * look_->Px(kRowHeight);
  for (const MenuItem& item : level.menu) {
    const int row = look_->Px(item.IsLine() ? kLineHeight : kRowHeight);
    if (y + row > y_max) {
      break;
    }
    level.tops.push_back(y);
    y += row;
  }
  level.tops.push_back(y);
  level.inside = {shadow, shadow, shadow + width, y + look_->Px(kEndPadding)};
  const Rect work =
      look_->WorkAt({static_cast<double>(beside.right), static_cast<double>(beside.top)});
  const int right = static_cast<int>(work.right);
  const int bottom = static_cast<int>(work.bottom);
  const int height = level.inside.Height();
  int left = beside.right;
  if (left + width > right) {
    left = beside.left - width;  // there is no room at the right
  }
  int top = is_submenu ? beside.top - look_->Px(kEndPadding) : beside.top;
  if (top + height > bottom) {
    top = is_submenu ? bottom - height : beside.top - height;
  }
  left = std::clamp(left, static_cast<int>(work.left),
                    std::max(static_cast<int>(work.left), right - width));
  top = std::clamp(top, static_cast<int>(work.top),
                   std::max(static_cast<int>(work.top), bottom - height));
  level.panel = std::make_unique<Panel>(connection_, PanelKind::kMenu, "Sprites menu");
  Canvas empty(level.inside.right + shadow, level.inside.bottom + shadow);
  level.panel->Show(empty, left - shadow, top - shadow);
  levels_.push_back(std::move(level));
  Paint(&levels_.back());
}

void MenuWindow::CloseFrom(size_t level) {
  while (levels_.size() > level) {
    levels_.pop_back();
  }
}

void MenuWindow::Paint(Level* level) const {
  const Box& inside = level->inside;
  const int shadow = inside.left;
  Canvas canvas(inside.right + shadow, inside.bottom + shadow);
  const double radius = look_->is_composited ? look_->Px(kRadius) : 0;
  canvas.DrawBubble(inside, radius, shadow, std::nullopt, look_->Px(1));
  const FontMetrics metrics = look_->fonts->MetricsOf(look_->Text());
  for (size_t row = 0; row + 1 < level->tops.size(); row++) {
    const size_t index = level->first + row;
    const MenuItem& item = level->menu[index];
    const int top = level->tops[row];
    const int bottom = level->tops[row + 1];
    const int middle = (top + bottom) / 2;
    if (item.IsLine()) {
      canvas.Fill({inside.left + look_->Px(10), middle, inside.right - look_->Px(10),
                   middle + look_->Px(1)},
                  kLineColour);
      continue;
    }
    const Box whole{inside.left + look_->Px(5), top, inside.right - look_->Px(5), bottom};
    if (static_cast<int>(index) == level->chosen) {
      canvas.FillRound(whole, look_->Px(5), kChosen, kChosen, 0);
    }
    const Colour ink = item.is_enabled ? kInk : kFaintInk;
    const MenuText words = ReadMenuText(item.text);
    const int base_line = middle + (metrics.ascent - metrics.descent) / 2;
    const int x = inside.left + look_->Px(kSidePadding);
    canvas.Write(look_->fonts, look_->Text(), x, base_line, words.text, ink, words.mark);
    if (item.is_checked) {
      const int size = look_->Px(kTickSize);
      const int left = inside.left + (look_->Px(kSidePadding) - size) / 2 + look_->Px(2);
      canvas.DrawTick({left, middle - size / 2, left + size, middle - size / 2 + size}, kAccent);
    }
    if (IsSubmenu(item)) {
      canvas.DrawArrow(inside.right - look_->Px(18), middle, look_->Px(kArrowSize), kFaintInk);
    }
  }
  level->panel->Show(canvas, level->panel->x(), level->panel->y());
}

bool MenuWindow::HandleEvent(const xcb_generic_event_t& event) {
  if (!is_open()) {
    return false;
  }
  switch (TypeOfEvent(event)) {
    case XCB_MOTION_NOTIFY: {
      const auto& moved = As<xcb_motion_notify_event_t>(event);
      MoveTo(moved.root_x, moved.root_y);
      return true;
    }
    case XCB_BUTTON_PRESS: {
      const auto& pressed = As<xcb_button_press_event_t>(event);
      if (pressed.detail == kWheelUp || pressed.detail == kWheelDown) {
        Scroll(pressed.root_x, pressed.root_y,
               pressed.detail == kWheelUp ? -kWheelRows : kWheelRows);
        return true;
      }
      const bool is_inside = std::ranges::any_of(levels_, [&](const Level& level) {
        return level.inside.Contains(pressed.root_x - level.panel->x(),
                                     pressed.root_y - level.panel->y());
      });
      was_pressed_ = true;
      if (!is_inside) {
        Close();
      } else {
        MoveTo(pressed.root_x, pressed.root_y);
      }
      return true;
    }
    case XCB_BUTTON_RELEASE: {
      const auto& released = As<xcb_button_release_event_t>(event);
      if (released.detail == kFirstButton || released.detail == kThirdButton) {
        Release(released.root_x, released.root_y, was_pressed_);
      }
      return true;
    }
    case XCB_KEY_PRESS:
      HandleKey(As<xcb_key_press_event_t>(event));
      return true;
    case XCB_KEY_RELEASE:
      return true;
    default:
      return false;
  }
}

int MenuWindow::ItemAt(const Level& level, int x, int y) const {
  x -= level.panel->x();
  y -= level.panel->y();
  if (!level.inside.Contains(x, y)) {
    return -1;
  }
  for (size_t row = 0; row + 1 < level.tops.size(); row++) {
    if (y >= level.tops[row] && y < level.tops[row + 1]) {
      return static_cast<int>(level.first + row);
    }
  }
  return -1;
}

void MenuWindow::MoveTo(int x, int y) {
  for (size_t i = levels_.size(); i-- > 0;) {
    const Level& level = levels_[i];
    if (!level.inside.Contains(x - level.panel->x(), y - level.panel->y())) {
      continue;
    }
    const int item = ItemAt(level, x, y);
    if (item >= 0 && (item != level.chosen || levels_.size() > i + 2)) {
      SelectItem(i, item);
      CloseFrom(i + 1);
      Enter(i, item, false);
    }
    return;
  }
}

// Moves the rows of the menu under the pointer, if it has more than it shows.
void MenuWindow::Scroll(int x, int y, int by) {
  for (size_t i = levels_.size(); i-- > 0;) {
    if (ItemAt(levels_[i], x, y) < 0) {
      continue;
    }
    CloseFrom(i + 1);
    Level& level = levels_[i];
    const auto hidden = static_cast<int>(level.menu.size() - (level.tops.size() - 1));
    level.first = static_cast<size_t>(std::clamp(static_cast<int>(level.first) + by, 0, hidden));
    SelectItem(i, ItemAt(level, x, y));
    return;
  }
}

void MenuWindow::Release(int x, int y, bool was_pressed) {
  for (size_t i = levels_.size(); i-- > 0;) {
    const int item = ItemAt(levels_[i], x, y);
    if (item >= 0) {
      if (was_pressed) {
        Take(i, item);
      }
      return;
    }
  }
}

void MenuWindow::HandleKey(const xcb_key_press_event_t& event) {
  const Keyboard::Stroke stroke = keyboard_->Read(event);
  Level& level = levels_.back();
  switch (stroke.symbol) {
    case XKB_KEY_Escape:
      if (levels_.size() > 1) {
        CloseFrom(levels_.size() - 1);
      } else {
        Close();
      }
      return;
    case XKB_KEY_Left:
      if (levels_.size() > 1) {
        CloseFrom(levels_.size() - 1);
      }
      return;
    case XKB_KEY_Up:
      Step(-1);
      return;
    case XKB_KEY_Down:
      Step(1);
      return;
    case XKB_KEY_Right:
      Enter(levels_.size() - 1, level.chosen, true);
      return;
    case XKB_KEY_Return:
    case XKB_KEY_KP_Enter:
    case XKB_KEY_space:
      Take(levels_.size() - 1, level.chosen);
      return;
    default:
      break;
  }
  if (stroke.text.size() != 1) {
    return;
  }
  const char key = static_cast<char>(std::tolower(static_cast<unsigned char>(stroke.text[0])));
  for (size_t i = 0; i < level.menu.size(); i++) {
    if (IsChoosable(level.menu[i]) && ReadMenuText(level.menu[i].text).key == key) {
      SelectItem(levels_.size() - 1, static_cast<int>(i));
      Take(levels_.size() - 1, static_cast<int>(i));
      return;
    }
  }
}

// To the next item that can be chosen, round the end.
void MenuWindow::Step(int by) {
  const Level& level = levels_.back();
  const int count = static_cast<int>(level.menu.size());
  int item = level.chosen < 0 ? (by > 0 ? -1 : count) : level.chosen;
  for (int i = 0; i < count; i++) {
    item = (item + by + count) % count;
    if (IsChoosable(level.menu[static_cast<size_t>(item)])) {
      SelectItem(levels_.size() - 1, item);
      return;
    }
  }
}

void MenuWindow::SelectItem(size_t level, int item) {
  Level& one = levels_[level];
  if (!IsChoosable(one.menu[static_cast<size_t>(item)])) {
    item = -1;
  }
  const size_t rows = one.tops.size() - 1;
  if (item >= 0 && static_cast<size_t>(item) < one.first) {
    one.first = static_cast<size_t>(item);
  } else if (item >= 0 && static_cast<size_t>(item) >= one.first + rows) {
    one.first = static_cast<size_t>(item) + 1 - rows;
  }
  one.chosen = item;
  Paint(&one);
}

// Opens the submenu of an item, if it has one.
void MenuWindow::Enter(size_t level, int item, bool by_keys) {
  if (item < 0 || static_cast<size_t>(item) >= levels_[level].menu.size()) {
    return;
  }
  const Level& one = levels_[level];
  const MenuItem& entry = one.menu[static_cast<size_t>(item)];
  if (!IsSubmenu(entry) || !entry.is_enabled) {
    return;
  }
  const size_t row = static_cast<size_t>(item) - one.first;
  const int overlap = look_->Px(kOverlap);
  const Box beside{one.panel->x() + one.inside.left + overlap, one.panel->y() + one.tops[row],
                   one.panel->x() + one.inside.right - overlap, one.panel->y() + one.tops[row + 1]};
  Menu children = entry.children;
  CloseFrom(level + 1);
  OpenLevel(std::move(children), beside, true);
  if (by_keys) {
    Step(1);
  }
}

void MenuWindow::Take(size_t level, int item) {
  if (item < 0 || static_cast<size_t>(item) >= levels_[level].menu.size()) {
    return;
  }
  const MenuItem entry = levels_[level].menu[static_cast<size_t>(item)];
  if (!IsChoosable(entry)) {
    return;
  }
  if (IsSubmenu(entry)) {
    Enter(level, item, true);
    return;
  }
  const Choose choose = std::move(choose_);
  Close();
  choose(entry.choice);
}

}  // namespace sprites
