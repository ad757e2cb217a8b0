#include "core/motion/simulation.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sprites {

namespace {

constexpr double kOnFloorPx = 2;  // px above the floor within which a foot stands on it

struct Size {
  double width;
  double height;
};

// The hitbox in px.
Size SizeOf(const Sprite& sprite, double scale) {
  return {sprite.nature.width * scale, sprite.nature.height * scale};
}

double SignOf(double value) { return value < 0 ? -1 : value > 0 ? 1 : 0; }

// Rounds halves up, as JavaScript does.
double Rounded(double value) { return std::floor(value + 0.5); }

}  // namespace

const Sprite* Simulation::Find(SpriteId id) const {
  const auto found = std::ranges::find(sprites_, id, &Sprite::id);
  return found == sprites_.end() ? nullptr : &*found;
}

Sprite* Simulation::FindMutable(SpriteId id) {
  return const_cast<Sprite*>(std::as_const(*this).Find(id));
}

std::vector<Departure> Simulation::Step(double now_ms, const Random& random) {
  const double steps = std::floor((now_ms - now_ms_) / kStepMs);
  if (steps > kStepsPerCallMax) {
    // After a pause the sprites go on from where they were: nobody saw the time between.
    now_ms_ = now_ms - kStepsPerCallMax * kStepMs;
  }
  std::vector<Departure> departures;
  for (int i = static_cast<int>(std::min(steps, double{kStepsPerCallMax})); i > 0; i--) {
    now_ms_ += kStepMs;
    for (Sprite& sprite : sprites_) {
      Move(&sprite, kStepMs / 1000, random);
    }
    // Before edges and walls, because a collision can push a sprite beyond them.
    Collide();
    const size_t before = departures.size();
    for (Sprite& sprite : sprites_) {
      const Room room = RoomOf(sprite);
      if (const auto edge = CrossedEdge(sprite, room)) {
        departures.push_back(Depart(sprite, *edge));
      } else if (sprite.mode != Mode::kDrag) {
        KeepInside(&sprite, room, random);
      }
    }
    // Only now, because removing one moves the others in sprites_.
    for (size_t gone = before; gone < departures.size(); gone++) {
      Remove(departures[gone].sprite.id);
    }
  }
  return departures;
}

void Simulation::SetScreen(Screen screen) {
  if (screen == screen_) {
    return;
  }
  screen_ = std::move(screen);
  for (Sprite& sprite : sprites_) {
    if (sprite.id == held()) {
      // It stays in the hand, wherever its monitor went.
      sprite.monitor = screen_.NearestMonitor(held_->trail.back().point);
      FollowPointer(&sprite);
      continue;
    }
    sprite.monitor = screen_.NearestMonitor({sprite.x, sprite.y});
    const Room room = RoomOf(sprite);
    const Size size = SizeOf(sprite, room.scale);
    sprite.x = std::clamp(sprite.x, room.walls.left, room.walls.right);
    // One that is taller than its room stands on the floor.
    sprite.y = std::clamp(sprite.y, std::min(room.walls.top + size.height, room.walls.bottom),
                          room.walls.bottom);
  }
}

void Simulation::SetNature(SpriteId id, const Nature& nature) {
  if (Sprite* sprite = FindMutable(id)) {
    sprite->nature = nature;
  }
}

SpriteId Simulation::Add(const NewSprite& added) {
  Sprite sprite{added};
  sprite.from_shelf = added.from_shelf;
  sprite.nature = added.nature;
  sprite.x = added.place.x;
  sprite.y = added.place.y;
  sprite.since_ms = sprite.next_ms = sprite.touched_ms = now_ms_;
  sprite.id = next_id_++;
  sprite.monitor = screen_.NearestMonitor({sprite.x, sprite.y});
  sprites_.push_back(std::move(sprite));
  return sprites_.back().id;
}

void Simulation::Remove(SpriteId id) {
  std::erase_if(sprites_, [id](const Sprite& sprite) { return sprite.id == id; });
  if (held() == id) {
    held_.reset();
  }
  if (steered() == id) {
    steered_.reset();
  }
  if (pointer_ && pointer_->over == id) {
    pointer_.reset();
  }
}

