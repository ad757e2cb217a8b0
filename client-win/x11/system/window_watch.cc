#include "x11/system/window_watch.h"

#include <algorithm>
#include <optional>

#include "x11/system/event.h"

namespace sprites {

namespace {

// What is asked of one window, before the first answer is read.
struct Asked {
  xcb_window_t window;
  xcb_get_window_attributes_cookie_t attributes;
  xcb_get_geometry_cookie_t geometry;
  xcb_translate_coordinates_cookie_t place;
  xcb_get_property_cookie_t type;
  xcb_get_property_cookie_t state;
  xcb_get_property_cookie_t desktop;
  xcb_get_property_cookie_t frame;
  xcb_get_property_cookie_t shadow;
  xcb_get_property_cookie_t strut;
  xcb_get_property_cookie_t old_strut;
};

Sides SidesOf(const std::vector<uint32_t>& numbers) {
  if (numbers.size() < 4) {
    return {};
  }
  return {static_cast<double>(numbers[0]), static_cast<double>(numbers[1]),
          static_cast<double>(numbers[2]), static_cast<double>(numbers[3])};
}

// Left, right, top, bottom; then from and to of each, in the same order.
void AddStruts(const std::vector<uint32_t>& numbers, std::vector<Strut>* struts) {
  constexpr Edge kSides[] = {Edge::kLeft, Edge::kRight, Edge::kTop, Edge::kBottom};
  for (size_t i = 0; i < 4 && numbers.size() >= 4; i++) {
    if (numbers[i] == 0) {
      continue;
    }
    const bool is_partial = numbers.size() >= 12;
    struts->push_back({kSides[i], static_cast<double>(numbers[i]),
                       is_partial ? static_cast<double>(numbers[4 + 2 * i]) : 0,
                       is_partial ? static_cast<double>(numbers[5 + 2 * i]) : kSideMax});
  }
}

bool IsEqual(const std::vector<Strut>& one, const std::vector<Strut>& other) {
  return std::ranges::equal(one, other, [](const Strut& a, const Strut& b) {
    return a.side == b.side && a.depth == b.depth && a.from == b.from && a.to == b.to;
  });
}

}  // namespace

WindowWatch::WindowWatch(const XConnection* connection) : connection_(connection) {
  const uint32_t mask = XCB_EVENT_MASK_PROPERTY_CHANGE | XCB_EVENT_MASK_STRUCTURE_NOTIFY;
  xcb_change_window_attributes(connection->get(), connection->root(), XCB_CW_EVENT_MASK, &mask);
}

void WindowWatch::HandleEvent(const xcb_generic_event_t& event) {
  switch (TypeOfEvent(event)) {
    case XCB_PROPERTY_NOTIFY: {
      const auto& changed = As<xcb_property_notify_event_t>(event);
      const auto is_one_of = [&](std::initializer_list<Atom> names) {
        return std::ranges::any_of(
            names, [&](Atom name) { return connection_->atom(name) == changed.atom; });
      };
      may_have_changed_ = may_have_changed_ ||
                          (changed.window == connection_->root()
                               ? is_one_of({Atom::_NET_CLIENT_LIST_STACKING, Atom::_NET_CLIENT_LIST,
                                            Atom::_NET_ACTIVE_WINDOW, Atom::_NET_CURRENT_DESKTOP})
                               : watched_.contains(changed.window) &&
                                     is_one_of({Atom::_NET_WM_STATE, Atom::_NET_FRAME_EXTENTS,
                                                Atom::_NET_WM_DESKTOP, Atom::_GTK_FRAME_EXTENTS,
                                                Atom::_NET_WM_STRUT, Atom::_NET_WM_STRUT_PARTIAL,
                                                Atom::_NET_WM_WINDOW_TYPE}));
      break;
    }
    case XCB_CONFIGURE_NOTIFY:
      may_have_changed_ =
          may_have_changed_ || watched_.contains(As<xcb_configure_notify_event_t>(event).window);
      break;
    case XCB_MAP_NOTIFY:
      may_have_changed_ =
          may_have_changed_ || watched_.contains(As<xcb_map_notify_event_t>(event).window);
      break;
    case XCB_UNMAP_NOTIFY:
      may_have_changed_ =
          may_have_changed_ || watched_.contains(As<xcb_unmap_notify_event_t>(event).window);
      break;
    case XCB_DESTROY_NOTIFY:
      may_have_changed_ =
          watched_.erase(As<xcb_destroy_notify_event_t>(event).window) > 0 || may_have_changed_;
      break;
    default:
      break;
  }
}

bool WindowWatch::Look() {
  may_have_changed_ = false;
  const xcb_window_t root = connection_->root();
  const auto stacking = connection_->AskFor(root, Atom::_NET_CLIENT_LIST_STACKING);
  const auto listed = connection_->AskFor(root, Atom::_NET_CLIENT_LIST);
  const auto active = connection_->AskFor(root, Atom::_NET_ACTIVE_WINDOW);
  const auto desktop = connection_->AskFor(root, Atom::_NET_CURRENT_DESKTOP);
  std::vector<uint32_t> clients = connection_->Numbers(stacking);
  const std::vector<uint32_t> unordered = connection_->Numbers(listed);
  clients = clients.empty() ? unordered : clients;
  const std::vector<uint32_t> actives = connection_->Numbers(active);
  const std::vector<uint32_t> desktops = connection_->Numbers(desktop);
  std::ranges::reverse(clients);  // front to back
  clients.resize(std::min(clients.size(), kWindowsMax));
  // The program's own dialogs stay above the sprites.
  const auto top = std::ranges::find_if(
      clients, [this](xcb_window_t window) { return !connection_->IsOwn(window); });
  top_ = top == clients.end() ? xcb_window_t{XCB_WINDOW_NONE} : *top;
  WatchNew(clients);

  xcb_connection_t* x = connection_->get();
  std::vector<Asked> asked;
  asked.reserve(clients.size());
  for (const xcb_window_t window : clients) {
    asked.push_back({window, xcb_get_window_attributes(x, window), xcb_get_geometry(x, window),
                     xcb_translate_coordinates(x, window, root, 0, 0),
                     connection_->AskFor(window, Atom::_NET_WM_WINDOW_TYPE),
                     connection_->AskFor(window, Atom::_NET_WM_STATE),
                     connection_->AskFor(window, Atom::_NET_WM_DESKTOP),
                     connection_->AskFor(window, Atom::_NET_FRAME_EXTENTS),
                     connection_->AskFor(window, Atom::_GTK_FRAME_EXTENTS),
                     connection_->AskFor(window, Atom::_NET_WM_STRUT_PARTIAL),
                     connection_->AskFor(window, Atom::_NET_WM_STRUT)});
  }
  std::vector<WindowArea> windows;
  std::vector<Strut> struts;
  for (const Asked& one : asked) {
    const Reply<xcb_get_window_attributes_reply_t> attributes(
        xcb_get_window_attributes_reply(x, one.attributes, nullptr));
    const Reply<xcb_get_geometry_reply_t> geometry(
        xcb_get_geometry_reply(x, one.geometry, nullptr));
    const Reply<xcb_translate_coordinates_reply_t> place(
        xcb_translate_coordinates_reply(x, one.place, nullptr));
    const std::vector<uint32_t> state = connection_->Numbers(one.state);
    const auto has_state = [&](Atom name) {
      return std::ranges::find(state, connection_->atom(name)) != state.end();
    };
    ManagedWindow window;
    window.id = one.window;
    window.type = TypeOf(connection_->Numbers(one.type));
    const std::vector<uint32_t> on_desktop = connection_->Numbers(one.desktop);
    window.desktop = on_desktop.empty() ? kAllDesktops : on_desktop[0];
    window.frame = SidesOf(connection_->Numbers(one.frame));
    window.shadow = SidesOf(connection_->Numbers(one.shadow));
    std::vector<uint32_t> strut = connection_->Numbers(one.strut);
    const std::vector<uint32_t> old_strut = connection_->Numbers(one.old_strut);
    strut = strut.empty() ? old_strut : strut;
    if (attributes == nullptr || geometry == nullptr || place == nullptr) {
      continue;  // it has just been closed
    }
    window.is_viewable = attributes->map_state == XCB_MAP_STATE_VIEWABLE;
    window.is_hidden = has_state(Atom::_NET_WM_STATE_HIDDEN);
    window.is_shaded = has_state(Atom::_NET_WM_STATE_SHADED);
    window.is_full_screen = has_state(Atom::_NET_WM_STATE_FULLSCREEN);
    window.is_maximised = has_state(Atom::_NET_WM_STATE_MAXIMIZED_HORZ) &&
                          has_state(Atom::_NET_WM_STATE_MAXIMIZED_VERT);
    window.is_hidden = window.is_hidden && !window.is_shaded;
    const double left = place->dst_x;
    const double top = place->dst_y;
    window.client = {left, top, left + geometry->width, top + geometry->height};
    if (window.is_viewable) {
      AddStruts(strut, &struts);
    }
    const uint32_t current = desktops.empty() ? 0 : desktops[0];
    const bool is_active = !actives.empty() && actives[0] == one.window;
    const auto area = AreaOf(window, current, is_active);
    if (area && !connection_->IsOwn(one.window)) {
      windows.push_back(*area);
    }
  }
  const bool is_same = windows == windows_ && IsEqual(struts, struts_);
  windows_ = std::move(windows);
  struts_ = std::move(struts);
  return !is_same;
}

xcb_window_t WindowWatch::TopFrame() const {
  xcb_window_t window = top_;
  for (int i = 0; i < kAncestorsMax && window != XCB_WINDOW_NONE; i++) {
    const Reply<xcb_query_tree_reply_t> tree(xcb_query_tree_reply(
        connection_->get(), xcb_query_tree(connection_->get(), window), nullptr));
    if (tree == nullptr) {
      return XCB_WINDOW_NONE;
    }
    if (tree->parent == connection_->root()) {
      return window;
    }
    window = tree->parent;
  }
  return XCB_WINDOW_NONE;
}

// Lets the new ones report their changes. Windows of this program report to it already.
void WindowWatch::WatchNew(const std::vector<uint32_t>& clients) {
  const uint32_t mask = XCB_EVENT_MASK_PROPERTY_CHANGE | XCB_EVENT_MASK_STRUCTURE_NOTIFY;
  std::unordered_set<xcb_window_t> now;
  for (const xcb_window_t window : clients) {
    now.insert(window);
    if (!watched_.contains(window) && !connection_->IsOwn(window)) {
      xcb_change_window_attributes(connection_->get(), window, XCB_CW_EVENT_MASK, &mask);
    }
  }
  watched_ = std::move(now);
}

ManagedType WindowWatch::TypeOf(const std::vector<uint32_t>& types) const {
  const auto is = [&](uint32_t type, Atom name) { return type == connection_->atom(name); };
  for (const uint32_t type : types) {  // the best first
    if (is(type, Atom::_NET_WM_WINDOW_TYPE_DOCK)) {
      return ManagedType::kDock;
    }
    if (is(type, Atom::_NET_WM_WINDOW_TYPE_DESKTOP)) {
      return ManagedType::kDesktop;
    }
    for (const Atom passing :
         {Atom::_NET_WM_WINDOW_TYPE_SPLASH, Atom::_NET_WM_WINDOW_TYPE_MENU,
          Atom::_NET_WM_WINDOW_TYPE_DROPDOWN_MENU, Atom::_NET_WM_WINDOW_TYPE_POPUP_MENU,
          Atom::_NET_WM_WINDOW_TYPE_TOOLTIP, Atom::_NET_WM_WINDOW_TYPE_NOTIFICATION,
          Atom::_NET_WM_WINDOW_TYPE_COMBO, Atom::_NET_WM_WINDOW_TYPE_DND}) {
      if (is(type, passing)) {
        return ManagedType::kPassing;
      }
    }
  }
  return ManagedType::kNormal;
}

}  // namespace sprites
