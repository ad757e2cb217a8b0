#include "x11/windows/panel.h"

#include <xcb/shape.h>

#include <vector>

namespace sprites {

namespace {

constexpr uint32_t kEvents = XCB_EVENT_MASK_BUTTON_PRESS | XCB_EVENT_MASK_BUTTON_RELEASE |
                             XCB_EVENT_MASK_POINTER_MOTION | XCB_EVENT_MASK_KEY_PRESS |
                             XCB_EVENT_MASK_LEAVE_WINDOW;
// WM_NORMAL_HINTS (ICCCM 4.1.2.3): where the program wants the window, and that its size is fixed.
constexpr uint32_t kHasPlace = 1 << 2;
constexpr uint32_t kHasMinimum = 1 << 4;
constexpr uint32_t kHasMaximum = 1 << 5;
constexpr size_t kHintWords = 18;

Atom TypeOf(PanelKind kind) {
  switch (kind) {
    case PanelKind::kMenu:
      return Atom::_NET_WM_WINDOW_TYPE_POPUP_MENU;
    case PanelKind::kBubble:
    case PanelKind::kSaying:
      return Atom::_NET_WM_WINDOW_TYPE_TOOLTIP;
    case PanelKind::kDialog:
      break;
  }
  return Atom::_NET_WM_WINDOW_TYPE_DIALOG;
}

uint32_t Coordinate(int value) { return static_cast<uint32_t>(value); }

}  // namespace

Panel::Panel(const XConnection* connection, PanelKind kind, const std::string& title)
    : connection_(connection),
      kind_(kind),
      format_(kind == PanelKind::kDialog ? connection->root_format() : connection->alpha_format()),
      window_(xcb_generate_id(connection->get())),
      context_(xcb_generate_id(connection->get())) {
  xcb_connection_t* x = connection_->get();
  const bool is_unmanaged = kind != PanelKind::kDialog;
  const uint32_t values[] = {0, 0, is_unmanaged ? 1U : 0U, kEvents, format_.colours};
  xcb_create_window(x, format_.depth, window_, connection_->root(), 0, 0, 1, 1, 0,
                    XCB_WINDOW_CLASS_INPUT_OUTPUT, format_.visual,
                    XCB_CW_BACK_PIXEL | XCB_CW_BORDER_PIXEL | XCB_CW_OVERRIDE_REDIRECT |
                        XCB_CW_EVENT_MASK | XCB_CW_COLORMAP,
                    values);
  xcb_create_gc(x, context_, window_, 0, nullptr);
  connection_->Name(window_, title);
  connection_->SetNumbers(window_, Atom::_NET_WM_WINDOW_TYPE, XCB_ATOM_ATOM,
                          {connection_->atom(TypeOf(kind))});
  if (kind == PanelKind::kSaying) {
    xcb_shape_rectangles(x, XCB_SHAPE_SO_SET, XCB_SHAPE_SK_INPUT, XCB_CLIP_ORDERING_UNSORTED,
                         window_, 0, 0, 0, nullptr);
  }
  if (!is_unmanaged) {
    connection_->SetNumbers(window_, Atom::WM_PROTOCOLS, XCB_ATOM_ATOM,
                            {connection_->atom(Atom::WM_DELETE_WINDOW)});
    connection_->SetNumbers(window_, Atom::_NET_WM_STATE, XCB_ATOM_ATOM,
                            {connection_->atom(Atom::_NET_WM_STATE_ABOVE)});
  }
}

Panel::~Panel() {
  xcb_free_gc(connection_->get(), context_);
  xcb_destroy_window(connection_->get(), window_);
}

void Panel::Show(const Canvas& canvas, int x, int y) {
  xcb_connection_t* connection = connection_->get();
  width_ = canvas.width();
  height_ = canvas.height();
  x_ = x;
  y_ = y;
  SetPicture(canvas);
  if (kind_ == PanelKind::kDialog && is_shown_) {
    xcb_clear_area(connection, 0, window_, 0, 0, 0, 0);  // it stays where the user has put it
    return;
  }
  SetHints(x, y);
  const uint32_t values[] = {Coordinate(x), Coordinate(y), static_cast<uint32_t>(width_),
                             static_cast<uint32_t>(height_), XCB_STACK_MODE_ABOVE};
  xcb_configure_window(connection, window_,
                       XCB_CONFIG_WINDOW_X | XCB_CONFIG_WINDOW_Y | XCB_CONFIG_WINDOW_WIDTH |
                           XCB_CONFIG_WINDOW_HEIGHT | XCB_CONFIG_WINDOW_STACK_MODE,
                       values);
  xcb_clear_area(connection, 0, window_, 0, 0, 0, 0);
  if (!is_shown_) {
    xcb_map_window(connection, window_);
    is_shown_ = true;
  }
}

void Panel::Move(int x, int y) {
  if (x == x_ && y == y_) {
    return;
  }
  x_ = x;
  y_ = y;
  const uint32_t values[] = {Coordinate(x), Coordinate(y)};
  xcb_configure_window(connection_->get(), window_, XCB_CONFIG_WINDOW_X | XCB_CONFIG_WINDOW_Y,
                       values);
}

void Panel::Raise() const {
  const uint32_t mode = XCB_STACK_MODE_ABOVE;
  xcb_configure_window(connection_->get(), window_, XCB_CONFIG_WINDOW_STACK_MODE, &mode);
}

void Panel::Hide() {
  if (is_shown_) {
    xcb_unmap_window(connection_->get(), window_);
    is_shown_ = false;
  }
}

// The server keeps the pixmap as long as it is the background.
void Panel::SetPicture(const Canvas& canvas) {
  xcb_connection_t* x = connection_->get();
  const xcb_pixmap_t picture = xcb_generate_id(x);
  xcb_create_pixmap(x, format_.depth, picture, window_, static_cast<uint16_t>(canvas.width()),
                    static_cast<uint16_t>(canvas.height()));
  connection_->Upload(picture, context_, format_.depth, canvas.pixels(), canvas.width(),
                      canvas.height(), 0);
  xcb_change_window_attributes(x, window_, XCB_CW_BACK_PIXMAP, &picture);
  xcb_free_pixmap(x, picture);
}

void Panel::SetHints(int x, int y) const {
  if (kind_ != PanelKind::kDialog) {
    return;
  }
  std::vector<uint32_t> hints(kHintWords, 0);
  hints[0] = kHasPlace | kHasMinimum | kHasMaximum;
  hints[1] = Coordinate(x);
  hints[2] = Coordinate(y);
  hints[5] = hints[7] = static_cast<uint32_t>(width_);
  hints[6] = hints[8] = static_cast<uint32_t>(height_);
  xcb_change_property(connection_->get(), XCB_PROP_MODE_REPLACE, window_, XCB_ATOM_WM_NORMAL_HINTS,
                      XCB_ATOM_WM_SIZE_HINTS, 32, static_cast<uint32_t>(hints.size()),
                      hints.data());
}

}  // namespace sprites