SpriteId Simulation::Enter(Sprite sprite, const Entrance& entrance) {
  const Doorway door = screen_.EnterBy(entrance.edge, entrance.at);
  sprite.monitor = door.monitor;
  const Room room = screen_.RoomAt(door.point, door.monitor);
  const Size size = SizeOf(sprite, room.scale);
  const auto along = [](double place, double low, double high, double side) {
    return std::min(std::max(place, low + side / 2), high - side / 2);
  };
  sprite.vx = LimitedSpeed(entrance.vx);
  sprite.vy = LimitedSpeed(entrance.vy);
  if (IsSide(entrance.edge)) {
    // It begins just outside, so that it is seen coming in, and fast enough not to stop there.
    const double inwards = entrance.edge == Edge::kLeft ? 1 : -1;
    sprite.x = door.point.x - inwards * size.width / 2;
    sprite.y =
        along(door.point.y, room.edges.top, room.edges.bottom, size.height) + size.height / 2;
    sprite.vx = inwards * std::max(inwards * sprite.vx, kEntranceSpeedMin);
  } else {
    const bool from_above = entrance.edge == Edge::kTop;
    sprite.x = along(door.point.x, room.edges.left, room.edges.right, size.width);
    sprite.y = from_above ? door.point.y : door.point.y + size.height;
    // Coming from below, it must rise above the floor far enough to be seen.
    const double height = kEntranceHeights * sprite.nature.height +
                          (room.edges.bottom - room.walls.bottom) / room.scale;
    const double rise = std::max(kEntranceSpeedMin, std::sqrt(2 * sprite.nature.gravity * height));
    sprite.vy = from_above ? std::max(sprite.vy, 0.0) : std::min(sprite.vy, -rise);
  }
  sprite.facing = sprite.vx < 0 ? Facing::kLeft : Facing::kRight;
  sprite.thrown = false;  // it lands before it can cross again
  sprite.through_floor = false;
  sprite.tumbles = false;
  sprite.squashed = false;
  sprite.arriving = true;
  sprite.greets = false;
  sprite.touched_ms = now_ms_;
  const int64_t thrown = std::max<int64_t>(1, sprite.journey.hops);
  CountThrows(&sprite, std::max(ThrowsOf(sprite, now_ms_), thrown), now_ms_);
  sprite.came_by.reset();
  if (IsSide(entrance.edge) && !entrance.is_home) {
    sprite.came_by = entrance.edge == Edge::kLeft ? Facing::kLeft : Facing::kRight;
  }
  sprite.is_home = entrance.is_home;
  SetMode(&sprite, Mode::kFall, now_ms_);
  if (sprite.id == kNobody) {
    sprite.id = next_id_++;
  }
  const SpriteId id = sprite.id;
  Put(std::move(sprite));
  return id;
}

SpriteId Simulation::BounceBack(const Departure& departure) {
  const double across = IsSide(departure.edge) ? -kReturnedSpeed : kReturnedSpeed;
  Entrance back = departure;
  back.vx *= across;
  back.vy *= -across;
  const SpriteId id = Enter(departure.sprite, back);
  Sprite* sprite = FindMutable(id);
  sprite->arriving = false;  // a sprite that never went away is not greeted
  sprite->came_by = departure.sprite.came_by;
  return id;
}

void Simulation::Grab(SpriteId id, Point point, double ms) {
  const auto found = std::ranges::find(sprites_, id, &Sprite::id);
  if (found == sprites_.end()) {
    return;
  }
  std::rotate(found, found + 1, sprites_.end());
  Sprite& sprite = sprites_.back();
  const double scale = screen_.monitors()[sprite.monitor].scale;
  held_ = Hold{id, {(sprite.x - point.x) / scale, (sprite.y - point.y) / scale}, {{point, ms}}};
  sprite.thrown = false;
  sprite.through_floor = false;
  sprite.arriving = false;
  sprite.greets = false;
  sprite.reels = 0;
  sprite.touched_ms = now_ms_;
  pointer_.reset();
  SetMode(&sprite, Mode::kDrag, now_ms_);
}

void Simulation::Drag(Point point, double ms) {
  Sprite* sprite = held_ ? FindMutable(held_->id) : nullptr;
  if (sprite == nullptr) {
    return;
  }
  auto& trail = held_->trail;
  trail.push_back({point, ms});
  // The last two points stay, however old they are: they still tell which way it moved.
  const auto recent =
      std::ranges::find_if(trail.begin(), trail.end() - 2,
                           [ms](const PointerPoint& p) { return ms - p.ms <= kTrailMs; });
  trail.erase(trail.begin(), recent);
  FollowPointer(sprite);
  const double scale = screen_.monitors()[sprite->monitor].scale;
  const double moved = (point.x - trail.front().point.x) / scale;
  if (std::abs(moved) > kFacingDragDip) {
    sprite->facing = moved < 0 ? Facing::kLeft : Facing::kRight;
  }
}

// Moves the held sprite so that the same part of it stays below the pointer. The pointer decides
// which monitor it is on: its middle would move with its size, and could go back and forth.
void Simulation::FollowPointer(Sprite* sprite) {
  const Point point = held_->trail.back().point;
  sprite->monitor = screen_.MonitorAt(point, sprite->monitor);
  const double scale = screen_.monitors()[sprite->monitor].scale;
  sprite->x = point.x + held_->offset.x * scale;
  sprite->y = point.y + held_->offset.y * scale;
}

void Simulation::Release(double ms) {
  Sprite* sprite = held_ ? FindMutable(held_->id) : nullptr;
  if (sprite == nullptr) {
    return;
  }
  const auto trail = std::move(held_->trail);
  held_.reset();
  const auto first =
      std::ranges::find_if(trail, [ms](const PointerPoint& p) { return ms - p.ms <= kTrailMs; });
  const double seconds = first == trail.end() ? 0 : (ms - first->ms) / 1000;
  if (seconds <= 0) {
    Launch(sprite, 0, 0);  // the pointer rested before it let go
    return;
  }
  const double dip = seconds * screen_.monitors()[sprite->monitor].scale;
  const Point last = trail.back().point;
  Launch(sprite, (last.x - first->point.x) / dip, (last.y - first->point.y) / dip);
}

