#include "core/desktop/desktop.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "core/desktop/version.h"
#include "core/relay/problem_texts.h"
#include "core/scene/shadow.h"

namespace sprites {

namespace {

constexpr double kDropFirst = 0.15;  // of the width: a sprite does not fall in at the very side
constexpr double kDropSpread = 0.7;  // of the width

// A sprite of a muted neighbour, in its direction of travel.
Departure Forwarded(const Arrival& arrival, const Nature& nature) {
  Departure departure;
  departure.sprite.file = arrival.file;
  departure.sprite.name = arrival.name;
  departure.sprite.scale = arrival.scale;
  departure.sprite.facing = arrival.facing;
  departure.sprite.nature = nature;
  departure.edge = Opposite(arrival.entrance.edge);
  departure.at = arrival.entrance.at;
  departure.vx = arrival.entrance.vx;
  departure.vy = arrival.entrance.vy;
  return departure;
}

// A forwarded sprite that no other desktop took.
Arrival NotForwarded(const Departure& departure) {
  Arrival arrival;
  arrival.entrance = {Opposite(departure.edge), departure.at, departure.vx, departure.vy};
  arrival.file = departure.sprite.file;
  arrival.name = departure.sprite.name;
  arrival.facing = departure.sprite.facing;
  arrival.scale = departure.sprite.scale;
  return arrival;
}

}  // namespace

Desktop::Desktop(const Settings& settings, Random random)
    : settings_(WithinLimits(settings)),
      random_(std::move(random)),
      poller_(settings_.relay, JoinOptions{}, random_) {
  toasts_.SetEnabled(settings_.toasts);
  sheets_.SetHidden(settings_.hidden);
  ApplyScreen();
}

void Desktop::Restore(std::string_view saved_state, bool may_reuse_seat) {
  SavedState state = ReadSavedState(saved_state, settings_.relay);
  const bool is_same_place = state.relay == settings_.relay && state.world == settings_.world &&
                             state.name == settings_.name;
  const bool has_seat = state.seat && may_reuse_seat && is_same_place;
  // Only the relay of that seat can take back the sprites of its last batch: without the seat, all
  // that is here stays.
  std::map<SpriteId, uint64_t> batch;
  for (const auto& [sprite, seq] : state.sprites) {
    if (simulation_.sprites().size() < size_t{kSpriteLimitMax}) {
      const SpriteId id = simulation_.Add({sprite.file,
                                           sprite.name,
                                           sprite.scale,
                                           sprite.from_shelf,
                                           NatureFor(sprite.file, sprite.scale),
                                           sprite.facing,
                                           {sprite.x, sprite.y}});
      if (has_seat && seq > 0) {
        batch[id] = seq;
      }
    }
  }
  for (Arrival& arrival : state.waiting) {
    if (arrivals_.waiting().size() < kWaitingMax) {
      arrival.seq = has_seat ? arrival.seq : 0;
      arrivals_.Wait(std::move(arrival));
    }
  }
  invited_ = state.invited;
  departures_.set_next_number(state.next_number);
  for (PendingDeparture& pending : state.departures) {
    Sprite& sprite = pending.departure.sprite;
    sprite.nature = NatureFor(sprite.file, sprite.scale);
    if (pending.thrown_from == SeatKey{}) {
      simulation_.BounceBack(pending.departure);  // nobody can be asked
    } else {
      departures_.Restore(std::move(pending));
    }
  }
  if (has_seat) {
    arrivals_.Restore(state.seq, std::move(batch));
    poller_.UseSeat(*state.seat, state.joined_at);
    sayings_.set_next_number(state.next_saying);
    if (state.saying) {
      speech_.is_pending = true;
      speech_.unsaid = state.saying->text;
      sayings_.Restore(std::move(*state.saying));
    }
  }
}

void Desktop::SetSettings(const Settings& settings) {
  const Settings before = std::exchange(settings_, WithinLimits(settings));
  toasts_.SetEnabled(settings_.toasts);
  sheets_.SetHidden(settings_.hidden);
  ApplyScreen();
  sheets_.RetryMissing();  // their pictures may be wanted now
  const bool is_in_other_world = before.relay != settings_.relay ||
                                 before.world != settings_.world ||
                                 before.beside != settings_.beside;
  if (is_in_other_world && settings_.show_stage == ShowStage::kShow) {
    settings_.show_stage = ShowStage::kAsWorld;  // it was allowed in the world before only
  }
  if (is_in_other_world || before.name != settings_.name) {
    Rejoin();
  }
}

void Desktop::SetMonitors(std::span<const Monitor> monitors) {
  monitors_.assign(monitors.begin(), monitors.end());
  ApplyScreen();
}

void Desktop::SetWindows(std::span<const WindowArea> front_to_back) {
  const auto used = front_to_back.first(std::min(front_to_back.size(), kWindowsMax));
  if (!std::ranges::equal(used, windows_)) {
    windows_.assign(used.begin(), used.end());
    ApplyWindows();
  }
}

void Desktop::AddToShelf(const SheetPointer& sheet) {
  sheets_.AddToShelf(sheet);
  UpdateNatures(sheet->file);
}

SpriteId Desktop::DropIn(const std::string& file, std::optional<Point> place) {
  if (IsFull()) {
    ShowNotice(Said(Text::kToastFull),
               Said(Text::kToastFullText, {std::to_string(settings_.sprite_limit)}));
    return kNobody;
  }
  const SheetPointer sheet = sheets_.FindOnShelf(file);
  if (sheet == nullptr) {
    return kNobody;
  }
  const Description& description = sheet->description;
  const Screen& screen = simulation_.screen();
  const Monitor& primary = screen.monitors()[screen.PrimaryMonitor()];
  const Nature nature = NatureFor(file, description.scale);
  const double x =
      primary.work.left + (kDropFirst + kDropSpread * random_()) * primary.work.Width();
  const double y = primary.work.top + nature.height * primary.scale;
  const Facing facing = random_() < 0.5 ? Facing::kLeft : Facing::kRight;
  saves_now_ = true;
  return simulation_.Add({file, description.name, description.scale, true, nature, facing,
                          place.value_or(Point{x, y})});
}

bool Desktop::PutAway(SpriteId id) {
  const Sprite* sprite = simulation_.Find(id);
  if (sprite == nullptr) {
    return false;
  }
  if (!sprite->from_shelf) {
    ShowNotice(Said(Text::kToastGuest, {sprite->name}), Said(Text::kToastGuestText));
    return false;
  }
  simulation_.Remove(id);
  saves_now_ = true;
  return true;
}

void Desktop::Grab(SpriteId id, Point point, double ms) { simulation_.Grab(id, point, ms); }

void Desktop::Drag(Point point, double ms) { simulation_.Drag(point, ms); }

void Desktop::Release(double ms) {
  const SpriteId id = simulation_.held();
  simulation_.Release(ms);
  const Sprite* sprite = simulation_.Find(id);
  if (sprite != nullptr && sprite->thrown) {
    outbox_.sounds.push_back(Sound::kThrow);
  }
}

void Desktop::Select(SpriteId id) {
  selected_ = id;
  keys_hint_ms_.reset();
  simulation_.StopSteering();
}

void Desktop::SelectByKeys(SpriteId id) {
  Select(id);
  if (id != kNobody) {
    keys_hint_ms_ = now_ms_;
  }
}

SpriteId Desktop::NextSprite(bool is_backwards) const {
  std::vector<SpriteId> ids;
  for (const DrawnSprite& drawn : scene_.sprites) {
    if (drawn.visible && simulation_.Find(drawn.id) != nullptr) {
      ids.push_back(drawn.id);
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

std::string Desktop::KeysHint() const {
  const Sprite* sprite = keys_hint_ms_ ? simulation_.Find(selected_) : nullptr;
  if (sprite == nullptr) {
    return "";
  }
  return now_ms_ - *keys_hint_ms_ < kKeysHintMs ? Said(Text::kBubbleKeys, {sprite->name})
                                                : sprite->name;
}

void Desktop::Press(Key key, bool is_down, bool with_control) {
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

void Desktop::ThrowTo(SpriteId id, Edge edge) {
  simulation_.ThrowTo(id, edge);
  outbox_.sounds.push_back(Sound::kThrow);
}

void Desktop::Pause(bool is_paused) { is_paused_ = is_paused; }

void Desktop::SetSavingPower(bool is_saving) {
  is_saving_power_ = is_saving;
  ApplyCalm();
}

void Desktop::SetReducedMotion(bool is_reduced) {
  is_motion_reduced_ = is_reduced;
  ApplyCalm();
}

void Desktop::SetGroundShown(bool is_shown) {
  is_ground_shown_ = is_shown;
  if (!is_shown) {
    dust_.Settle();
  }
}

void Desktop::ApplyCalm() {
  simulation_.SetCalm(IsCalm());
  if (IsCalm()) {
    dust_.Settle();
  }
}

void Desktop::HidePicture(const std::string& file, bool is_hidden) {
  std::erase(settings_.hidden, file);
  if (is_hidden) {
    settings_.hidden.push_back(file);  // at the end: the limit drops the oldest ones
  }
  settings_ = WithinLimits(std::move(settings_));
  sheets_.SetHidden(settings_.hidden);
  UpdateNatures(file);
  outbox_.settings_changed = true;
}

bool Desktop::IsHidden(const std::string& file) const {
  return std::ranges::find(settings_.hidden, file) != settings_.hidden.end();
}

void Desktop::ReportPicture(const PictureReport& report) {
  std::optional<Request> request;
  if (poller_.seat()) {
    request = moderation_.ReportPicture(poller_.relay(), *poller_.seat(), report, &next_request_);
  }
  if (request) {
    outbox_.requests.push_back(std::move(*request));
  } else {
    ShowNotice(Said(Text::kToastNotReported), Said(Text::kWhyNotConnected));
  }
}

void Desktop::Mute(const Neighbour& neighbour, bool is_muted) {
  std::erase(settings_.muted, neighbour.DisplayName());
  if (is_muted) {
    settings_.muted.push_back(neighbour.DisplayName());
    conversation_.Silence(neighbour.DisplayName());
    if (silhouettes_.from() && silhouettes_.from()->DisplayName() == neighbour.DisplayName()) {
      silhouettes_.Clear();
    }
  }
  settings_ = WithinLimits(std::move(settings_));
  outbox_.settings_changed = true;
}

void Desktop::Open(const RelayLink& link) {
  if (link.entry) {
    FetchFromGallery(link);
    if (!settings_.relay.empty()) {
      return;
    }
  }
  if (!link.relay.empty()) {
    settings_.relay = link.relay;
  }
  settings_.world = link.world;
  settings_.beside = link.invitation;
  if (settings_.show_stage == ShowStage::kShow) {
    settings_.show_stage = ShowStage::kAsWorld;
  }
  settings_ = WithinLimits(std::move(settings_));
  outbox_.settings_changed = true;
  unanswered_ = 0;
  join_refused_.clear();
  update_.reset();
  update_ms_ = now_ms_ + kUpdateFirstMs;
  Rejoin();
}

void Desktop::MarkGreeted() {
  settings_.greeted = true;
  outbox_.settings_changed = true;
}

void Desktop::CheckForUpdate() {
  is_update_asked_ = true;
  update_ms_ = 0;
}

void Desktop::FetchUpdate() {
  installer_request_ = next_request_++;
  outbox_.requests.push_back(InstallerRequest(settings_.relay, *update_, installer_request_));
}

std::string Desktop::InvitationLink() const {
  const std::optional<Seat>& seat = poller_.seat();
  return !seat || seat->invitation.empty()
             ? ""
             : sprites::InvitationLink(poller_.site(), seat->world, seat->invitation);
}

bool Desktop::LeadsAway(const RelayLink& link) const {
  return !link.entry && !link.relay.empty() && !settings_.relay.empty() &&
         link.relay != settings_.relay;
}

const Neighbour* Desktop::SenderOf(SpriteId id) const {
  const auto sender = senders_.find(id);
  return sender == senders_.end() ? nullptr : &sender->second;
}

PictureReport Desktop::ReportOf(const Sprite& sprite) const {
  const Neighbour* sender = SenderOf(sprite.id);
  const bool is_own = sender == nullptr || (seat() && seat()->desktop == sender->desktop);
  return {sprite.file, is_own ? "" : sender->desktop, ""};
}

bool Desktop::IsAlone() const {
  return poller_.seat() && neighbours_ &&
         std::ranges::all_of(*neighbours_, [this](const Neighbour& neighbour) {
           return neighbour.desktop == poller_.seat()->desktop;
         });
}

bool Desktop::IsQuiet() const {
  const bool is_covered = std::ranges::find(covered_, true) != covered_.end();
  return settings_.quiet && (presence_ != Presence::kFree || is_covered);
}

Language Desktop::language() const {
  return settings_.language == LanguageChoice::kEnglish  ? Language::kEnglish
         : settings_.language == LanguageChoice::kGerman ? Language::kGerman
                                                         : system_language_;
}

void Desktop::NetworkIsBack() {
  if (!network_retry_ms_) {
    network_retry_ms_ = now_ms_ + kNetworkMs;
  }
}

void Desktop::HandleResponses(const std::vector<Response>& responses, int64_t now_ms) {
  if (!responses.empty()) {
    Tick(now_ms);
  }
  for (const Response& response : responses) {
    HandleResponse(response);
  }
}

// Each part knows its own requests by their ids, so at most one of them handles it.
void Desktop::HandleResponse(const Response& response) {
  if (HandleFormer(response)) {
    return;
  }
  if (leaving_ != Leaving::kNot) {
    HandleResponseLeaving(response);
    return;
  }
  const bool is_of_poller = response.id != 0 && response.id == poller_.under_way();
  if (const auto news = poller_.HandleResponse(response, now_ms_)) {
    HandleNews(*news);
  } else if (HandleUpdate(response)) {
    return;
  } else if (const auto verdict = departures_.HandleResponse(response, now_ms_, random_)) {
    HandleVerdict(*verdict);
  } else if (const auto file = sheets_.HandleResponse(response)) {
    uploads_.MarkAtRelay(*file);
    UpdateNatures(*file);
  } else if (const auto upload = uploads_.HandleResponse(response)) {
    HandleUpload(*upload);
  } else if (const auto said = sayings_.HandleResponse(response, now_ms_, random_)) {
    HandleSayingVerdict(*said);
  } else if (const auto fetch = gallery_fetches_.HandleResponse(response)) {
    HandleGalleryFetch(*fetch);
  } else if (HandlePeekingResponse(response)) {
    return;
  } else if (const auto report = moderation_.HandleResponse(response)) {
    if (report->was_accepted) {
      ShowNotice(Said(Text::kToastReported), Said(Text::kToastReportedText));
    } else {
      ShowNotice(Said(Text::kToastNotReported), SayProblem(language(), report->problem));
    }
  }
  if (is_of_poller) {
    CountUnanswered(response);
  }
}

const Scene& Desktop::Tick(int64_t now_ms) {
  const int64_t passed = std::max<int64_t>(0, now_ms - now_ms_);
  now_ms_ = std::max(now_ms, now_ms_);
  sheets_.BeginTick();
  if (!is_paused_ && leaving_ == Leaving::kNot) {
    simulation_ms_ += static_cast<double>(passed);
    for (const Departure& departure : simulation_.Step(simulation_ms_, random_)) {
      Depart(departure);
    }
  }
  if (leaving_ != Leaving::kNot) {
    GoOnLeaving();
  } else {
    RetryAfterNetworkChange(passed);
    // What changes the sprites comes before the state is saved, and requests come after that.
    AdmitWaiting();
    UpdatePeek();
    SaveIfDue();
    EndFormerSeat();
    SendDueRequests();
    AskForUpdate();
  }
  DrawScene();
  return scene_;
}

Outbox Desktop::PopOutbox() {
  outbox_.toasts = toasts_.Pop();
  if (IsQuiet() || leaving_ != Leaving::kNot) {
    outbox_.toasts.clear();  // dropped, not delayed: later they would be about the past
    outbox_.sounds.clear();
  }
  return std::exchange(outbox_, Outbox{});
}

// -- The relay.

// Tells the person once that the relay does not answer.
void Desktop::CountUnanswered(const Response& response) {
  if (response.status != 0) {
    unanswered_ = 0;
  } else if (poller_.link() != Link::kConnected && ++unanswered_ == kUnreachableFailures) {
    ShowNotice(Said(Text::kToastUnreachable, {HostOf(settings_.relay)}),
               Said(menu_place_ == MenuPlace::kTray ? Text::kToastUnreachableText
                                                    : Text::kToastUnreachableTextSprite));
  }
}

bool Desktop::HandleUpdate(const Response& response) {
  if (response.id != 0 && response.id == installer_request_) {
    installer_request_ = 0;
    const bool is_right =
        response.status == 200 && update_ && IsInstallerOf(*update_, response.body);
    outbox_.installer = is_right ? response.body : "";
    return true;
  }
  if (response.id == 0 || response.id != update_request_) {
    return false;
  }
  update_request_ = 0;
  const auto release = response.status == 200 ? ReadRelease(response.body) : std::nullopt;
  update_ = release && IsLater(release->version, SPRITES_VERSION) ? release : std::nullopt;
  outbox_.update =
      UpdateNews{std::exchange(is_update_asked_, false), release.has_value(), update_.has_value()};
  return true;
}

// The invitation is not valid any more: this desktop goes to the friend's world without it.
void Desktop::HandleInvitationEnded() {
  if (settings_.world.empty() && invited_.invitation == settings_.beside) {
    settings_.world = invited_.world;
  }
  settings_.beside.clear();
  outbox_.settings_changed = true;
  const bool is_commons = settings_.world.empty() || settings_.world == kCommons;
  ShowNotice(Said(Text::kToastFriendGone),
             Said(is_commons ? Text::kToastFriendGoneCommons : Text::kToastFriendGoneText));
}

void Desktop::FetchFromGallery(const RelayLink& link) {
  if (auto request = gallery_fetches_.Add(link, &next_request_)) {
    outbox_.requests.push_back(std::move(*request));
  } else {
    ShowNotice(Said(Text::kToastNotTaken, {link.entry->name}), Said(Text::kWhyTooMany));
  }
}

void Desktop::HandleGalleryFetch(const GalleryFetches::Result& result) {
  if (result.sheet == nullptr) {
    ShowNotice(Said(Text::kToastNotTaken, {result.entry.name}),
               Said(Text::kToastNotTakenText, {HostOf(result.relay)}));
    return;
  }
  if (IsHidden(result.sheet->file)) {
    HidePicture(result.sheet->file, false);  // the person wants to see it now
  }
  AddToShelf(result.sheet);
  DropIn(result.sheet->file, std::nullopt);
}

// After a change of seat: the relay may not have our files. It may have verdicts.
void Desktop::ForgetRelayState() {
  uploads_.ForgetFilesAtRelay();
  departures_.RetryNow();
  moderation_.ForgetMutes();
  GiveUpSaying();
  ForgetPeeking();
}

JoinOptions Desktop::JoinOptionsNow() const {
  const Screen& screen = simulation_.screen();
  // An invitation that has ended leads to the world it once led to.
  const bool leads_to_world = settings_.world.empty() && poller_.IsRefused(settings_.beside) &&
                              invited_.invitation == settings_.beside;
  return {settings_.name,     leads_to_world ? invited_.world : settings_.world,
          settings_.beside,   screen.DipWidth(),
          screen.DipHeight(), ChosenStage()};
}

void Desktop::SendDueRequests() {
  if (resumes_polling_ && arrivals_.waiting().size() < kWaitingToPollMax) {
    resumes_polling_ = false;
    poller_.ResumePolling();
  }
  constexpr void (Desktop::*kKinds[])() = {&Desktop::SendPollerRequest, &Desktop::SendDepartures,
                                           &Desktop::FetchSheets,       &Desktop::SendMutes,
                                           &Desktop::SendSaying,        &Desktop::SendPeeking};
  constexpr size_t kKindCount = std::size(kKinds);
  const size_t first = first_kind_;
  for (size_t i = 0; i < kKindCount; i++) {
    const size_t kind = (first + i) % kKindCount;
    const bool had_budget = budget_.Allows(now_ms_);
    (this->*kKinds[kind])();
    if (had_budget && !budget_.Allows(now_ms_)) {
      first_kind_ = (kind + 1) % kKindCount;  // the next request is for another kind
    }
  }
}

void Desktop::SendPollerRequest() {
  if (former_) {
    return;  // a join waits until the seat before has told what it acknowledged
  }
  poller_.SetJoinOptions(JoinOptionsNow());
  // While the person looks over an edge, a stage comes ten times a second, and a poll after each.
  // The budget would run dry, so those polls have a limit of their own.
  if (follows_stage_ ? now_ms_ < stage_poll_ms_ : !budget_.Allows(now_ms_)) {
    return;
  }
  if (auto request = poller_.DueRequest(now_ms_, &next_request_)) {
    if (std::exchange(follows_stage_, false)) {
      stage_poll_ms_ = now_ms_ + kStagePostMs;
    } else {
      budget_.Spend(now_ms_);
    }
    outbox_.requests.push_back(std::move(*request));
  }
}

// The seat that sprites are thrown from now; null while it is not connected.
const Seat* Desktop::ConnectedSeat() const {
  return poller_.seat() && poller_.link() == Link::kConnected ? &*poller_.seat() : nullptr;
}

void Desktop::SendDepartures() {
  for (Request& request :
       departures_.DueRequests(ConnectedSeat(), now_ms_, &budget_, &next_request_)) {
    outbox_.requests.push_back(std::move(request));
  }
  for (const Verdict& verdict : departures_.GiveUp()) {
    HandleVerdict(verdict);
  }
}

void Desktop::FetchSheets() {
  if (!poller_.seat() || poller_.link() != Link::kConnected) {
    return;
  }
  for (Request& request :
       sheets_.DueRequests(poller_.relay(), ShowsOthers(), now_ms_, &budget_, &next_request_)) {
    outbox_.requests.push_back(std::move(request));
  }
}

void Desktop::AskForUpdate() {
  const bool is_due =
      (asks_for_updates_ || is_update_asked_) && update_request_ == 0 && now_ms_ >= update_ms_;
  if (is_due && poller_.seat() && poller_.link() == Link::kConnected) {
    update_request_ = next_request_++;
    update_ms_ = now_ms_ + kUpdateMs;
    outbox_.requests.push_back(ReleaseRequest(settings_.relay, update_request_));
  }
}

void Desktop::SendMutes() {
  if (!poller_.seat() || poller_.link() != Link::kConnected || !neighbours_) {
    return;
  }
  for (Request& request :
       moderation_.DueMutes(poller_.relay(), *poller_.seat(), *neighbours_, settings_.muted,
                            now_ms_, &budget_, &next_request_)) {
    outbox_.requests.push_back(std::move(request));
  }
}

// Ends the poll and asks the relay again, if the network has changed. `passed_ms` since the last
// tick: much means that the machine slept.
void Desktop::RetryAfterNetworkChange(int64_t passed_ms) {
  if (passed_ms >= kSleptMs) {
    NetworkIsBack();
  }
  if (!network_retry_ms_ || now_ms_ < *network_retry_ms_) {
    return;
  }
  network_retry_ms_.reset();
  if (const RequestId poll = poller_.RetryNow(); poll != 0) {
    outbox_.cancelled.push_back(poll);
  }
}

void Desktop::HandleNews(const News& news) {
  if (news.batch) {
    HandleBatch(*news.batch);
  }
  if (news.neighbours) {
    neighbours_ = news.neighbours;
    peek_.AskSoon(now_ms_);
    sheets_.RetryMissing();  // the relay may have them now
  }
  TakeBack(news);
  if (news.seated || news.cursor_lost) {
    arrivals_.BeginEpoch();
    saves_now_ = true;
  }
  if (news.seated && !settings_.beside.empty() && !poller_.IsRefused(settings_.beside)) {
    invited_ = {settings_.beside, poller_.seat()->world};
  }
  if (news.seated || news.seat_ended) {
    ForgetRelayState();
  }
  if (news.seated) {
    join_refused_.clear();
  }
  if (news.invitation_ended) {
    HandleInvitationEnded();
  }
  if (!news.refused.code.empty() && news.refused.code != join_refused_) {
    join_refused_ = news.refused.code;
    ShowNotice(Said(Text::kToastRefused), SayProblem(language(), news.refused));
  }
}

void Desktop::HandleBatch(const Batch& batch) {
  arrivals_.BeginBatch(batch.arrivals.empty() ? 0 : batch.arrivals.front().seq);
  for (const Arrival& arrival : batch.arrivals) {
    if (!arrivals_.IsNew(arrival) || arrivals_.IsRemoved(arrival.file)) {
      continue;
    }
    const std::optional<Seat>& seat = poller_.seat();
    if (IsMuted(arrival.from) && seat && departures_.HasRoom(*seat)) {
      departures_.Add(Forwarded(arrival, NatureFor(arrival.file, arrival.scale)), *seat, true);
    } else {
      Admit(arrival);
    }
  }
  // Only one toast of a kind is shown at a time, and the operator's words matter more.
  for (const std::string& text : batch.announcements) {
    ShowNotice(Said(Text::kToastOperator), text);
  }
  for (const std::string& file : batch.removed) {
    RemovePicture(file);
  }
  if (batch.neighbours) {
    neighbours_ = batch.neighbours;
    peek_.AskSoon(now_ms_);
  }
  HandleSayings(batch);
  HandleStages(batch);
  if (batch.bye_ms) {
    uploads_.ForgetFilesAtRelay();
  }
  // Events about this moment only are not saved: a stage comes ten times a second.
  saves_now_ = saves_now_ || batch.events != batch.momentary || batch.cursor != saved_cursor_;
  resumes_polling_ = true;
}

// Takes a picture that the operator has removed off this desktop and its shelf. A received file is
// deleted from the disk. A file of this person stays there, because another relay may accept it.
void Desktop::RemovePicture(const std::string& file) {
  std::vector<SpriteId> worn_by;
  for (const Sprite& sprite : simulation_.sprites()) {
    if (sprite.file == file) {
      worn_by.push_back(sprite.id);
    }
  }
  for (const SpriteId id : worn_by) {
    simulation_.Remove(id);
  }
  const bool was_seen = !worn_by.empty() || sheets_.FindOnShelf(file) != nullptr;
  arrivals_.RemovePicture(file);
  sheets_.Remove(file);
  Request request;
  request.id = next_request_++;
  request.lane = Lane::kFile;
  request.method = Method::kDelete;
  request.file = file;
  outbox_.requests.push_back(std::move(request));
  if (was_seen) {
    ShowNotice(Said(Text::kToastPictureGone), Said(Text::kToastPictureGoneText));
  }
}

void Desktop::HandleVerdict(const Verdict& verdict) {
  saves_now_ = true;
  // A sprite that was on its way when its picture was removed does not come back.
  if (verdict.accepted || arrivals_.IsRemoved(verdict.pending.departure.sprite.file)) {
    return;
  }
  if (verdict.pending.is_forwarded) {
    Admit(NotForwarded(verdict.pending.departure));
  } else {
    BounceBack(verdict.pending.departure, SayProblem(language(), verdict.problem));
  }
}

void Desktop::HandleUpload(const Uploads::Result& result) {
  for (const Departure& departure : result.departures) {
    if (arrivals_.IsRemoved(departure.sprite.file)) {
      continue;
    }
    if (!result.is_at_relay) {
      BounceBack(departure, SayProblem(language(), result.problem));
    } else if (const auto why = WhyEdgesBounce()) {
      BounceBack(departure, Said(*why));
    } else {
      departures_.Add(departure, *ConnectedSeat(), false);
    }
  }
  saves_now_ = true;
}

// -- Sprites that come and go.

bool Desktop::IsFull() const {
  return simulation_.sprites().size() >= static_cast<size_t>(settings_.sprite_limit);
}

// Puts one sprite of the shelf away. False when there is none, or when that would not be enough.
bool Desktop::MakeRoom() {
  if (simulation_.sprites().size() > static_cast<size_t>(settings_.sprite_limit)) {
    return false;
  }
  const auto own = std::ranges::find_if(simulation_.sprites(), [](const Sprite& sprite) {
    return sprite.from_shelf && sprite.mode != Mode::kDrag;
  });
  if (own == simulation_.sprites().end()) {
    return false;
  }
  simulation_.Remove(own->id);
  return true;
}

// Lets a sprite in. On a full desktop it replaces one of the shelf, or else waits for room.
void Desktop::Admit(const Arrival& arrival) {
  if (IsFull() && !MakeRoom()) {
    arrivals_.Wait(arrival);
    return;
  }
  Sprite sprite;
  sprite.file = arrival.file;
  sprite.scale = arrival.scale;
  sprite.facing = arrival.facing;
  const SheetPointer& sheet = sheets_.Find(arrival.file, ShowsOthers());
  // A sheet is never null, which the analyser can't see. NOLINTNEXTLINE(clang-analyzer-core.*)
  sprite.name = arrival.name.empty() ? sheet->description.name : arrival.name;
  sprite.nature = NatureFor(arrival.file, arrival.scale);
  const std::string name = sprite.name;
  const SpriteId id = simulation_.Enter(std::move(sprite), arrival.entrance);
  if (const Sprite* entered = simulation_.Find(id)) {
    RaiseDust(*entered, kArrivalPuffReach);
  }
  arrivals_.Admit(arrival, id);
  // Not at each departure: one that is refused comes back, and its sender must still be known.
  if (senders_.size() >= 2 * size_t{kSpriteLimitMax}) {
    std::erase_if(senders_,
                  [this](const auto& sender) { return simulation_.Find(sender.first) == nullptr; });
  }
  if (!arrival.from.desktop.empty()) {
    senders_[id] = arrival.from;
  }
  outbox_.sounds.push_back(Sound::kArrive);
  const bool is_own = poller_.seat() && poller_.seat()->desktop == arrival.from.desktop;
  toasts_.AddArrival(language(), name, is_own ? "" : arrival.from.DisplayName(), now_ms_);
}

void Desktop::AdmitWaiting() {
  while (!arrivals_.waiting().empty() && (!IsFull() || MakeRoom())) {
    Admit(arrivals_.Pop());
    saves_now_ = true;
  }
}

// Nothing when a throw may leave this desktop.
std::optional<Text> Desktop::WhyEdgesBounce() const {
  const Seat* seat = ConnectedSeat();
  return seat == nullptr               ? std::optional(Text::kWhyNotConnected)
         : !departures_.HasRoom(*seat) ? std::optional(Text::kWhyTooMany)
                                       : std::nullopt;
}

// A sprite was thrown over an edge: sends it to the relay, its file first, or lets it bounce.
void Desktop::Depart(const Departure& departure) {
  if (const auto why = WhyEdgesBounce()) {
    BounceBack(departure, Said(*why));
    return;
  }
  saves_now_ = true;
  const std::string& file = departure.sprite.file;
  // A file that is not here can't be uploaded. The relay has it from its sender.
  if (uploads_.IsAtRelay(file) || !sheets_.Has(file)) {
    departures_.Add(departure, *ConnectedSeat(), false);
  } else if (uploads_.IsFull(file)) {
    BounceBack(departure, Said(Text::kWhyTooMany));
  } else if (auto request =
                 uploads_.Add(departure, poller_.relay(), poller_.seat()->token, &next_request_)) {
    outbox_.requests.push_back(std::move(*request));
  }
}

void Desktop::BounceBack(const Departure& departure, const std::string& why) {
  simulation_.BounceBack(departure);
  outbox_.sounds.push_back(Sound::kReturn);
  toasts_.Add(ToastKind::kReturned, Said(Text::kToastReturned, {departure.sprite.name}), why,
              now_ms_);
}

// -- What they look like.

// Whether the person wants to see pictures that are not on the shelf.
bool Desktop::ShowsOthers() const {
  const bool is_private = poller_.seat() ? poller_.seat()->world != kCommons
                                         : !settings_.world.empty() && settings_.world != kCommons;
  return settings_.accept == Accept::kEverybody ||
         (settings_.accept == Accept::kFriends && is_private);
}

Nature Desktop::NatureFor(const std::string& file, double scale) {
  const Description& description = sheets_.Find(file, ShowsOthers())->description;
  Nature nature = NatureOf(description, scale);
  // As large as it is drawn on the primary monitor.
  const Screen& screen = simulation_.screen();
  const double dip = ShownScale(description, scale) * settings_.scale;
  const double monitor_scale = screen.monitors()[screen.PrimaryMonitor()].scale;
  const double drawn = PixelScale(dip * monitor_scale, settings_.whole_pixels) / monitor_scale;
  nature.width *= settings_.scale * drawn / dip;
  nature.height *= settings_.scale * drawn / dip;
  return nature;
}

void Desktop::UpdateAllNatures() {
  for (const Sprite& sprite : simulation_.sprites()) {
    simulation_.SetNature(sprite.id, NatureFor(sprite.file, sprite.scale));
  }
}

// The sheet of a file has changed, and so has every sprite that wears it.
void Desktop::UpdateNatures(const std::string& file) {
  for (const Sprite& sprite : simulation_.sprites()) {
    if (sprite.file == file) {
      simulation_.SetNature(sprite.id, NatureFor(file, sprite.scale));
    }
  }
}

void Desktop::ApplyScreen() {
  std::vector<Monitor> used = monitors_;
  if (!settings_.all_monitors) {
    const Screen all(monitors_);
    used = {all.monitors()[all.PrimaryMonitor()]};
  }
  simulation_.SetScreen(Screen(used));
  ApplyCalm();
  UpdateAllNatures();
  ApplyWindows();
}

void Desktop::ApplyWindows() {
  simulation_.SetLedges(LedgesOf(windows_, simulation_.screen()));
  covered_ = FullScreenMonitors(windows_, simulation_.screen());
}

void Desktop::DrawScene() {
  scene_.sprites.clear();
  std::vector<DrawnSprite> ground;
  for (const Sprite& sprite : simulation_.sprites()) {
    DrawnSprite drawn = Draw(sprite, sheets_.Find(sprite.file, ShowsOthers()),
                             simulation_.screen().monitors()[sprite.monitor], settings_.scale,
                             settings_.whole_pixels, simulation_.now_ms());
    drawn.visible = IsVisible(sprite);
    const bool has_landed = sprite.mode == Mode::kLand && sprite.since_ms > drawn_ms_;
    if (has_landed && sprite.landed_hard && drawn.visible) {
      outbox_.sounds.push_back(Sound::kLand);
    }
    if (has_landed) {
      RaiseDust(sprite, sprite.nature.width / 2);
    }
    if (drawn.visible && is_ground_shown_) {
      DrawShadowOf(sprite, &ground);
    }
    scene_.sprites.push_back(std::move(drawn));
  }
  drawn_ms_ = simulation_.now_ms();
  dust_.Draw(drawn_ms_, &ground);
  std::swap(scene_.ground, ground);  // the last one kept the pictures that this one shows again
  DrawBubbles();
  DrawBeyond();
  const bool is_unseen =
      scene_.beyond.empty() && std::ranges::none_of(scene_.sprites, &DrawnSprite::visible);
  scene_.idle_ms = std::max(IdleMs(), is_unseen ? kUnseenIdleMs : 0);
  scene_.saves_power = is_saving_power_;
}

bool Desktop::IsVisible(const Sprite& sprite) const {
  const bool is_covered = sprite.monitor < covered_.size() && covered_[sprite.monitor];
  return !(settings_.hide_in_full_screen && is_covered) &&
         !(settings_.quiet && presence_ == Presence::kPresenting);
}

void Desktop::DrawShadowOf(const Sprite& sprite, std::vector<DrawnSprite>* ground) {
  const Monitor& monitor = simulation_.screen().monitors()[sprite.monitor];
  const auto below = simulation_.GroundBelow(sprite, kShadowReach * monitor.scale);
  if (auto shadow = below ? DrawShadow(sprite, *below, monitor, &shadows_) : std::nullopt) {
    ground->push_back(std::move(*shadow));
  }
}

// At a sprite's feet, or where it comes in. None flies about while sprites are calm.
void Desktop::RaiseDust(const Sprite& sprite, double reach) {
  if (!is_ground_shown_ || IsCalm() || !IsVisible(sprite)) {
    return;
  }
  const Monitor& monitor = simulation_.screen().monitors()[sprite.monitor];
  const Rect& work = monitor.work;
  dust_.Rise(
      {std::clamp(sprite.x, work.left, work.right), std::clamp(sprite.y, work.top, work.bottom)},
      reach, monitor, simulation_.now_ms());
}

// How long nothing changes by itself.
double Desktop::IdleMs() const {
  if (scene_.beyond.size() > panes_.size()) {
    return 0;  // a silhouette moves
  }
  const int64_t peeking = std::max<int64_t>(0, NextPeekingMs() - now_ms_);
  double idle = std::min(kIdleMsMax, static_cast<double>(peeking));
  if (is_paused_) {
    return idle;
  }
  const double now_ms = simulation_.now_ms();
  idle = std::min(idle, dust_.NextChangeMs(now_ms));
  for (size_t i = 0; i < simulation_.sprites().size(); i++) {
    const Sprite& sprite = simulation_.sprites()[i];
    const bool follows_pointer = sprite.mode == Mode::kLook || sprite.mode == Mode::kPet;
    const bool moves = !RulesOf(sprite.mode).on_feet || sprite.mode == Mode::kWalk ||
                       follows_pointer || sprite.vx != 0 || sprite.id == simulation_.steered();
    if (moves) {
      return 0;
    }
    idle = std::min(
        {idle, sprite.next_ms - now_ms, NextCellMs(*scene_.sprites[i].sheet, sprite, now_ms)});
  }
  const bool is_connected = poller_.link() == Link::kConnected;
  const int64_t poll_due =
      former_ ? std::min(former_->poller.NextDueMs(), former_->since_ms + kFarewellMsMax)
              : poller_.NextDueMs();
  const int64_t due = std::max(
      budget_.NextMs(),
      std::min({poll_due, departures_.NextDueMs(ConnectedSeat()),
                is_connected ? sayings_.NextDueMs() : std::numeric_limits<int64_t>::max()}));
  const int64_t next = std::min(due, conversation_.NextEndMs());
  return std::max(0.0, std::min(idle, static_cast<double>(next) - static_cast<double>(now_ms_)));
}

// -- What is saved and shown.

std::string Desktop::StateToSave(bool with_seat) const {
  SavedState state;
  state.relay = settings_.relay;
  state.world = settings_.world;
  state.name = settings_.name;
  state.seat = with_seat ? poller_.seat() : std::nullopt;
  state.joined_at = poller_.joined_at();
  state.invited = invited_;
  state.seq = arrivals_.seq();
  state.next_number = departures_.next_number();
  if (state.seat) {
    state.next_saying = sayings_.next_number();
    state.saying = sayings_.pending();
  }
  for (const Sprite& sprite : simulation_.sprites()) {
    state.sprites.push_back({sprite, state.seat ? arrivals_.SeqOf(sprite.id) : 0});
  }
  for (const Departure& departure : uploads_.Waiting()) {
    state.sprites.push_back({departure.sprite, 0});  // not thrown yet, so it is still here
  }
  state.departures = departures_.pending();
  state.waiting = arrivals_.waiting();
  for (Arrival& arrival : state.waiting) {
    arrival.seq = state.seat ? arrivals_.SeqOf(arrival) : 0;
  }
  return SavedStateJson(state);
}

void Desktop::SaveIfDue() {
  if (!saves_now_ && now_ms_ - saved_ms_ < kSaveMs) {
    return;
  }
  saves_now_ = false;
  saved_ms_ = now_ms_;
  std::string state = StateToSave(true);
  saved_cursor_ = poller_.seat() ? poller_.seat()->cursor : "";
  if (state != saved_) {  // nothing is written while all sprites rest
    outbox_.saved_state = state;
    saved_ = std::move(state);
  }
}

std::string Desktop::Said(Text text, std::initializer_list<std::string_view> values) const {
  return Say(language(), text, values);
}

void Desktop::ShowNotice(const std::string& title, const std::string& text) {
  toasts_.Add(ToastKind::kNotice, title, text, now_ms_);
}

}  // namespace sprites
