#include "x11/windows/sprite_windows.h"

#include <gdk/gdk.h>
#include <xcb/shape.h>

#include <algorithm>
#include <unordered_set>

#include "x11/system/event.h"
#include "x11/windows/drop_target.h"
#include "x11/windows/frame_pixmap.h"

namespace sprites {

namespace {

constexpr uint32_t kDoNotBypass = 2;  // EWMH: the compositor goes on for this window
constexpr uint32_t kEvents = XCB_EVENT_MASK_BUTTON_PRESS | XCB_EVENT_MASK_BUTTON_RELEASE |
                             XCB_EVENT_MASK_BUTTON_1_MOTION | XCB_EVENT_MASK_KEY_PRESS |
                             XCB_EVENT_MASK_KEY_RELEASE | XCB_EVENT_MASK_FOCUS_CHANGE |
                             XCB_EVENT_MASK_EXPOSURE;

// In the state of an event: the modifiers, then the group of the layout.
constexpr uint32_t kModifiers = 0xFF;
constexpr int kGroupShift = 13;
constexpr uint32_t kGroupMask = 3;

// What a key means in the person's layout.
guint SymbolOf(const xcb_key_press_event_t& event) {
  GdkKeymap* layout = gdk_keymap_get_for_display(gdk_display_get_default());
  guint symbol = GDK_KEY_VoidSymbol;
  gdk_keymap_translate_keyboard_state(
      layout, event.detail, static_cast<GdkModifierType>(event.state & kModifiers),
      event.state >> kGroupShift & kGroupMask, &symbol, nullptr, nullptr, nullptr);
  return symbol;
}

template <class Event>
Point PointOf(const Event& event) {
  return {static_cast<double>(event.root_x), static_cast<double>(event.root_y)};
}

uint32_t Coordinate(int value) { return static_cast<uint32_t>(value); }

}  // namespace

SpriteWindows::SpriteWindows(const XConnection* connection, const char* name,
                             SpriteListener* listener)
    : connection_(connection),
      name_(name),
      listener_(listener),
      context_(xcb_generate_id(connection->get())),
      takes_clicks_(listener != nullptr),
      hand_(listener) {
  xcb_connection_t* x = connection_->get();
  // A graphics context belongs to a depth, which a pixmap gives it.
  const xcb_pixmap_t model = xcb_generate_id(x);
  xcb_create_pixmap(x, connection_->alpha_format().depth, model, connection_->root(), 1, 1);
  const uint32_t no_exposures = 0;
  xcb_create_gc(x, context_, model, XCB_GC_GRAPHICS_EXPOSURES, &no_exposures);
  xcb_free_pixmap(x, model);
  SetComposited(connection_->IsComposited());
}

SpriteWindows::~SpriteWindows() {
  DestroyAll();
  xcb_free_gc(connection_->get(), context_);
}

void SpriteWindows::SetComposited(bool is_composited) {
  is_composited_ = is_composited;
  DestroyAll();
  atlas_ = std::make_unique<FrameAtlas>(
      [this](int width, int height) { return FramePixmap::Make(connection_, width, height); });
  planner_ = std::make_unique<WindowPlanner>();
}

void SpriteWindows::Show(std::span<const DrawnSprite> sprites, xcb_window_t above) {
  const WindowPlan& plan = planner_->Plan(sprites);
  for (const SpriteId id : plan.closed) {
    DestroyWindowOf(id);
  }
  if (!plan.closed.empty()) {
    atlas_->DropUnused();
  }
  for (const SpriteId id : plan.created) {
    CreateWindowFor(id);
  }
  std::unordered_set<SpriteId> appearing;
  for (const Placement& placement : plan.placements) {
    if (placement.appears) {
      appearing.insert(placement.id);
    }
    if (placement.disappears) {
      planner_->NotPainted(placement.id);  // an unmapped window loses its pixels
    }
  }
  for (const size_t index : plan.painted) {
    const DrawnSprite& drawn = sprites[index];
    if (!Paint(drawn, appearing.contains(drawn.id))) {
      planner_->NotPainted(drawn.id);
    }
  }
  for (const Placement& placement : plan.placements) {
    Place(placement);
  }
  if (!plan.IsEmpty()) {
    order_.clear();
    for (const DrawnSprite& drawn : sprites) {
      order_.push_back(drawn.id);
    }
  }
  if (above != XCB_WINDOW_NONE && !plan.created.empty()) {
    PutBelow(above, plan.created);
  }
}

// Puts each of the new windows directly below the one that is drawn after it, or below `above`.
void SpriteWindows::PutBelow(xcb_window_t above, const std::vector<SpriteId>& created) {
  for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
    const xcb_window_t window = windows_[*id].window;
    if (std::ranges::find(created, *id) != created.end()) {
      const uint32_t values[] = {above, XCB_STACK_MODE_BELOW};
      xcb_configure_window(connection_->get(), window,
                           XCB_CONFIG_WINDOW_SIBLING | XCB_CONFIG_WINDOW_STACK_MODE, values);
    }
    above = window;
  }
}