void Simulation::MovePointer(Point point) {
  const SpriteId id = TopmostAt(point);
  const bool goes_on =
      pointer_ && id != kNobody && pointer_->over == id && now_ms_ - pointer_->ms <= kPetPauseMs;
  double stroked = 0;
  if (goes_on) {
    const Point before = pointer_->point;
    stroked = pointer_->stroked +
              std::hypot(point.x - before.x, point.y - before.y) / RoomOf(*Find(id)).scale;
  }
  pointer_ = Pointer{point, now_ms_, id, stroked};
  Sprite* over = id == kNobody ? nullptr : FindMutable(id);
  if (over == nullptr || stroked < kPetDip || !RulesOf(over->mode).on_feet || steered() == id) {
    return;
  }
  SetMode(over, Mode::kPet, now_ms_);
  over->touched_ms = now_ms_;
  over->next_ms = now_ms_ + kPetMs;
}

void Simulation::ThrowTo(SpriteId id, Edge edge) {
  Sprite* sprite = FindMutable(id);
  if (sprite == nullptr || sprite->mode == Mode::kDrag) {
    return;
  }
  const Room room = RoomOf(*sprite);
  const double gravity = sprite->nature.gravity;
  if (edge == Edge::kTop) {
    // Fast enough to rise to the edge, to pass it with its whole height, and then still to cross.
    const double way = std::max(0.0, (sprite->y - room.edges.top) / room.scale);
    Launch(sprite, 0,
           -(std::sqrt(2 * gravity * way) + kCrossingSpeedMin +
             std::sqrt(gravity * sprite->nature.height)));
  } else if (edge == Edge::kBottom) {
    Launch(sprite, 0, kFloorThrowSpeedMin);
  } else {
    // Faster from farther away, because it must not land before it reaches the edge.
    const bool to_left = edge == Edge::kLeft;
    const double way =
        (to_left ? sprite->x - room.edges.left : room.edges.right - sprite->x) / room.scale;
    Launch(sprite, (to_left ? -1 : 1) * (kThrownSpeed + kThrownPerDip * way), -kThrownRise);
  }
}

void Simulation::Speak(SpriteId id) {
  Sprite* sprite = FindMutable(id);
  if (sprite == nullptr) {
    return;
  }
  sprite->touched_ms = now_ms_;
  if (sprite->mode == Mode::kSleep) {
    SetMode(sprite, Mode::kIdle, now_ms_);
    sprite->next_ms = now_ms_ + kPauseMsMin;
  }
  if (RulesOf(sprite->mode).at_leisure && !calm_ && steered() != id) {
    HopOnSpot(sprite, now_ms_);
  }
}

void Simulation::Wave(SpriteId id, Facing facing) {
  Sprite* sprite = FindMutable(id);
  if (sprite != nullptr && RulesOf(sprite->mode).on_feet && !calm_) {
    sprite->facing = facing;
    sprite->touched_ms = now_ms_;
    SetMode(sprite, Mode::kWave, now_ms_);
    sprite->next_ms = now_ms_ + kWaveMs;
  }
}

void Simulation::Steer(SpriteId id, SteerKey key, bool down) {
  Sprite* sprite = FindMutable(id);
  if (sprite == nullptr) {
    return;
  }
  if (steered() != id) {
    steered_ = Steering{id};
  }
  switch (key) {
    case SteerKey::kLeft:
      steered_->left = down;
      break;
    case SteerKey::kRight:
      steered_->right = down;
      break;
    case SteerKey::kJump:
      steered_->jump = down;
      break;
    case SteerKey::kDrop:
      break;
  }
  sprite->touched_ms = now_ms_;
  sprite->reels = 0;
  sprite->next_ms = now_ms_ + kSteerMs;
  if (sprite->mode == Mode::kSleep) {
    SetMode(sprite, Mode::kIdle, now_ms_);
  }
  if (sprite->mode == Mode::kHang && down && (key == SteerKey::kJump || key == SteerKey::kDrop)) {
    LetGo(sprite, key == SteerKey::kJump, now_ms_);
    return;
  }
  const bool on_feet = RulesOf(sprite->mode).on_feet;
  if (key == SteerKey::kJump && down && on_feet) {
    Jump(sprite, now_ms_);  // now, because the key may be up again before the next step
  }
  const Room room = RoomOf(*sprite);
  const bool on_floor = std::abs(sprite->y - room.walls.bottom) < kSupportedPx;
  if (key == SteerKey::kDrop && down && on_feet && !on_floor) {
    sprite->y += kDropDip * room.scale;
    SetMode(sprite, Mode::kFall, now_ms_);
  }
}

void Simulation::Put(Sprite sprite) {
  next_id_ = std::max(next_id_, sprite.id + 1);
  if (Sprite* before = FindMutable(sprite.id)) {
    *before = std::move(sprite);
  } else {
    sprites_.push_back(std::move(sprite));
  }
}

const Simulation::Steering* Simulation::SteeringOf(const Sprite& sprite) const {
  return steered_ && steered_->id == sprite.id ? &*steered_ : nullptr;
}

