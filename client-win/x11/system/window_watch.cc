#include "x11/system/window_watch.h"

#include <algorithm>
#include <optional>

#include "x11/system/event.h"

namespace sprites {

namespace {

// What the root window reports about all windows.
struct Desk {
  std::vector<xcb_window_t> clients;  // front to back, at most kWindowsMax
  xcb_window_t active = XCB_WINDOW_NONE;
  uint32_t desktop = 0;  // the virtual desktop that is shown
};

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

// What one window answers.
struct Answer {
  ManagedWindow window;
  std::vector<uint32_t> strut;
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

ManagedType TypeOf(const XConnection& connection, const std::vector<uint32_t>& types) {
  const auto is = [&](uint32_t type, Atom name) { return type == connection.atom(name); };
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

Desk AskForDesk(const XConnection& connection) {
  const xcb_window_t root = connection.root();
  const auto stacking = connection.AskFor(root, Atom::_NET_CLIENT_LIST_STACKING);
  const auto listed = connection.AskFor(root, Atom::_NET_CLIENT_LIST);
  const auto active = connection.AskFor(root, Atom::_NET_ACTIVE_WINDOW);
  const auto desktop = connection.AskFor(root, Atom::_NET_CURRENT_DESKTOP);
  Desk desk;
  desk.clients = connection.Numbers(stacking);
  const std::vector<uint32_t> unordered = connection.Numbers(listed);
  if (desk.clients.empty()) {
    desk.clients = unordered;
  }
  std::ranges::reverse(desk.clients);
  desk.clients.resize(std::min(desk.clients.size(), kWindowsMax));
  const std::vector<uint32_t> actives = connection.Numbers(active);
  const std::vector<uint32_t> desktops = connection.Numbers(desktop);
  desk.active = actives.empty() ? xcb_window_t{XCB_WINDOW_NONE} : actives[0];
  desk.desktop = desktops.empty() ? 0 : desktops[0];
  return desk;
}

Asked AskAbout(const XConnection& connection, xcb_window_t window) {
  xcb_connection_t* x = connection.get();
  return {window,
          xcb_get_window_attributes(x, window),
          xcb_get_geometry(x, window),
          xcb_translate_coordinates(x, window, connection.root(), 0, 0),
          connection.AskFor(window, Atom::_NET_WM_WINDOW_TYPE),
          connection.AskFor(window, Atom::_NET_WM_STATE),
          connection.AskFor(window, Atom::_NET_WM_DESKTOP),
          connection.AskFor(window, Atom::_NET_FRAME_EXTENTS),
          connection.AskFor(window, Atom::_GTK_FRAME_EXTENTS),
          connection.AskFor(window, Atom::_NET_WM_STRUT_PARTIAL),
          connection.AskFor(window, Atom::_NET_WM_STRUT)};
}

void ReadStates(const XConnection& connection, const std::vector<uint32_t>& states,
                ManagedWindow* window) {
  const auto has = [&](Atom name) {
    return std::ranges::find(states, connection.atom(name)) != states.end();
  };
  window->is_shaded = has(Atom::_NET_WM_STATE_SHADED);
  window->is_hidden = has(Atom::_NET_WM_STATE_HIDDEN) && !window->is_shaded;
  window->is_full_screen = has(Atom::_NET_WM_STATE_FULLSCREEN);
  window->is_maximised =
      has(Atom::_NET_WM_STATE_MAXIMIZED_HORZ) && has(Atom::_NET_WM_STATE_MAXIMIZED_VERT);
}

// Nothing when the window has just been closed. All answers are read even then: one that is not
// would stay in memory.
std::optional<Answer> ReadAnswer(const XConnection& connection, const Asked& asked) {
  xcb_connection_t* x = connection.get();
  const Reply<xcb_get_window_attributes_reply_t> attributes(
      xcb_get_window_attributes_reply(x, asked.attributes, nullptr));
  const Reply<xcb_get_geometry_reply_t> geometry(
      xcb_get_geometry_reply(x, asked.geometry, nullptr));
  const Reply<xcb_translate_coordinates_reply_t> place(
      xcb_translate_coordinates_reply(x, asked.place, nullptr));
  Answer answer;
  ManagedWindow& window = answer.window;
  window.id = asked.window;
  window.type = TypeOf(connection, connection.Numbers(asked.type));
  ReadStates(connection, connection.Numbers(asked.state), &window);
  const std::vector<uint32_t> desktop = connection.Numbers(asked.desktop);
  window.desktop = desktop.empty() ? kAllDesktops : desktop[0];
  window.frame = SidesOf(connection.Numbers(asked.frame));
  window.shadow = SidesOf(connection.Numbers(asked.shadow));
  answer.strut = connection.Numbers(asked.strut);
  const std::vector<uint32_t> old_strut = connection.Numbers(asked.old_strut);
  if (answer.strut.empty()) {
    answer.strut = old_strut;
  }
  if (attributes == nullptr || geometry == nullptr || place == nullptr) {
    return std::nullopt;
  }
  window.is_viewable = attributes->map_state == XCB_MAP_STATE_VIEWABLE;
  const double left = place->dst_x;
  const double top = place->dst_y;
  window.client = {left, top, left + geometry->width, top + geometry->height};
  return answer;
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
  const Desk desk = AskForDesk(*connection_);
  // The program's own dialogs stay above the sprites.
  const auto top = std::ranges::find_if(
      desk.clients, [this](xcb_window_t window) { return !connection_->IsOwn(window); });
  top_ = top == desk.clients.end() ? xcb_window_t{XCB_WINDOW_NONE} : *top;
  WatchNew(desk.clients);
  std::vector<Asked> asked;
  asked.reserve(desk.clients.size());
  for (const xcb_window_t window : desk.clients) {
    asked.push_back(AskAbout(*connection_, window));
  }
  std::vector<WindowArea> windows;
  std::vector<Strut> struts;
  for (const Asked& one : asked) {
    const auto answer = ReadAnswer(*connection_, one);
    if (!answer) {
      continue;
    }
    if (answer->window.is_viewable) {
      AddStruts(answer->strut, &struts);
    }
    const auto area = AreaOf(answer->window, desk.desktop, desk.active == one.window);
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

}  // namespace sprites