xcb_window_t SpriteWindows::LowestWindow() const {
  const auto lowest = order_.empty() ? windows_.end() : windows_.find(order_.front());
  return lowest == windows_.end() ? xcb_window_t{XCB_WINDOW_NONE} : lowest->second.window;
}

void SpriteWindows::PassClicks(xcb_window_t window) const {
  xcb_shape_rectangles(connection_->get(), XCB_SHAPE_SO_SET, XCB_SHAPE_SK_INPUT,
                       XCB_CLIP_ORDERING_UNSORTED, window, 0, 0, 0, nullptr);
}

void SpriteWindows::SetTakesClicks(bool takes_clicks) {
  if (takes_clicks == takes_clicks_) {
    return;
  }
  takes_clicks_ = takes_clicks;
  for (auto& [id, own] : windows_) {
    if (takes_clicks) {
      own.shape = XCB_NONE;  // it gets the shape of its picture when it is painted
      planner_->NotPainted(id);
    } else {
      PassClicks(own.window);
    }
  }
  if (!takes_clicks && keys_window_ != XCB_WINDOW_NONE) {
    GiveKeysBack(XCB_CURRENT_TIME);
  }
}

void SpriteWindows::CreateWindowFor(SpriteId id) {
  xcb_connection_t* x = connection_->get();
  const PixelFormat& format = connection_->alpha_format();
  const xcb_window_t window = xcb_generate_id(x);
  // Background and border of zero are transparent. Redirected windows are not managed.
  const uint32_t values[] = {0, 0, XCB_GRAVITY_NORTH_WEST, 1, kEvents, format.colours};
  xcb_create_window(x, format.depth, window, connection_->root(), 0, 0, 1, 1, 0,
                    XCB_WINDOW_CLASS_INPUT_OUTPUT, format.visual,
                    XCB_CW_BACK_PIXEL | XCB_CW_BORDER_PIXEL | XCB_CW_BIT_GRAVITY |
                        XCB_CW_OVERRIDE_REDIRECT | XCB_CW_EVENT_MASK | XCB_CW_COLORMAP,
                    values);
  connection_->Name(window, name_);
  connection_->SetNumbers(window, Atom::_NET_WM_WINDOW_TYPE, XCB_ATOM_ATOM,
                          {connection_->atom(Atom::_NET_WM_WINDOW_TYPE_UTILITY)});
  connection_->SetNumbers(window, Atom::_NET_WM_BYPASS_COMPOSITOR, XCB_ATOM_CARDINAL,
                          {kDoNotBypass});
  if (!takes_clicks_) {
    PassClicks(window);
  }
  if (listener_ != nullptr) {
    DropTarget::Offer(*connection_, window);
  }
  windows_[id] = {window};
  ids_[window] = id;
  PutOnTop(id);
  order_.push_back(id);
}

// Above the other sprites, or above the windows of the window manager if there are none: so menus
// and a locked screen stay above a sprite that arrives.
void SpriteWindows::PutOnTop(SpriteId id) {
  const auto top = std::find_if(order_.rbegin(), order_.rend(), [&](SpriteId other) {
    return other != id && windows_.contains(other);
  });
  const xcb_window_t sibling = top == order_.rend() ? top_frame_ : windows_[*top].window;
  const uint32_t values[] = {sibling, XCB_STACK_MODE_ABOVE};
  if (sibling != XCB_WINDOW_NONE) {
    xcb_configure_window(connection_->get(), windows_[id].window,
                         XCB_CONFIG_WINDOW_SIBLING | XCB_CONFIG_WINDOW_STACK_MODE, values);
  }
}

void SpriteWindows::DestroyWindowOf(SpriteId id) {
  const auto ended = windows_.extract(id);
  if (ended.empty()) {
    return;
  }
  ids_.erase(ended.mapped().window);
  if (ended.mapped().window == keys_window_) {
    GiveKeysBack(XCB_CURRENT_TIME);
    listener_->KeysLost();
  }
  xcb_destroy_window(connection_->get(), ended.mapped().window);
  if (hand_.held() == id) {
    hand_.Forget();
  }
}

void SpriteWindows::DestroyAll() {
  for (const auto& [id, window] : windows_) {
    xcb_destroy_window(connection_->get(), window.window);
  }
  windows_.clear();
  ids_.clear();
  order_.clear();
  hand_.Forget();
}