Room Simulation::RoomOf(const Sprite& sprite) const {
  // Its height in pixels depends on its monitor: use the one it was last on.
  const double scale =
      screen_.monitors()[std::min(sprite.monitor, screen_.monitors().size() - 1)].scale;
  const Point middle{sprite.x, sprite.y - sprite.nature.height * scale / 2};
  return screen_.RoomAt(middle, screen_.MonitorAt(middle, sprite.monitor));
}

void Simulation::Move(Sprite* sprite, double seconds, const Random& random) {
  if (sprite->mode == Mode::kDrag) {
    return;
  }
  const Room before = RoomOf(*sprite);
  const Point middle{sprite->x, sprite->y - sprite->nature.height * before.scale / 2};
  sprite->monitor = screen_.MonitorAt(middle, sprite->monitor);
  const Room room = RoomOf(*sprite);
  switch (sprite->mode) {
    case Mode::kFall:
      Fly(sprite, room, seconds);
      return;
    case Mode::kClimb:
      Climb(sprite, room, seconds);
      return;
    case Mode::kHang:
      Hang(sprite, room, random);
      return;
    default:
      Walk(sprite, room, seconds, random);
  }
}

void Simulation::Fly(Sprite* sprite, const Room& room, double seconds) {
  if (const Steering* keys = SteeringOf(*sprite)) {
    const int push = int{keys->right} - int{keys->left};
    // Keys make it as fast as it runs; one that flies faster that way keeps its speed.
    const double limit = sprite->nature.walk_speed * kRunFactor;
    if (push != 0 && sprite->vx * push < limit) {
      sprite->vx += push * kAirControl * seconds;
    }
    if (push != 0) {
      sprite->facing = push < 0 ? Facing::kLeft : Facing::kRight;
    }
  }
  const double before = sprite->y;
  sprite->vy = LimitedSpeed(sprite->vy + sprite->nature.gravity * seconds);
  sprite->x += sprite->vx * seconds * room.scale;
  sprite->y += sprite->vy * seconds * room.scale;
  if (sprite->vy < 0 || sprite->through_floor) {
    return;  // on its way up it passes through ledges, to land on them from above
  }
  if (const auto ground = SurfaceBetween(*sprite, room, before, sprite->y)) {
    TouchDown(sprite, *ground);
  }
}

void Simulation::Climb(Sprite* sprite, const Room& room, double seconds) {
  sprite->y -= sprite->nature.walk_speed * kClimbSpeed * seconds * room.scale;
  const bool at_ceiling = sprite->y - sprite->nature.height * room.scale < room.walls.top;
  if (now_ms_ >= sprite->next_ms || at_ceiling) {
    JumpOffWall(sprite, now_ms_);
  }
}

void Simulation::TouchDown(Sprite* sprite, double ground) {
  const double impact = sprite->vy;
  // A hop ends as fast as it began, except for one step of gravity.
  const double hop =
      sprite->nature.jump_speed * kThumpFactor + sprite->nature.gravity * kStepMs / 1000;
  const bool is_hard = impact > std::max(kHardLandingSpeed, hop);
  sprite->y = ground;
  if (impact * sprite->nature.bounce > kBounceSpeedMin) {
    sprite->vy = -impact * sprite->nature.bounce;
    sprite->vx *= kBounceKeptX;
    sprite->bounced_hard = sprite->bounced_hard || is_hard;
    if (impact >= kTumbleSpeedMin && (sprite->thrown || sprite->arriving)) {
      sprite->tumbles = true;
    }
    if (impact >= kSquashSpeedMin) {
      sprite->squashed = true;
    }
    return;
  }
  sprite->vy = 0;
  sprite->squashed = sprite->squashed || impact >= kSquashSpeedMin || sprite->tumbles;
  sprite->tumbles = false;
  sprite->landed_hard = std::exchange(sprite->bounced_hard, false) || is_hard || sprite->thrown;
  const bool is_felt = impact > kHardLandingSpeed || sprite->thrown;
  SetMode(sprite, is_felt ? Mode::kLand : Mode::kIdle, now_ms_);
  sprite->next_ms = now_ms_ + kLandingMs;
  if (sprite->arriving) {
    Welcome(sprite);
  }
}

// The nearest sprites wave at one that has arrived.
void Simulation::Welcome(Sprite* arrival) {
  arrival->arriving = false;
  if (calm_) {
    return;
  }
  const double scale = RoomOf(*arrival).scale;
  std::vector<std::pair<double, SpriteId>> near;  // dip
  for (const Sprite& one : sprites_) {
    const double away = std::hypot(one.x - arrival->x, one.y - arrival->y) / scale;
    if (one.id != arrival->id && RulesOf(one.mode).at_leisure && steered() != one.id &&
        away <= kGreetDip) {
      near.emplace_back(away, one.id);
    }
  }
  std::ranges::sort(near);
  near.resize(std::min(near.size(), size_t{kGreetersMax}));
  for (const auto& [away, id] : near) {
    Sprite* greeter = FindMutable(id);
    SetMode(greeter, Mode::kWave, now_ms_);
    greeter->facing = arrival->x < greeter->x ? Facing::kLeft : Facing::kRight;
    greeter->next_ms = now_ms_ + kWaveMs;
    greeter->touched_ms = now_ms_;
  }
  if (near.empty() && !arrival->is_home) {
    return;
  }
  const Rect walls = RoomOf(*arrival).walls;
  const double to = near.empty() ? (walls.left + walls.right) / 2 : Find(near.front().second)->x;
  arrival->facing = to < arrival->x ? Facing::kLeft : Facing::kRight;
  arrival->greets = true;
}

