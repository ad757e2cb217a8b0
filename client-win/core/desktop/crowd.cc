#include "core/desktop/crowd.h"

#include <algorithm>
#include <utility>

namespace sprites {

namespace {

constexpr double kDropFirst = 0.15;  // of the width: a sprite does not fall in at the very side
constexpr double kDropSpread = 0.7;  // of the width

}  // namespace

SpriteId Crowd::DropIn(const std::string& file, std::optional<Point> place) {
  if (IsFull()) {
    context_.ShowNotice(Text::kToastFull, Text::kToastFullText,
                        {std::to_string(context_.settings.sprite_limit)});
    return kNobody;
  }
  const SheetPointer sheet = look_.FindOnShelf(file);
  if (sheet == nullptr) {
    return kNobody;
  }
  const Description& description = sheet->description;
  const Screen& screen = simulation_.screen();
  const Monitor& primary = screen.monitors()[screen.PrimaryMonitor()];
  const Nature nature = look_.NatureFor(file, description.scale);
  const double x =
      primary.work.left + (kDropFirst + kDropSpread * context_.random()) * primary.work.Width();
  const double y = primary.work.top + nature.height * primary.scale;
  const Facing facing = context_.random() < 0.5 ? Facing::kLeft : Facing::kRight;
  context_.saves_now = true;
  context_.is_paused = false;
  return simulation_.Add({{file, description.name, description.scale, facing},
                          true,
                          nature,
                          place.value_or(Point{x, y})});
}

bool Crowd::PutAway(SpriteId id) {
  const Sprite* sprite = simulation_.Find(id);
  if (sprite == nullptr) {
    return false;
  }
  if (!sprite->from_shelf) {
    context_.ShowNotice(Text::kToastGuest, Text::kToastGuestText, {sprite->name});
    return false;
  }
  simulation_.Remove(id);
  context_.saves_now = true;
  return true;
}

void Crowd::Grab(SpriteId id, Point point, double ms) {
  if (id == kPeer && peers_) {
    id = DropIn(look_.shelf().front()->file, point);
    peers_ = false;
  }
  context_.is_paused = false;
  simulation_.Grab(id, point, ms);
}

void Crowd::WatchEmpty(bool is_home) {
  if (!simulation_.sprites().empty() || !is_home || look_.shelf().empty()) {
    last_seen_ms_ = context_.now_ms;
  }
  // It comes in where it is clicked.
  peers_ = context_.now_ms - last_seen_ms_ >= kEmptyMs && !context_.settings.click_through;
}

// The left half of it, at the right edge of the primary monitor.
void Crowd::DrawPeer(Scene* scene) {
  if (!peers_) {
    return;
  }
  const Screen& screen = simulation_.screen();
  Sprite sprite;
  sprite.id = kPeer;
  sprite.monitor = screen.PrimaryMonitor();
  const Monitor& monitor = screen.monitors()[sprite.monitor];
  const SheetPointer& sheet = look_.shelf().front();
  sprite.scale = sheet->description.scale;
  sprite.facing = Facing::kLeft;
  sprite.mode = Mode::kIdle;
  sprite.x = monitor.work.right;
  sprite.y = monitor.work.bottom;
  DrawnSprite drawn = Draw(sprite, sheet, monitor, context_.settings.scale,
                           context_.settings.whole_pixels, simulation_.now_ms());
  drawn.visible = look_.IsVisible(sprite);
  drawn.opacity = look_.Opacity();
  drawn.crop = Crop{0, 0, std::max(1, drawn.width / 2), drawn.height};
  scene->sprites.push_back(std::move(drawn));
}

void Crowd::Release(double ms) {
  const SpriteId id = simulation_.held();
  simulation_.Release(ms);
  const Sprite* sprite = simulation_.Find(id);
  if (sprite != nullptr && sprite->thrown) {
    context_.outbox.sounds.push_back(Sound::kThrow);
  }
}

void Crowd::Select(SpriteId id) {
  selected_ = id;
  keys_hint_ms_.reset();
  simulation_.StopSteering();
}

void Crowd::SelectByKeys(SpriteId id) {
  Select(id);
  if (id != kNobody) {
    context_.is_paused = false;
    keys_hint_ms_ = context_.now_ms;
  }
}

SpriteId Crowd::NextSprite(bool is_backwards) const {
  std::vector<SpriteId> ids;
  for (const Sprite& sprite : simulation_.sprites()) {
    if (look_.IsVisible(sprite)) {
      ids.push_back(sprite.id);
    }
  }
  std::ranges::sort(ids);
  if (ids.empty()) {
    return kNobody;
  }
  if (is_backwards) {
    const auto after = std::ranges::lower_bound(ids, selected_);
    return after == ids.begin() ? ids.back() : *(after - 1);
  }
  const auto after = std::ranges::upper_bound(ids, selected_);
  return after == ids.end() ? ids.front() : *after;
}

std::string Crowd::KeysHint() const {
  const Sprite* sprite = keys_hint_ms_ ? simulation_.Find(selected_) : nullptr;
  if (sprite == nullptr) {
    return "";
  }
  return context_.now_ms - *keys_hint_ms_ < kKeysHintMs
             ? context_.Said(Text::kBubbleKeys, {sprite->name})
             : sprite->name;
}

void Crowd::Press(Key key, bool is_down, bool with_control) {
  constexpr SteerKey kSteerKeys[] = {SteerKey::kLeft, SteerKey::kRight, SteerKey::kJump,
                                     SteerKey::kDrop, SteerKey::kJump};
  constexpr Edge kEdges[] = {Edge::kLeft, Edge::kRight, Edge::kTop, Edge::kBottom};
  if (selected_ == kNobody || simulation_.held() == selected_) {
    return;
  }
  if (is_down && with_control && key != Key::kSpace) {
    simulation_.StopSteering();  // a key that is still down would turn it round in the air
    ThrowTo(selected_, kEdges[static_cast<size_t>(key)]);
  } else {
    simulation_.Steer(selected_, kSteerKeys[static_cast<size_t>(key)], is_down);
  }
}

void Crowd::ThrowTo(SpriteId id, Edge edge) {
  context_.is_paused = false;
  simulation_.ThrowTo(id, edge);
  context_.outbox.sounds.push_back(Sound::kThrow);
}

bool Crowd::IsFull() const {
  const auto is_own = [this](const Sprite& sprite) { return !guests_.EdgeOf(sprite.id); };
  return std::ranges::count_if(simulation_.sprites(), is_own) >= context_.settings.sprite_limit;
}

void Crowd::BounceBack(const Departure& departure, const std::string& why) {
  simulation_.BounceBack(departure);
  context_.outbox.sounds.push_back(Sound::kReturn);
  context_.toasts.Add(ToastKind::kReturned,
                      context_.Said(Text::kToastReturned, {departure.sprite.name}), why,
                      context_.now_ms);
}

void Crowd::Remove(const std::vector<SpriteId>& ids) {
  for (const SpriteId id : ids) {
    simulation_.Remove(id);
  }
  context_.saves_now = true;
}

}  // namespace sprites