// Returns false if memory is short.
bool SpriteWindows::Paint(const DrawnSprite& drawn, bool appears) {
  const FrameAtlas::Frame frame = atlas_->Find(drawn);
  if (frame.surface == nullptr) {
    return false;
  }
  xcb_connection_t* x = connection_->get();
  auto* surface = static_cast<FramePixmap*>(frame.surface);
  const xcb_xfixes_region_t shape = surface->Send(frame.top, drawn.height, context_);
  Window& own = windows_[drawn.id];
  const Crop shown = drawn.Shown();
  if (own.shape != shape || own.shown != shown) {
    own.shape = shape;
    const auto left = static_cast<int16_t>(-shown.x);
    const auto top = static_cast<int16_t>(-shown.y);
    if (takes_clicks_) {
      xcb_xfixes_set_window_shape_region(x, own.window, XCB_SHAPE_SK_INPUT, left, top, shape);
    }
    if (!is_composited_) {
      xcb_xfixes_set_window_shape_region(x, own.window, XCB_SHAPE_SK_BOUNDING, left, top, shape);
    }
  }
  uint32_t values[] = {Coordinate(drawn.Left()), Coordinate(drawn.Top()),
                       static_cast<uint32_t>(shown.width), static_cast<uint32_t>(shown.height)};
  uint16_t mask = XCB_CONFIG_WINDOW_X | XCB_CONFIG_WINDOW_Y;
  if (own.shown.width != shown.width || own.shown.height != shown.height) {
    mask |= XCB_CONFIG_WINDOW_WIDTH | XCB_CONFIG_WINDOW_HEIGHT;
  }
  own.shown = shown;
  xcb_configure_window(x, own.window, mask, values);
  if (appears) {
    xcb_map_window(x, own.window);  // before it is painted: an unmapped window has no pixels
  }
  xcb_copy_area(x, surface->pixmap(), own.window, context_, static_cast<int16_t>(shown.x),
                static_cast<int16_t>(frame.top + shown.y), 0, 0, static_cast<uint16_t>(shown.width),
                static_cast<uint16_t>(shown.height));
  return true;
}

void SpriteWindows::Place(const Placement& placement) {
  xcb_connection_t* x = connection_->get();
  const xcb_window_t window = windows_[placement.id].window;
  std::vector<uint32_t> values;
  uint16_t mask = 0;
  if (placement.moves) {
    mask |= XCB_CONFIG_WINDOW_X | XCB_CONFIG_WINDOW_Y;
    values = {Coordinate(placement.x), Coordinate(placement.y)};
  }
  if (placement.below == kNobody) {
    PutOnTop(placement.id);
  } else if (placement.below) {
    mask |= XCB_CONFIG_WINDOW_SIBLING | XCB_CONFIG_WINDOW_STACK_MODE;
    values.push_back(windows_[*placement.below].window);
    values.push_back(XCB_STACK_MODE_BELOW);
  }
  if (mask != 0) {
    xcb_configure_window(x, window, mask, values.data());
  }
  if (placement.disappears) {
    if (window == keys_window_) {
      GiveKeysBack(XCB_CURRENT_TIME);
    }
    xcb_unmap_window(x, window);
  }
}

void SpriteWindows::PutAbove(xcb_window_t frame) {
  top_frame_ = frame;
  if (order_.empty() || frame == XCB_WINDOW_NONE) {
    return;
  }
  const Reply<xcb_query_tree_reply_t> tree(xcb_query_tree_reply(
      connection_->get(), xcb_query_tree(connection_->get(), connection_->root()), nullptr));
  if (tree == nullptr) {
    return;
  }
  const xcb_window_t* children = xcb_query_tree_children(tree.get());  // lowest first
  const xcb_window_t* end = children + xcb_query_tree_children_length(tree.get());
  const xcb_window_t* place = std::find(children, end, frame);
  const bool is_below =
      std::any_of(children, place, [this](xcb_window_t window) { return ids_.contains(window); });
  if (!is_below) {
    return;
  }
  xcb_window_t above = frame;
  for (const SpriteId id : order_) {
    const auto own = windows_.find(id);
    if (own == windows_.end()) {
      continue;
    }
    const uint32_t values[] = {above, XCB_STACK_MODE_ABOVE};
    xcb_configure_window(connection_->get(), own->second.window,
                         XCB_CONFIG_WINDOW_SIBLING | XCB_CONFIG_WINDOW_STACK_MODE, values);
    above = own->second.window;
  }
}