// A sprite that hangs from the end of a ledge does not move until its time is over or the ledge is
// gone.
void Simulation::Hang(Sprite* sprite, const Room& room, const Random& random) {
  sprite->vx = 0;
  const Size size = SizeOf(*sprite, room.scale);
  const double hold = sprite->y - size.height;  // its hands are at its top
  const double reach = size.width / 2;
  const bool holds = std::ranges::any_of(ledges_, [&](const Ledge& ledge) {
    return std::abs(hold - ledge.y) < kSupportedPx && sprite->x >= ledge.left - reach &&
           sprite->x <= ledge.right + reach;
  });
  if (!holds) {
    LetGo(sprite, false, now_ms_);
  } else if (now_ms_ >= sprite->next_ms) {
    LetGo(sprite, random() < kPullUpChance, now_ms_);
  }
}

// Moves a sprite on its feet: it slides to a halt, walks, or decides what to do next.
void Simulation::Walk(Sprite* sprite, const Room& room, double seconds, const Random& random) {
  if (!IsSupported({sprite->x, sprite->y}, room)) {
    SetMode(sprite, Mode::kFall, now_ms_);
    return;
  }
  if (std::abs(sprite->vx) < kCrossingSpeedMin) {
    sprite->thrown = false;  // the throw is over: from now on it turns round at an edge
  }
  const Steering* keys = SteeringOf(*sprite);
  const int push = keys == nullptr ? 0 : int{keys->right} - int{keys->left};
  if (keys != nullptr && keys->jump) {
    Jump(sprite, now_ms_);
    return;
  }
  if (push != 0) {
    sprite->facing = push < 0 ? Facing::kLeft : Facing::kRight;
    sprite->vx = push * sprite->nature.walk_speed * kRunFactor;
    SetMode(sprite, Mode::kWalk, now_ms_);
    sprite->next_ms = now_ms_ + kSteerMs;
  } else if (keys != nullptr && sprite->mode == Mode::kWalk) {
    SetMode(sprite, Mode::kIdle, now_ms_);
    sprite->next_ms = now_ms_ + kSteerMs;
  } else if (sprite->mode == Mode::kWalk) {
    if (sprite->chases != kNobody && !RunAfter(sprite, room)) {
      return;
    }
    sprite->vx =
        (sprite->facing == Facing::kLeft ? -1 : 1) * sprite->nature.walk_speed * sprite->pace;
  } else {
    const double slower = std::abs(sprite->vx) - kFriction * seconds;
    sprite->vx = slower > 0 ? SignOf(sprite->vx) * slower : 0;
  }
  if (keys == nullptr && sprite->mode == Mode::kWalk &&
      PausesAtEnd(sprite, room, seconds, random)) {
    return;
  }
  sprite->x += sprite->vx * seconds * room.scale;
  if (keys == nullptr) {
    WatchPointer(sprite, room);
  }
  if (now_ms_ >= sprite->next_ms && push == 0 && std::abs(sprite->vx) < kCrossingSpeedMin) {
    ChooseNext(sprite, room, random);
  }
}

// Whether a walking sprite stops at the end of its ledge: it sits down there, or hangs from it.
bool Simulation::PausesAtEnd(Sprite* sprite, const Room& room, double seconds,
                             const Random& random) {
  const Point next{sprite->x + sprite->vx * seconds * room.scale, sprite->y};
  if (calm_ || sprite->reels > 0 || IsSupported(next, room)) {
    return false;
  }
  const double chosen = random();
  const double height = sprite->nature.height * room.scale;
  const bool is_free = sprite->y + height < room.walls.bottom;  // room below the ledge
  if (chosen < kSitChance) {
    Sit(sprite, random);
  } else if (chosen < kSitChance + kHangChance && is_free) {
    sprite->y += height;
    SetMode(sprite, Mode::kHang, now_ms_);
    sprite->next_ms = now_ms_ + kHangMs;
  } else {
    return false;
  }
  sprite->vx = 0;
  return true;
}

void Simulation::Sit(Sprite* sprite, const Random& random) {
  SetMode(sprite, Mode::kSit, now_ms_);
  sprite->next_ms = now_ms_ + kSitMsMin + kSitMsSpread * random();
}

// Turns an idle sprite to a pointer that moves nearby, and lets it look there.
void Simulation::WatchPointer(Sprite* sprite, const Room& room) {
  if (sprite->mode != Mode::kIdle && sprite->mode != Mode::kLook) {
    return;
  }
  bool is_near = false;
  if (!calm_ && pointer_ && now_ms_ - pointer_->ms <= kLookMs) {
    const double middle = sprite->y - sprite->nature.height * room.scale / 2;
    const Point at = pointer_->point;
    is_near = std::hypot(at.x - sprite->x, at.y - middle) <= kLookDip * room.scale;
    if (is_near && std::abs(at.x - sprite->x) > kLookTurnDip * room.scale) {
      sprite->facing = at.x < sprite->x ? Facing::kLeft : Facing::kRight;
    }
  }
  SetMode(sprite, is_near ? Mode::kLook : Mode::kIdle, now_ms_);
}

