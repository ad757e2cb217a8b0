#include "core/desktop.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/picture/file_cache.h"
#include "core/text/json.h"
#include "core/text/text.h"

namespace sprites {

namespace {

constexpr int kKeptDepthMax = 6;
constexpr double kDropFirst = 0.15;  // of the width: nobody falls in at the very side
constexpr double kDropSpread = 0.7;  // of the width
constexpr char kCommons[] = "commons";

// JSON of who a sprite is and where it was.
Json KeptSprite(const Sprite& sprite) {
  return {{"file", sprite.file},
          {"name", sprite.name},
          {"scale", sprite.scale},
          {"fromShelf", sprite.from_shelf},
          {"facing", sprite.facing == Facing::kLeft ? "left" : "right"},
          {"x", std::round(sprite.x)},
          {"y", std::round(sprite.y)}};
}

// The sprite in it; nothing without a file.
std::optional<Sprite> ReadKeptSprite(const Json& value) {
  Sprite sprite;
  sprite.file = TextAt(value, "file", kIdBytesMax);
  if (!IsFileHash(sprite.file)) {
    return std::nullopt;
  }
  sprite.name = PlainText(TextAt(value, "name", kIdBytesMax), kNameBytesMax);
  sprite.scale = NumberAt(value, "scale", kSpriteScaleMin, kSpriteScaleMax, 1);
  sprite.from_shelf = BoolAt(value, "fromShelf", false);
  sprite.facing = MemberOf(value, "facing") == "left" ? Facing::kLeft : Facing::kRight;
  sprite.x = NumberAt(value, "x", -kSideMax, kSideMax, 0);
  sprite.y = NumberAt(value, "y", -kSideMax, kSideMax, 0);
  return sprite;
}

Json KeptMotion(Edge edge, double at, double vx, double vy) {
  return {{"edge", static_cast<int>(edge)}, {"at", at}, {"vx", vx}, {"vy", vy}};
}

Entrance ReadKeptMotion(const Json& value) {
  return {static_cast<Edge>(static_cast<int>(NumberAt(value, "edge", 0, 3, 0))),
          NumberAt(value, "at", 0, 1, 0.5),
          NumberAt(value, "vx", -kRelaySpeedMax, kRelaySpeedMax, 0),
          NumberAt(value, "vy", -kRelaySpeedMax, kRelaySpeedMax, 0)};
}

Json KeptArrival(const Arrival& arrival) {
  const Entrance& in = arrival.entrance;
  Json kept = KeptMotion(in.edge, in.at, in.vx, in.vy);
  kept["file"] = arrival.file;
  kept["name"] = arrival.name;
  kept["scale"] = arrival.scale;
  kept["facing"] = arrival.facing == Facing::kLeft ? "left" : "right";
  kept["fromDesktop"] = arrival.from.desktop;
  kept["fromName"] = arrival.from.name;
  return kept;
}

std::optional<Arrival> ReadKeptArrival(const Json& value) {
  const auto sprite = ReadKeptSprite(value);
  if (!sprite) {
    return std::nullopt;
  }
  Arrival arrival;
  arrival.entrance = ReadKeptMotion(value);
  arrival.file = sprite->file;
  arrival.name = sprite->name;
  arrival.scale = sprite->scale;
  arrival.facing = sprite->facing;
  arrival.from = {TextAt(value, "fromDesktop", kIdBytesMax),
                  PlainText(TextAt(value, "fromName", kIdBytesMax), kNameBytesMax)};
  return arrival;
}

size_t PixelsOf(const SheetPointer& sheet) {
  return sheet == nullptr ? 0 : static_cast<size_t>(sheet->width) * sheet->height;
}

// A row of frames takes so long until another one is shown; the largest value when none will be.
double NextCellMs(const Sheet& sheet, const Sprite& sprite, double world_ms) {
  const ModeRules& rules = RulesOf(sprite.mode);
  auto found = sheet.description.animations.find(std::string_view(rules.animation));
  if (found == sheet.description.animations.end()) {
    found = sheet.description.animations.find(std::string_view("idle"));
  }
  const Animation& animation = found->second;
  if (animation.frames.size() < 2) {
    return std::numeric_limits<double>::max();
  }
  const double period = 1000 / animation.fps;
  return period - std::fmod(std::max(0.0, world_ms - sprite.since_ms), period);
}

}  // namespace

Desktop::Desktop(const Settings& settings, Random random)
    : settings_(WithinLimits(settings)),
      random_(std::move(random)),
      poller_(settings_.relay, JoinWish{}, random_) {
  ApplyScreen();
}

void Desktop::Restore(std::string_view kept, bool reseat) {
  const Json root = kept.size() > kKeptBytesMax ? Json() : ParseJson(kept, kKeptDepthMax);
  const Json& kept_sprites = MemberOf(root, "sprites");
  for (size_t i = 0; kept_sprites.is_array() && i < kept_sprites.size(); i++) {
    auto sprite = ReadKeptSprite(kept_sprites[i]);
    if (sprite && world_.sprites().size() < size_t{kSpritesMostMax}) {
      world_.Add({sprite->file,
                  sprite->name,
                  sprite->scale,
                  sprite->from_shelf,
                  NatureFor(sprite->file, sprite->scale),
                  sprite->facing,
                  {sprite->x, sprite->y}});
    }
  }
  const Json& waiting = MemberOf(root, "waiting");
  for (size_t i = 0; waiting.is_array() && i < waiting.size(); i++) {
    auto arrival = ReadKeptArrival(waiting[i]);
    if (arrival && waiting_.size() < kWaitingMost) {
      waiting_.push_back(std::move(*arrival));
    }
  }
  const bool same_place = MemberOf(root, "relay") == settings_.relay &&
                          MemberOf(root, "world") == settings_.world &&
                          MemberOf(root, "name") == settings_.name;
  const bool may_sit = reseat && same_place;
  const auto seat =
      may_sit ? ReadSeat(Written(MemberOf(root, "seat")), settings_.relay) : std::nullopt;
  departures_.set_next_number(
      static_cast<uint64_t>(NumberAt(root, "next", 1, double{1ull << 53}, 1)));
  const Json& leaving = MemberOf(root, "leaving");
  for (size_t i = 0; leaving.is_array() && i < leaving.size(); i++) {
    const auto sprite = ReadKeptSprite(leaving[i]);
    const double number = NumberAt(leaving[i], "number", 0, double{1ull << 53}, 0);
    if (!sprite || number < 1) {
      continue;
    }
    const Entrance motion = ReadKeptMotion(leaving[i]);
    Leaving one;
    one.number = static_cast<uint64_t>(number);
    one.departure = {*sprite, motion.edge, motion.at, motion.vx, motion.vy};
    one.departure.sprite.nature = NatureFor(sprite->file, sprite->scale);
    departures_.Resume(std::move(one));
  }
  if (seat) {
    seq_ = static_cast<uint64_t>(NumberAt(root, "seq", 0, double{1ull << 53}, 0));
    poller_.SitDown(*seat);
  }
}

void Desktop::SetSettings(const Settings& settings) {
  const Settings before = std::exchange(settings_, WithinLimits(settings));
  ApplyScreen();
  for (auto& [file, look] : looks_) {
    if (look.coming == Coming::kMissing) {
      look.coming = Coming::kWanted;
    }
  }
  for (const Sprite& sprite : std::vector<Sprite>(world_.sprites())) {
    Reshape(sprite.file);
  }
  const bool elsewhere = before.relay != settings_.relay || before.world != settings_.world ||
                         before.name != settings_.name || before.beside != settings_.beside;
  if (elsewhere) {
    Sit(true);
  }
}

void Desktop::SetMonitors(std::span<const Monitor> monitors) {
  monitors_.assign(monitors.begin(), monitors.end());
  ApplyScreen();
}

void Desktop::SetWindows(std::span<const WindowArea> front_to_back) {
  const auto looked_at = front_to_back.first(std::min(front_to_back.size(), kWindowsMax));
  if (!std::ranges::equal(looked_at, windows_)) {
    windows_.assign(looked_at.begin(), looked_at.end());
    ApplyWindows();
  }
}

void Desktop::ApplyWindows() {
  world_.SetLedges(LedgesOf(windows_, world_.screen()));
  covered_ = FullScreenMonitors(windows_, world_.screen());
}

void Desktop::AddToShelf(const SheetPointer& sheet) {
  if (!IsOnShelf(sheet->file)) {
    shelf_.push_back(sheet);
  }
  looks_[sheet->file] = {sheet, Coming::kHere, ticks_};
  Reshape(sheet->file);
}

SpriteId Desktop::DropIn(const std::string& file, std::optional<Point> place) {
  if (world_.sprites().size() >= static_cast<size_t>(settings_.sprites_most)) {
    Say(ToastKind::kNotice, "The desktop is full",
        std::to_string(settings_.sprites_most) +
            " sprites are all that fit. Throw some over an edge.");
    return kNobody;
  }
  const auto sheet = std::ranges::find(shelf_, file, [](const SheetPointer& s) { return s->file; });
  if (sheet == shelf_.end()) {
    return kNobody;
  }
  const Description& description = (*sheet)->description;
  const Screen& screen = world_.screen();
  const Monitor& primary = screen.monitors()[screen.PrimaryMonitor()];
  const Nature nature = NatureFor(file, description.scale);
  const double x =
      primary.work.left + (kDropFirst + kDropSpread * random_()) * primary.work.Width();
  const double y = primary.work.top + nature.height * primary.scale;
  const Facing facing = random_() < 0.5 ? Facing::kLeft : Facing::kRight;
  keep_now_ = true;
  return world_.Add({file, description.name, description.scale, true, nature, facing,
                     place.value_or(Point{x, y})});
}

bool Desktop::PutAway(SpriteId id) {
  const Sprite* sprite = world_.Find(id);
  if (sprite == nullptr) {
    return false;
  }
  if (!sprite->from_shelf) {
    Say(ToastKind::kNotice, sprite->name + " came from somebody", "Throw it on over an edge.");
    return false;
  }
  world_.Remove(id);
  keep_now_ = true;
  return true;
}

void Desktop::Grab(SpriteId id, Point point, double ms) { world_.Grab(id, point, ms); }

void Desktop::Drag(Point point, double ms) { world_.Drag(point, ms); }

void Desktop::Release(double ms) {
  const Sprite* sprite = world_.Find(world_.held());
  const SpriteId id = sprite == nullptr ? kNobody : sprite->id;
  world_.Release(ms);
  sprite = world_.Find(id);
  if (sprite != nullptr && sprite->thrown) {
    outbox_.sounds.push_back(Sound::kThrow);
  }
}

void Desktop::Select(SpriteId id) {
  selected_ = id;
  world_.StopSteering();
}

void Desktop::Press(Key key, bool is_down) {
  constexpr SteerKey kSteers[] = {SteerKey::kLeft, SteerKey::kRight, SteerKey::kJump,
                                  SteerKey::kDrop, SteerKey::kJump};
  if (selected_ != kNobody && world_.held() != selected_) {
    world_.Steer(selected_, kSteers[static_cast<size_t>(key)], is_down);
  }
}

void Desktop::ThrowTo(SpriteId id, Edge edge) {
  world_.ThrowTo(id, edge);
  outbox_.sounds.push_back(Sound::kThrow);
}

void Desktop::Pause(bool is_paused) { paused_ = is_paused; }

void Desktop::Mute(const Neighbour& neighbour, bool is_muted) {
  std::erase(settings_.muted, neighbour.Called());
  if (is_muted) {
    settings_.muted.push_back(neighbour.Called());
  }
  settings_ = WithinLimits(std::move(settings_));
}

void Desktop::NetworkIsBack() { poller_.Hurry(); }

void Desktop::Answered(const Answer& answer) {
  if (const auto news = poller_.Take(answer, now_ms_)) {
    TakeNews(*news);
    return;
  }
  if (const auto verdict = departures_.Take(answer, now_ms_, random_)) {
    TakeVerdict(*verdict);
    return;
  }
  if (const auto fetch = fetches_.find(answer.id); fetch != fetches_.end()) {
    const std::string file = fetch->second;
    fetches_.erase(fetch);
    TakeFile(answer, file);
    return;
  }
  if (const auto upload = uploads_.find(answer.id); upload != uploads_.end()) {
    const std::string file = upload->second;
    uploads_.erase(upload);
    TakeUpload(answer, file);
  }
}

void Desktop::Leave() {
  left_ = true;
  keep_now_ = true;
  for (auto& [file, departures] : std::exchange(unsent_, {})) {
    for (const Departure& departure : departures) {
      world_.BounceBack(departure);
    }
  }
  if (const auto& seat = poller_.seat()) {
    Request request;
    request.id = next_request_++;
    request.method = Method::kDelete;
    request.url = poller_.relay() + "/v1/desktops/" + PercentEncoded(seat->desktop);
    request.token = seat->token;
    request.timeout_ms = kShortTimeoutMs;
    request.answer_bytes_max = kAnswerBytesMax;
    outbox_.requests.push_back(std::move(request));
  }
  outbox_.keep = Kept();
}

const Scene& Desktop::Tick(int64_t now_ms) {
  const int64_t passed = std::max<int64_t>(0, now_ms - now_ms_);
  now_ms_ = std::max(now_ms, now_ms_);
  ticks_++;
  if (!paused_ && !left_) {
    world_ms_ += static_cast<double>(passed);
    for (const Departure& departure : world_.Step(world_ms_, random_)) {
      LeaveOver(departure);
    }
  }
  if (!left_) {
    LetWaitingIn();
    KeepIfDue();
    AskWhatIsDue();
  }
  Draw();
  return scene_;
}

Outbox Desktop::TakeOutbox() { return std::exchange(outbox_, Outbox{}); }

// A new life at the relay; whoever is on the way is sent from there.
void Desktop::Sit(bool anew) {
  if (anew && poller_.seat()) {
    const bool was_left = std::exchange(left_, true);
    Leave();
    left_ = was_left;
  }
  if (poller_.under_way() != 0) {
    outbox_.cancelled.push_back(poller_.under_way());
  }
  poller_ = Poller(settings_.relay, Wish(), random_);
  neighbours_.reset();
  SeatIsGone();
}

JoinWish Desktop::Wish() const {
  return {settings_.name, settings_.world, settings_.beside, world_.screen().DipWidth(),
          world_.screen().DipHeight()};
}

void Desktop::TakeNews(const News& news) {
  if (news.batch) {
    TakeBatch(*news.batch);
  }
  if (news.neighbours) {
    neighbours_ = news.neighbours;
    for (auto& [file, look] : looks_) {
      if (look.coming == Coming::kMissing) {
        look.coming = Coming::kWanted;  // the relay may have it now
      }
    }
  }
  if (news.batch_was_lost) {
    TakeAwayLastBatch();
  }
  if (news.seated || news.cursor_lost) {
    seq_ = 0;
    last_batch_.clear();
    last_batch_seq_ = 1;
    for (Arrival& arrival : waiting_) {
      arrival.seq = 0;  // of another life: ours for good
    }
    keep_now_ = true;
  }
  if (news.seated || news.seat_ended) {
    SeatIsGone();
  }
  if (!news.refused.code.empty()) {
    Say(ToastKind::kNotice, "The relay does not let us in", news.refused.title);
  }
}

void Desktop::TakeBatch(const Batch& batch) {
  last_batch_.clear();
  last_batch_seq_ = seq_ + 1;
  for (const Arrival& arrival : batch.arrivals) {
    if (arrival.seq > seq_) {
      seq_ = arrival.seq;
      if (IsMuted(arrival.from) && !IsWayFull()) {
        PassOn(arrival);
      } else {
        last_batch_.push_back(Admit(arrival));
      }
    }
  }
  if (batch.neighbours) {
    neighbours_ = batch.neighbours;
  }
  if (batch.bye_ms) {
    at_relay_.clear();
  }
  keep_now_ = true;
  resume_ = true;
}

void Desktop::TakeVerdict(const Verdict& verdict) {
  keep_now_ = true;
  if (verdict.accepted) {
    return;
  }
  const Departure& departure = verdict.leaving.departure;
  if (verdict.leaving.unseen) {
    TakeInAfterAll(departure);
    return;
  }
  ComeBack(departure, verdict.problem.title);
}

// A muted neighbour's, and nobody takes it on: here it is, when there is room.
void Desktop::TakeInAfterAll(const Departure& departure) {
  Arrival arrival;
  arrival.entrance = {Opposite(departure.edge), departure.at, departure.vx, departure.vy};
  arrival.file = departure.sprite.file;
  arrival.name = departure.sprite.name;
  arrival.facing = departure.sprite.facing;
  arrival.scale = departure.sprite.scale;
  Admit(arrival);
}

void Desktop::TakeFile(const Answer& answer, const std::string& file) {
  const auto found = looks_.find(file);
  if (found == looks_.end() || found->second.coming != Coming::kAsked) {
    return;
  }
  Look& look = found->second;
  const bool is_it = answer.sheet != nullptr && answer.sheet->file == file;
  if (!is_it || !ForgetSheets(PixelsOf(answer.sheet))) {
    look.coming = Coming::kMissing;
    return;
  }
  look.sheet = answer.sheet;
  look.coming = Coming::kHere;
  RememberAtRelay(file);
  Reshape(file);
}

void Desktop::TakeUpload(const Answer& answer, const std::string& file) {
  const bool is_there = answer.status == 201 || answer.status == 204 || answer.status == 404;
  if (is_there) {
    RememberAtRelay(file);
  }
  auto waiting = unsent_.extract(file);
  if (waiting.empty()) {
    return;
  }
  for (const Departure& departure : waiting.mapped()) {
    if (!is_there) {
      ComeBack(departure, ReadProblem(answer).title);
    } else if (const char* why = WhyNobodyLeaves()) {
      ComeBack(departure, why);
    } else {
      departures_.Depart(departure, false);
    }
  }
  keep_now_ = true;
}

void Desktop::RememberAtRelay(const std::string& file) {
  if (at_relay_.size() >= kAtRelayMax) {
    at_relay_.clear();
  }
  at_relay_.insert(file);
}

// Somebody has come. When there is no room one from the shelf goes back to it, else the newcomer
// waits: nobody is lost.
SpriteId Desktop::Admit(const Arrival& arrival) {
  const bool is_full = world_.sprites().size() >= static_cast<size_t>(settings_.sprites_most);
  if (is_full && !MakeRoom()) {
    waiting_.push_back(arrival);
    return kNobody;
  }
  Sprite sprite;
  sprite.file = arrival.file;
  sprite.scale = arrival.scale;
  sprite.facing = arrival.facing;
  const SheetPointer& sheet = SheetOf(arrival.file);
  // A sheet is never null, which the analyser can't see. NOLINTNEXTLINE(clang-analyzer-core.*)
  sprite.name = arrival.name.empty() ? sheet->description.name : arrival.name;
  sprite.nature = NatureFor(arrival.file, arrival.scale);
  const std::string name = sprite.name;
  const SpriteId id = world_.Enter(std::move(sprite), arrival.entrance);
  outbox_.sounds.push_back(Sound::kArrive);
  const std::string& from = arrival.from.Called();
  if (met_.size() >= kMetMax) {
    met_.clear();
  }
  const bool is_ourselves = poller_.seat() && poller_.seat()->desktop == arrival.from.desktop;
  if (!is_ourselves && !from.empty() && met_.insert(from).second) {
    Say(ToastKind::kArrived, name + " has come", "From " + from + ".");
  }
  return id;
}

// Our seat ended before the relay learnt that we have them: they have gone on to somebody else.
void Desktop::TakeAwayLastBatch() {
  for (const SpriteId id : std::exchange(last_batch_, {})) {
    world_.Remove(id);
  }
  std::erase_if(waiting_,
                [this](const Arrival& arrival) { return arrival.seq >= last_batch_seq_; });
  keep_now_ = true;
}

// From somebody who is muted: it flies on in its direction of travel, unseen.
void Desktop::PassOn(const Arrival& arrival) {
  Departure departure;
  departure.sprite.file = arrival.file;
  departure.sprite.name = arrival.name;
  departure.sprite.scale = arrival.scale;
  departure.sprite.facing = arrival.facing;
  departure.sprite.nature = NatureFor(arrival.file, arrival.scale);
  departure.edge = Opposite(arrival.entrance.edge);
  departure.at = arrival.entrance.at;
  departure.vx = arrival.entrance.vx;
  departure.vy = arrival.entrance.vy;
  departures_.Depart(departure, true);
}

void Desktop::LetWaitingIn() {
  const auto most = static_cast<size_t>(settings_.sprites_most);
  while (!waiting_.empty() && (world_.sprites().size() < most || MakeRoom())) {
    const Arrival arrival = std::move(waiting_.front());
    waiting_.pop_front();
    const SpriteId id = Admit(arrival);
    if (arrival.seq >= last_batch_seq_) {
      last_batch_.push_back(id);
    }
    keep_now_ = true;
  }
}

bool Desktop::MakeRoom() {
  if (world_.sprites().size() > static_cast<size_t>(settings_.sprites_most)) {
    return false;
  }
  const auto native = std::ranges::find_if(world_.sprites(), [](const Sprite& sprite) {
    return sprite.from_shelf && sprite.mode != Mode::kDrag;
  });
  if (native == world_.sprites().end()) {
    return false;
  }
  world_.Remove(native->id);
  return true;
}

const char* Desktop::WhyNobodyLeaves() const {
  return poller_.link() != Link::kConnected ? "Not connected."
         : IsWayFull()                      ? "Too many are on the way."
                                            : nullptr;
}

// A throw over the edge: out to the relay, or straight back in with the reason.
void Desktop::LeaveOver(const Departure& departure) {
  if (const char* why = WhyNobodyLeaves()) {
    ComeBack(departure, why);
    return;
  }
  keep_now_ = true;
  const std::string& file = departure.sprite.file;
  const auto look = looks_.find(file);
  const bool is_here = look != looks_.end() && look->second.sheet != nullptr;
  if (at_relay_.contains(file) || !is_here) {
    departures_.Depart(departure, false);
    return;
  }
  auto& waiting = unsent_[file];
  if (waiting.size() >= kOnTheWayMax) {
    ComeBack(departure, "Too many are on the way.");
    return;
  }
  waiting.push_back(departure);
  if (waiting.size() == 1) {
    AskForUpload(file);
  }
}

void Desktop::ComeBack(const Departure& departure, const std::string& why) {
  world_.BounceBack(departure);
  outbox_.sounds.push_back(Sound::kReturn);
  Say(ToastKind::kReturned, departure.sprite.name + " is back", why);
}

void Desktop::SeatIsGone() {
  at_relay_.clear();
  departures_.AskAgain();
}

bool Desktop::MayShow(const std::string& file) const {
  const bool is_private = poller_.seat() ? poller_.seat()->world != kCommons
                                         : !settings_.world.empty() && settings_.world != kCommons;
  return settings_.accept == Accept::kEverybody ||
         (settings_.accept == Accept::kFriends && is_private) || IsOnShelf(file);
}

bool Desktop::IsMuted(const Neighbour& neighbour) const {
  return std::ranges::find(settings_.muted, neighbour.Called()) != settings_.muted.end();
}

bool Desktop::IsOnShelf(const std::string& file) const {
  return std::ranges::any_of(shelf_,
                             [&](const SheetPointer& sheet) { return sheet->file == file; });
}

// What to draw a file as: its sheet, or a parcel while it is not here or not wanted.
const SheetPointer& Desktop::SheetOf(const std::string& file) {
  static const SheetPointer parcel = Parcel();
  if (!looks_.contains(file) && looks_.size() >= kLooksMax) {
    const auto is_idle = [&](const auto& entry) {
      return entry.second.used + 1 < ticks_ && entry.second.coming != Coming::kAsked &&
             !IsOnShelf(entry.first);
    };
    if (const auto idle = std::ranges::find_if(looks_, is_idle); idle != looks_.end()) {
      looks_.erase(idle);
    } else {
      return parcel;
    }
  }
  Look& look = looks_[file];
  look.used = ticks_;
  return look.sheet != nullptr && MayShow(file) ? look.sheet : parcel;
}

void Desktop::AskForFiles() {
  for (auto& [file, look] : looks_) {
    if (fetches_.size() >= kFetchesMax) {
      return;
    }
    if (look.coming != Coming::kWanted || !MayShow(file)) {
      continue;
    }
    look.coming = Coming::kAsked;
    Request request;
    request.id = next_request_++;
    request.lane = Lane::kFile;
    request.url = poller_.relay() + "/v1/sprites/" + file;
    request.file = file;
    request.timeout_ms = kFileTimeoutMs;
    request.answer_bytes_max = kSprBytesMax;
    fetches_[request.id] = file;
    outbox_.requests.push_back(std::move(request));
  }
}

void Desktop::AskForUpload(const std::string& file) {
  Request request;
  request.id = next_request_++;
  request.lane = Lane::kFile;
  request.method = Method::kPut;
  request.url = poller_.relay() + "/v1/sprites/" + file;
  request.token = poller_.seat()->token;
  request.content_type = "image/png";
  request.file = file;
  request.timeout_ms = kFileTimeoutMs;
  request.answer_bytes_max = kAnswerBytesMax;
  uploads_[request.id] = file;
  outbox_.requests.push_back(std::move(request));
}

// Forgets decoded sheets nobody wears, longest unused first, until so many pixels more fit.
bool Desktop::ForgetSheets(size_t pixels) {
  size_t used = pixels;
  std::vector<std::pair<uint64_t, std::string>> idle;
  for (const auto& [file, look] : looks_) {
    used += PixelsOf(look.sheet);
    if (look.sheet != nullptr && look.used + 1 < ticks_ && !IsOnShelf(file)) {
      idle.emplace_back(look.used, file);
    }
  }
  std::ranges::sort(idle);
  for (const auto& [tick, file] : idle) {
    if (used <= kDecodedPixelsMax) {
      break;
    }
    used -= PixelsOf(looks_[file].sheet);
    looks_.erase(file);
  }
  return used <= kDecodedPixelsMax;
}

Nature Desktop::NatureFor(const std::string& file, double scale) {
  Nature nature = NatureOf(SheetOf(file)->description, scale);
  nature.width *= settings_.scale;
  nature.height *= settings_.scale;
  return nature;
}

// Everybody who wears this file, after its picture or the settings have changed.
void Desktop::Reshape(const std::string& file) {
  for (const Sprite& sprite : world_.sprites()) {
    if (sprite.file == file) {
      world_.SetNature(sprite.id, NatureFor(file, sprite.scale));
    }
  }
}

void Desktop::AskWhatIsDue() {
  if (resume_ && waiting_.size() < kWaitingMax) {
    resume_ = false;
    poller_.Resume();
  }
  poller_.SetWish(Wish());
  if (auto request = poller_.Due(now_ms_, &next_request_)) {
    outbox_.requests.push_back(std::move(*request));
  }
  if (poller_.seat() && poller_.link() == Link::kConnected) {
    for (Request& request : departures_.Due(*poller_.seat(), now_ms_, &next_request_)) {
      outbox_.requests.push_back(std::move(request));
    }
    AskForFiles();
  }
}

void Desktop::KeepIfDue() {
  if (!keep_now_ && now_ms_ - kept_ms_ < kKeepMs) {
    return;
  }
  keep_now_ = false;
  kept_ms_ = now_ms_;
  std::string kept = Kept();
  if (kept != kept_) {
    outbox_.keep = kept;
    kept_ = std::move(kept);
  }
}

void Desktop::Draw() {
  scene_.sprites.clear();
  for (const Sprite& sprite : world_.sprites()) {
    scene_.sprites.push_back(Drawn(sprite));
    const bool has_landed = sprite.mode == Mode::kLand && sprite.since_ms > drawn_world_ms_;
    if (has_landed) {
      outbox_.sounds.push_back(Sound::kLand);
    }
  }
  drawn_world_ms_ = world_.now_ms();
  scene_.idle_ms = IdleMs();
}

DrawnSprite Desktop::Drawn(const Sprite& sprite) {
  const SheetPointer& sheet = SheetOf(sprite.file);
  const Description& description = sheet->description;
  const Monitor& monitor = world_.screen().monitors()[sprite.monitor];
  const double scale = ShownScale(description, sprite.scale) * settings_.scale * monitor.scale;
  DrawnSprite drawn;
  drawn.id = sprite.id;
  drawn.sheet = sheet;
  drawn.mirrored = sprite.facing == Facing::kLeft;
  drawn.cell = CellOf(description, sprite.mode, world_.now_ms() - sprite.since_ms);
  drawn.width = std::max(1, static_cast<int>(std::lround(description.frame_width * scale)));
  drawn.height = std::max(1, static_cast<int>(std::lround(description.frame_height * scale)));
  const auto& [left, top, width, height] = description.hitbox;
  const double middle = left + width / 2.0;
  const double inset = drawn.mirrored ? description.frame_width - middle : middle;
  drawn.x = static_cast<int>(std::lround(sprite.x - inset * scale));
  drawn.y = static_cast<int>(std::lround(sprite.y - (top + height) * scale));
  const bool is_covered = sprite.monitor < covered_.size() && covered_[sprite.monitor];
  drawn.visible = !(settings_.hide_in_full_screen && is_covered);
  return drawn;
}

// How long nothing will change by itself.
double Desktop::IdleMs() const {
  double idle = kIdleMsMax;
  if (paused_) {
    return idle;
  }
  for (size_t i = 0; i < world_.sprites().size(); i++) {
    const Sprite& sprite = world_.sprites()[i];
    const bool moves = !RulesOf(sprite.mode).on_feet || sprite.mode == Mode::kWalk ||
                       sprite.vx != 0 || sprite.id == world_.steered();
    if (moves) {
      return 0;
    }
    idle = std::min({idle, sprite.next_ms - world_.now_ms(),
                     NextCellMs(*scene_.sprites[i].sheet, sprite, world_.now_ms())});
  }
  const int64_t due = std::min(poller_.NextDueMs(), departures_.NextDueMs());
  return std::max(0.0, std::min(idle, static_cast<double>(due) - static_cast<double>(now_ms_)));
}

void Desktop::Say(ToastKind kind, const std::string& title, const std::string& text) {
  int64_t& said = said_ms_[static_cast<size_t>(kind)];
  if (!settings_.toasts || (said != 0 && now_ms_ - said < kToastMsMin)) {
    return;
  }
  said = std::max<int64_t>(1, now_ms_);
  outbox_.toasts.push_back({kind, title, text});
}

void Desktop::ApplyScreen() {
  std::vector<Monitor> used = monitors_;
  if (!settings_.all_monitors) {
    const Screen all(monitors_);
    used = {all.monitors()[all.PrimaryMonitor()]};
  }
  world_.SetScreen(Screen(used));
  world_.SetCalm(settings_.calm);
  ApplyWindows();
}

std::string Desktop::Kept() const {
  Json kept = {{"relay", settings_.relay},
               {"world", settings_.world},
               {"name", settings_.name},
               {"seq", seq_},
               {"next", departures_.next_number()},
               {"sprites", Json::array()},
               {"leaving", Json::array()},
               {"waiting", Json::array()}};
  if (poller_.seat() && !left_) {
    kept["seat"] = ParseJson(SeatJson(*poller_.seat()), kKeptDepthMax);
  }
  for (const Sprite& sprite : world_.sprites()) {
    kept["sprites"].push_back(KeptSprite(sprite));
  }
  for (const auto& [file, departures] : unsent_) {
    for (const Departure& departure : departures) {
      kept["sprites"].push_back(KeptSprite(departure.sprite));
    }
  }
  for (const Leaving& leaving : departures_.leaving()) {
    const Departure& departure = leaving.departure;
    Json one = KeptSprite(departure.sprite);
    one.update(KeptMotion(departure.edge, departure.at, departure.vx, departure.vy));
    one["number"] = leaving.number;
    kept["leaving"].push_back(std::move(one));
  }
  for (const Arrival& arrival : waiting_) {
    kept["waiting"].push_back(KeptArrival(arrival));
  }
  return Written(kept);
}

}  // namespace sprites
