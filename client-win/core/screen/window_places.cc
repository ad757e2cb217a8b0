#include "core/screen/window_places.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace sprites {

namespace {

bool IsMinimised(const OpenWindow& window) { return window.state == WindowState::kMinimised; }

bool IsInPlace(const OpenWindow& one, const OpenWindow& other) {
  if (IsMinimised(one) || IsMinimised(other)) {
    return one.normal == other.normal;
  }
  return one.state == other.state && one.shown == other.shown && one.normal == other.normal;
}

// What to remember of a window. `before` is what was remembered so far, or null.
OpenWindow Remembered(const OpenWindow& now, const OpenWindow* before) {
  // A minimised window keeps the position that it will come up in.
  const bool keeps = IsMinimised(now) && before != nullptr && before->owner == now.owner &&
                     before->normal == now.normal;
  return keeps ? *before : now;
}

Point MiddleOf(const Rect& rect) {
  return {(rect.left + rect.right) / 2, (rect.top + rect.bottom) / 2};
}

Rect Moved(const Rect& rect, double dx, double dy) {
  return {rect.left + dx, rect.top + dy, rect.right + dx, rect.bottom + dy};
}

bool GoesToOneOf(std::span<const Rect> monitors, const PutBack& way) {
  const bool has_shown = way.state != WindowState::kMinimised && way.shown != Rect{};
  const Rect& to = has_shown ? way.shown : way.normal;
  const Point middle = MiddleOf(to);
  return std::ranges::any_of(monitors,
                             [&](const Rect& monitor) { return monitor.Contains(middle); });
}

// How to put a window back; nothing when it is in place, or its user has changed it.
std::optional<PutBack> PutBackTo(const OpenWindow& now, const OpenWindow& place) {
  const bool is_changed = now.state != place.state && !IsMinimised(now) && !IsMinimised(place);
  if (is_changed || now.owner != place.owner || IsInPlace(now, place)) {
    return std::nullopt;
  }
  return PutBack{now.id, now.state, IsMinimised(place) ? Rect{} : place.shown, place.normal};
}

}  // namespace

void WindowPlaces::SeeMonitors(std::span<const Monitor> monitors, int64_t now_ms) {
  Shape shape;
  for (const Monitor& monitor : monitors) {
    shape.push_back({monitor.bounds, monitor.scale});
  }
  if (!shape.empty() && (layouts_.empty() || shape != Present().shape)) {
    EnterLayout(std::move(shape), now_ms);
  }
}

std::vector<PutBack> WindowPlaces::Update(std::span<const Monitor> monitors,
                                          std::span<const OpenWindow> windows,
                                          std::span<const Rect> covered, int64_t now_ms) {
  SeeMonitors(monitors, now_ms);
  if (monitors.empty() || now_ms - entered_ms_ < kLayoutSettleMs) {
    return {};
  }
  Watch(windows, now_ms);
  if (std::exchange(puts_all_back_, false) || (covered.empty() && !left_out_.empty())) {
    return PutAllBack(covered, now_ms);
  }
  std::vector<PutBack> again = Retry(covered, now_ms);
  if (covered.empty()) {
    Learn();
  }
  return again;
}

void WindowPlaces::EnterLayout(Shape shape, int64_t now_ms) {
  const Layout before = layouts_.empty() ? Layout{} : Present();
  const auto known = std::ranges::find(layouts_, shape, &Layout::shape);
  const bool is_known = known != layouts_.end();
  if (is_known) {
    std::rotate(known, known + 1, layouts_.end());
  } else {
    layouts_.push_back({std::move(shape), {}});
  }
  puts_all_back_ = KeepSteadyPlaces(before) || is_known;
  left_out_.clear();
  if (layouts_.size() > kLayoutsMax) {
    layouts_.erase(layouts_.begin());
  }
  watched_.clear();
  entered_ms_ = now_ms;
  is_settled_ = false;
}