// Turns a sprite towards the one that it chases. Returns false when it has caught that one.
bool Simulation::RunAfter(Sprite* sprite, const Room& room) {
  Sprite* chased = FindMutable(sprite->chases);
  if (chased == nullptr || !RulesOf(chased->mode).on_feet) {
    sprite->chases = kNobody;
    sprite->pace = 1;
    return true;
  }
  sprite->facing = chased->x < sprite->x ? Facing::kLeft : Facing::kRight;
  const double widths = (chased->nature.width + sprite->nature.width) / 2;
  const double gap = std::abs(chased->x - sprite->x) / room.scale - widths;
  if (gap > kCatchDip) {
    return true;
  }
  for (Sprite* one : {sprite, chased}) {
    SetMode(one, Mode::kWave, now_ms_);
    one->next_ms = now_ms_ + kWaveMs;
  }
  chased->facing = sprite->x < chased->x ? Facing::kLeft : Facing::kRight;
  return false;
}

// Starts a chase: the nearest sprite on the same ground runs away, and this one runs after it.
// Returns false when no chase starts.
bool Simulation::Chase(Sprite* sprite, const Room& room, const Random& random) {
  Sprite* nearest = nullptr;
  double nearest_dip = kVisitDip;
  for (Sprite& one : sprites_) {
    const double dip = std::abs(one.x - sprite->x) / room.scale;
    const bool is_there = one.id != sprite->id && RulesOf(one.mode).at_leisure &&
                          std::abs(one.y - sprite->y) < kSupportedPx;
    if (is_there && steered() != one.id && dip <= nearest_dip) {
      nearest = &one;
      nearest_dip = dip;
    }
  }
  if (nearest == nullptr) {
    return false;
  }
  const bool is_visit = nearest_dip > kChaseDip;
  const double chase_chance = IsBold(*sprite, now_ms_) ? kBoldChaseChance : kChaseChance;
  if (random() >= (is_visit ? kVisitChance : chase_chance)) {
    return false;
  }
  const Facing facing = nearest->x < sprite->x ? Facing::kLeft : Facing::kRight;
  if (is_visit) {
    sprite->facing = facing;
    StartWalk(sprite, now_ms_, kVisitMs);
    sprite->chases = nearest->id;
    return true;
  }
  for (Sprite* one : {sprite, nearest}) {
    one->facing = facing;
    StartWalk(one, now_ms_, kChaseMs);
  }
  sprite->pace = kChasePace;
  sprite->chases = nearest->id;
  nearest->pace = kFleePace;
  return true;
}

// Lets a guest that has long been alone walk to the edge by which it came. Returns false when it
// does not.
bool Simulation::Long(Sprite* sprite, const Random& random) {
  const bool is_lonely = sprite->came_by && now_ms_ - sprite->touched_ms > kLonelyMs;
  if (!is_lonely || random() >= kLongingChance) {
    return false;
  }
  sprite->facing = *sprite->came_by;
  StartWalk(sprite, now_ms_, kVisitMs);
  sprite->longs = true;
  return true;
}

// Lets a bored sprite fall asleep. In the evening it yawns first, and goes to the nearer corner of
// its floor.
void Simulation::FallAsleep(Sprite* sprite, const Room& room, const Random& random) {
  const bool is_gradual = !calm_ && IsEvening();
  if (is_gradual && sprite->mode != Mode::kYawn && !sprite->sleepy) {
    SetMode(sprite, Mode::kYawn, now_ms_);
    sprite->next_ms = now_ms_ + kYawnMs;
    return;
  }
  const bool on_floor = std::abs(sprite->y - room.walls.bottom) < kSupportedPx;
  if (is_gradual && sprite->mode == Mode::kYawn && on_floor) {
    const double middle = (room.walls.left + room.walls.right) / 2;
    sprite->facing = sprite->x < middle ? Facing::kLeft : Facing::kRight;
    StartWalk(sprite, now_ms_, kNapWalkMsMax);
    sprite->sleepy = true;
    return;
  }
  StartSleep(sprite, now_ms_, random);
}

// Decides what a sprite on its feet does next, where that depends on what is around it.
void Simulation::ChooseNext(Sprite* sprite, const Room& room, const Random& random) {
  const Mode mode = sprite->mode;
  if (ComeRound(sprite, now_ms_, calm_)) {
    return;
  }
  const double bored_ms = IsEvening() ? kEveningBoredMs : kBoredMs;
  const bool is_bored = mode != Mode::kSleep && now_ms_ - sprite->touched_ms > bored_ms;
  if (is_bored) {
    FallAsleep(sprite, room, random);
    return;
  }
  if (mode == Mode::kWalk && !calm_ && IsOnLedge({sprite->x, sprite->y}) && random() < kSitChance) {
    Sit(sprite, random);
    return;
  }
  if (!RulesOf(mode).pauses_after && !calm_ &&
      (Long(sprite, random) || Chase(sprite, room, random))) {
    return;
  }
  Decide(sprite, now_ms_, calm_, random);
}