bool SpriteWindows::HandleEvent(const xcb_generic_event_t& event) {
  switch (TypeOfEvent(event)) {
    case XCB_BUTTON_PRESS: {
      const auto& pressed = As<xcb_button_press_event_t>(event);
      const SpriteId id = IdOf(pressed.event);
      if (id != kNobody && pressed.detail == kFirstButton) {
        hand_.Press(id, PointOf(pressed), pressed.time, kClickLimits);
      }
      return id != kNobody;
    }
    case XCB_BUTTON_RELEASE: {
      const auto& released = As<xcb_button_release_event_t>(event);
      const SpriteId id = IdOf(released.event);
      if (id != kNobody) {
        HandleRelease(id, released);
      }
      return id != kNobody;
    }
    case XCB_MOTION_NOTIFY: {
      const auto& moved = As<xcb_motion_notify_event_t>(event);
      const SpriteId id = IdOf(moved.event);
      if (id != kNobody && id == hand_.held()) {
        hand_.Move(PointOf(moved), moved.time);
      }
      return id != kNobody;
    }
    case XCB_KEY_PRESS:
    case XCB_KEY_RELEASE: {
      const auto& key = As<xcb_key_press_event_t>(event);
      const SpriteId id = IdOf(key.event);
      if (id != kNobody) {
        HandleKey(id, key, TypeOfEvent(event) == XCB_KEY_PRESS);
      }
      return id != kNobody;
    }
    case XCB_FOCUS_OUT: {
      const auto& lost = As<xcb_focus_out_event_t>(event);
      const bool is_own = IdOf(lost.event) != kNobody;
      // A grab, say of a menu, takes the keys for a moment only. X reports it when it begins, and
      // to the window below the pointer also when it ends. A window that lost the keys to another
      // sprite reports that after the click on the other one.
      const bool is_for_a_moment =
          lost.mode == XCB_NOTIFY_MODE_GRAB || lost.detail == XCB_NOTIFY_DETAIL_POINTER;
      if (is_own && lost.event == keys_window_ && !is_for_a_moment) {
        keys_window_ = XCB_WINDOW_NONE;
        listener_->KeysLost();
      }
      return is_own;
    }
    case XCB_EXPOSE: {
      const auto& exposed = As<xcb_expose_event_t>(event);
      const SpriteId id = IdOf(exposed.window);
      if (id != kNobody && exposed.count == 0) {
        planner_->NotPainted(id);
      }
      return id != kNobody;
    }
    default:
      return false;
  }
}

void SpriteWindows::HandleRelease(SpriteId id, const xcb_button_release_event_t& event) {
  const Point point = PointOf(event);
  if (event.detail == kThirdButton) {
    listener_->RightClicked(id, point);
  } else if (event.detail == kFirstButton && hand_.held() == id) {
    const Gesture gesture = hand_.Release(point, event.time);
    if (gesture == Gesture::kClick) {
      TakeKeys(windows_[id].window, event.time);
      listener_->Clicked(id);
    } else if (gesture == Gesture::kDoubleClick) {
      listener_->DoubleClicked();
    }
  }
}

// A throw takes no keyboard focus; a click does.
void SpriteWindows::TakeKeys(xcb_window_t window, uint32_t ms) {
  const Reply<xcb_get_input_focus_reply_t> focus(xcb_get_input_focus_reply(
      connection_->get(), xcb_get_input_focus(connection_->get()), nullptr));
  if (focus != nullptr && !ids_.contains(focus->focus)) {
    focus_before_ = focus->focus;
  }
  keys_window_ = window;
  xcb_set_input_focus(connection_->get(), XCB_INPUT_FOCUS_POINTER_ROOT, window, ms);
}

// To the program that had them before a sprite was clicked.
void SpriteWindows::GiveKeysBack(uint32_t ms) {
  if (focus_before_ != XCB_WINDOW_NONE) {
    xcb_set_input_focus(connection_->get(), XCB_INPUT_FOCUS_POINTER_ROOT, focus_before_, ms);
    focus_before_ = XCB_WINDOW_NONE;
  }
}

bool SpriteWindows::GiveKeysTo(SpriteId id) {
  const auto own = windows_.find(id);
  if (own != windows_.end()) {
    TakeKeys(own->second.window, XCB_CURRENT_TIME);
  }
  return own != windows_.end();
}

void SpriteWindows::HandleKey(SpriteId id, const xcb_key_press_event_t& event, bool is_down) {
  const bool with_control = (event.state & XCB_MOD_MASK_CONTROL) != 0;
  const bool with_shift = (event.state & XCB_MOD_MASK_SHIFT) != 0;
  switch (HandleSpriteKey(listener_, SymbolOf(event), is_down, with_control, with_shift)) {
    case KeyUse::kEscape:
      GiveKeysBack(event.time);
      break;
    case KeyUse::kMenu: {
      // The window is at the origin of the event: its root coordinates less its own.
      const Window& own = windows_[id];
      listener_->RightClicked(id, {event.root_x - event.event_x + own.shown.width / 2.0,
                                   event.root_y - event.event_y + own.shown.height / 2.0});
      break;
    }
    default:
      break;
  }
}

SpriteId SpriteWindows::IdOf(xcb_window_t window) const {
  const auto found = ids_.find(window);
  return found == ids_.end() ? kNobody : found->second;
}

}  // namespace sprites