// Gives the present layout the places that windows had in the one before, on monitors that differ
// at most in their position; a change of one monitor's resolution moves those beside it. What this
// layout remembers of a window stays. Returns whether there were such places.
bool WindowPlaces::KeepSteadyPlaces(const Layout& before) {
  const Shape& now = Present().shape;
  if (before.shape.size() != now.size()) {
    return false;  // which monitor is which is not known
  }
  bool keeps = false;
  for (size_t i = 0; i < now.size(); i++) {
    const Rect& old = before.shape[i].bounds;
    const bool is_steady = before.shape[i].scale == now[i].scale &&
                           old.Width() == now[i].bounds.Width() &&
                           old.Height() == now[i].bounds.Height();
    if (!is_steady) {
      continue;
    }
    const double dx = now[i].bounds.left - old.left;
    const double dy = now[i].bounds.top - old.top;
    for (auto [id, place] : before.places) {
      if (old.Contains(MiddleOf(IsMinimised(place) ? place.normal : place.shown))) {
        place.shown = Moved(place.shown, dx, dy);
        place.normal = Moved(place.normal, dx, dy);
        keeps = Present().places.try_emplace(id, place).second || keeps;
      }
    }
  }
  return keeps;
}

void WindowPlaces::Watch(std::span<const OpenWindow> windows, int64_t now_ms) {
  std::unordered_map<uint64_t, Watched> before = std::exchange(watched_, {});
  for (const OpenWindow& window : windows.first(std::min(windows.size(), kPlacesMax))) {
    const auto found = before.find(window.id);
    const bool is_new = found == before.end() || found->second.now.owner != window.owner;
    Watched watched = is_new ? Watched{.now = window, .since_ms = now_ms} : found->second;
    if (!is_settled_) {
      // This is how the change of layout left it.
      watched.held = window;
      watched.is_held = true;
    }
    if (!IsInPlace(watched.now, window)) {
      watched.since_ms = now_ms;
    }
    watched.now = window;
    if (now_ms - watched.since_ms >= kHeldMs) {
      Hold(&watched);
    }
    watched_[window.id] = watched;
  }
  is_settled_ = true;
}

// A window has kept its position for long enough to count. If its user moved it, what other layouts
// remember of it is forgotten.
void WindowPlaces::Hold(Watched* watched) {
  const bool was_moved = watched->is_held && !IsInPlace(watched->held, watched->now);
  if (was_moved && watched->tries == 0) {
    for (Layout& layout : layouts_) {
      layout.places.erase(watched->now.id);
    }
  }
  watched->held = Remembered(watched->now, watched->is_held ? &watched->held : nullptr);
  watched->is_held = true;
}

std::vector<PutBack> WindowPlaces::PutAllBack(std::span<const Rect> covered, int64_t now_ms) {
  std::vector<PutBack> back;
  const std::vector<Rect> only = std::exchange(left_out_, {covered.begin(), covered.end()});
  for (auto& [id, watched] : watched_) {
    const auto place = Present().places.find(id);
    if (place == Present().places.end()) {
      continue;
    }
    const auto way = PutBackTo(watched.now, place->second);
    if (way && !GoesToOneOf(covered, *way) && (only.empty() || GoesToOneOf(only, *way))) {
      back.push_back(*way);
      watched.tries = 1;
      watched.tried_ms = now_ms;
    }
  }
  std::ranges::sort(back, {}, &PutBack::id);
  return back;
}

// Puts windows back once more that have not arrived. After the last try they stay where they are.
std::vector<PutBack> WindowPlaces::Retry(std::span<const Rect> covered, int64_t now_ms) {
  std::vector<PutBack> back;
  for (auto& [id, watched] : watched_) {
    if (watched.tries == 0 || now_ms - watched.tried_ms < kLayoutSettleMs) {
      continue;
    }
    const auto place = Present().places.find(id);
    const auto way =
        place == Present().places.end() ? std::nullopt : PutBackTo(watched.now, place->second);
    if (way && GoesToOneOf(covered, *way)) {
      continue;
    }
    if (!way || watched.tries == kPutBackTries) {
      watched.tries = 0;
      watched.held = watched.now;
      watched.since_ms = now_ms;
      continue;
    }
    back.push_back(*way);
    watched.tries++;
    watched.tried_ms = now_ms;
  }
  std::ranges::sort(back, {}, &PutBack::id);
  return back;
}

void WindowPlaces::Learn() {
  Places& places = Present().places;
  for (const auto& [id, watched] : watched_) {
    if (watched.tries > 0 || !watched.is_held || !IsInPlace(watched.held, watched.now)) {
      continue;
    }
    const auto before = places.find(id);
    places[id] = Remembered(watched.held, before == places.end() ? nullptr : &before->second);
  }
  if (places.size() > kPlacesMax) {
    std::erase_if(places, [this](const auto& place) { return !watched_.contains(place.first); });
  }
}

}  // namespace sprites