// Moves sprites that overlap apart, and lets them exchange kBumpKept of their horizontal speed. A
// thrown sprite is not stopped: it knocks the others aside and flies on.
void Simulation::Collide() {
  boxes_.clear();
  for (const Sprite& sprite : sprites_) {
    const Size size = SizeOf(sprite, RoomOf(sprite).scale);
    boxes_.push_back({sprite.x, sprite.y - size.height, sprite.y, size.width / 2,
                      RulesOf(sprite.mode).collides});
  }
  for (size_t i = 0; i < boxes_.size(); i++) {
    for (size_t j = i + 1; j < boxes_.size(); j++) {
      const Box& one = boxes_[i];
      const Box& other = boxes_[j];
      const double overlap = one.half + other.half - std::abs(one.x - other.x);
      if (overlap <= 0 || one.foot <= other.top || other.foot <= one.top || !one.collides ||
          !other.collides) {
        continue;
      }
      PushApart(&sprites_[i], &sprites_[j], overlap);
      boxes_[i].x = sprites_[i].x;
      boxes_[j].x = sprites_[j].x;
    }
  }
}

// Two sprites overlap by so many px.
void Simulation::PushApart(Sprite* a, Sprite* b, double overlap) {
  // Their ids decide where two stand in one place: each must go to a side.
  const double side = a->x < b->x || (a->x == b->x && a->id < b->id) ? 1 : -1;
  const double closing = (a->vx - b->vx) * side;
  const bool a_yields = b->thrown || !a->thrown;
  const bool b_yields = a->thrown || !b->thrown;
  // A part of the overlap each step, so that two sprites in one place slide apart gently.
  if (a_yields) {
    a->x -= side * overlap / kOverlapParts;
  }
  if (b_yields) {
    b->x += side * overlap / kOverlapParts;
  }
  if (closing <= 0) {
    return;  // they move apart already
  }
  const double a_vx = a->vx;
  if (a_yields) {
    a->vx = b->vx * kBumpKept;
    Bump(a, closing);
  }
  if (b_yields) {
    b->vx = a_vx * kBumpKept;
    Bump(b, closing);
  }
}

void Simulation::Bump(Sprite* sprite, double closing) {
  if (closing > kWakingSpeed) {
    sprite->touched_ms = now_ms_;
    if (sprite->mode == Mode::kSleep) {
      SetMode(sprite, Mode::kIdle, now_ms_);
    }
  }
  // One that chases another, or flees, keeps its direction.
  if (sprite->mode == Mode::kWalk && SteeringOf(*sprite) == nullptr && sprite->pace == 1) {
    sprite->facing = sprite->facing == Facing::kLeft ? Facing::kRight : Facing::kLeft;
  }
}

// The edge that the middle of a thrown sprite has passed fast enough to cross.
std::optional<Edge> Simulation::CrossedEdge(const Sprite& sprite, const Room& room) const {
  if (!sprite.thrown || sprite.mode == Mode::kDrag) {
    return std::nullopt;
  }
  const double middle = sprite.y - sprite.nature.height * room.scale / 2;
  if (sprite.x < room.edges.left && sprite.vx <= -kCrossingSpeedMin) {
    return Edge::kLeft;
  }
  if (sprite.x > room.edges.right && sprite.vx >= kCrossingSpeedMin) {
    return Edge::kRight;
  }
  if (middle < room.edges.top && sprite.vy <= -kCrossingSpeedMin) {
    return Edge::kTop;
  }
  if (middle > room.edges.bottom && sprite.through_floor) {
    return Edge::kBottom;
  }
  return std::nullopt;
}

Departure Simulation::Depart(const Sprite& sprite, Edge edge) const {
  const double middle = sprite.y - sprite.nature.height * RoomOf(sprite).scale / 2;
  return {{edge, screen_.Along(edge, {sprite.x, middle}), Rounded(sprite.vx), Rounded(sprite.vy)},
          sprite};
}

// Keeps a sprite that does not cross between walls, ceiling and floor.
void Simulation::KeepInside(Sprite* sprite, const Room& room, const Random& random) {
  const Size size = SizeOf(*sprite, room.scale);
  // One that is fast enough passes the wall, and leaves once its middle is beyond the edge.
  const bool crossing = sprite->thrown && std::abs(sprite->vx) >= kCrossingSpeedMin;
  if (sprite->x < room.walls.left + size.width / 2 && sprite->vx <= 0 &&
      !(crossing && sprite->vx < 0)) {
    HitWall(sprite, room, Facing::kLeft, random);
  } else if (sprite->x > room.walls.right - size.width / 2 && sprite->vx >= 0 &&
             !(crossing && sprite->vx > 0)) {
    HitWall(sprite, room, Facing::kRight, random);
  }
  const bool rising = sprite->thrown && sprite->vy <= -kCrossingSpeedMin;
  if (sprite->y < room.walls.top + size.height && sprite->vy < 0 && !rising) {
    sprite->y = room.walls.top + size.height;
    sprite->vy = -sprite->vy * sprite->nature.bounce;
  }
  if (sprite->y > room.walls.bottom && sprite->vy >= 0 && !sprite->through_floor) {
    sprite->y = room.walls.bottom;
  }
}

void Simulation::HitWall(Sprite* sprite, const Room& room, Facing wall, const Random& random) {
  const double half = sprite->nature.width * room.scale / 2;
  sprite->x = wall == Facing::kLeft ? room.walls.left + half : room.walls.right - half;
  if (sprite->sleepy && sprite->facing == wall) {  // this is the corner that it went to
    sprite->vx = 0;
    FallAsleep(sprite, room, random);
    return;
  }
  const bool is_steered = SteeringOf(*sprite) != nullptr;
  if (sprite->mode == Mode::kWalk && !is_steered && sprite->facing == wall) {
    if (sprite->longs && sprite->came_by == wall) {
      sprite->vx = 0;
      SetMode(sprite, Mode::kWave, now_ms_);
      sprite->next_ms = now_ms_ + kLongingMs;
    } else if (!sprite->longs && sprite->reels == 0 && random() < kClimbChance) {
      sprite->vx = 0;
      SetMode(sprite, Mode::kClimb, now_ms_);
      sprite->next_ms = now_ms_ + kClimbMsMin + kClimbMsSpread * random();
    } else {
      sprite->facing = wall == Facing::kLeft ? Facing::kRight : Facing::kLeft;
    }
    return;
  }
  if (sprite->mode == Mode::kClimb) {
    return;
  }
  if (sprite->mode == Mode::kFall && !is_steered && !sprite->thrown && !sprite->arriving) {
    sprite->facing = wall == Facing::kLeft ? Facing::kRight : Facing::kLeft;
  }
  const double kept = std::max(sprite->nature.bounce, kWallKept);
  sprite->vx = std::abs(sprite->vx) > 1 ? -sprite->vx * kept : 0;
}

void Simulation::Launch(Sprite* sprite, double vx, double vy) {
  sprite->vx = LimitedSpeed(vx);
  sprite->vy = LimitedSpeed(vy);
  sprite->thrown = std::hypot(sprite->vx, sprite->vy) >= kCrossingSpeedMin;
  // Straight down rather than to a side: any other throw bounces off the floor.
  sprite->through_floor = sprite->vy >= kFloorThrowSpeedMin && sprite->vy > std::abs(sprite->vx);
  if (sprite->thrown) {
    CountThrows(sprite, ThrowsOf(*sprite, now_ms_) + 1, now_ms_);
  }
  sprite->touched_ms = now_ms_;
  sprite->tumbles = false;
  sprite->squashed = false;
  sprite->arriving = false;
  if (std::abs(sprite->vx) > kFacingSpeedMin) {
    sprite->facing = sprite->vx < 0 ? Facing::kLeft : Facing::kRight;
  }
  SetMode(sprite, Mode::kFall, now_ms_);
}

// The highest surface that a foot passes on its way down from one height to another.
std::optional<double> Simulation::SurfaceBetween(const Sprite& sprite, const Room& room,
                                                 double from, double to) const {
  std::optional<double> highest;
  if (to >= room.walls.bottom) {
    highest = room.walls.bottom;
  }
  for (const Ledge& ledge : ledges_) {
    const bool is_under =
        sprite.x >= ledge.left && sprite.x <= ledge.right && from <= ledge.y && to >= ledge.y;
    if (is_under && (!highest || ledge.y < *highest)) {
      highest = ledge.y;
    }
  }
  return highest;
}

std::optional<Ledge> Simulation::GroundBelow(const Sprite& sprite, double px_max) const {
  const Rect walls = RoomOf(sprite).walls;
  Ledge ground{walls.left, walls.right, walls.bottom};
  for (const Ledge& ledge : ledges_) {
    const bool is_under =
        sprite.x >= ledge.left && sprite.x <= ledge.right && sprite.y <= ledge.y + kSupportedPx;
    if (is_under && ledge.y < ground.y) {
      ground = ledge;
    }
  }
  return ground.y - sprite.y <= px_max ? std::optional(ground) : std::nullopt;
}

bool Simulation::IsSupported(Point foot, const Room& room) const {
  return std::abs(foot.y - room.walls.bottom) < kSupportedPx || IsOnLedge(foot);
}

bool Simulation::IsOnLedge(Point foot) const {
  return std::ranges::any_of(ledges_, [&](const Ledge& ledge) {
    return foot.x >= ledge.left && foot.x <= ledge.right &&
           std::abs(foot.y - ledge.y) < kSupportedPx;
  });
}

SpriteId Simulation::TopmostAt(Point point) const {
  for (auto sprite = sprites_.rbegin(); sprite != sprites_.rend(); ++sprite) {
    const Size size = SizeOf(*sprite, RoomOf(*sprite).scale);
    if (std::abs(point.x - sprite->x) <= size.width / 2 && point.y <= sprite->y &&
        point.y >= sprite->y - size.height) {
      return sprite->id;
    }
  }
  return kNobody;
}

bool AnySpriteOnWindow(const Simulation& simulation) {
  return std::ranges::any_of(simulation.sprites(), [&](const Sprite& sprite) {
    const Monitor& monitor = simulation.screen().monitors()[sprite.monitor];
    return RulesOf(sprite.mode).on_feet && sprite.y < monitor.work.bottom - kOnFloorPx;
  });
}

}  // namespace sprites
