#include "core/desktop/desktop.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "core/relay/problem_texts.h"
#include "core/text/text.h"

namespace sprites {

Desktop::Desktop(const Settings& settings, Random random)
    : context_{WithinLimits(settings), random, {Poller(WithinLimits(settings).relay, {}, random)}} {
  context_.toasts.SetEnabled(context_.settings.toasts);
  look_.ApplySettings();
}

void Desktop::Restore(std::string_view saved_state, bool may_reuse_seat) {
  SavedState state = ReadSavedState(saved_state, context_.settings.relay);
  const bool is_same_place = state.relay == context_.settings.relay &&
                             state.world == context_.settings.world &&
                             state.name == context_.settings.name;
  const bool has_seat = state.seat && may_reuse_seat && is_same_place;
  traffic_.Restore(&state, has_seat);
  invited_ = state.invited;
  if (has_seat) {
    context_.relay.poller.UseSeat(*state.seat, state.joined_at);
    talk_.Restore(&state);
  }
}

void Desktop::SetSettings(const Settings& settings) {
  const Settings before = std::exchange(context_.settings, WithinLimits(settings));
  context_.toasts.SetEnabled(context_.settings.toasts);
  if (context_.settings.click_through && !before.click_through) {
    crowd_.Select(kNobody);
  }
  look_.ApplySettings();
  const bool is_in_other_world = before.relay != context_.settings.relay ||
                                 before.world != context_.settings.world ||
                                 before.beside != context_.settings.beside;
  if (is_in_other_world && context_.settings.show_stage == ShowStage::kShow) {
    context_.settings.show_stage = ShowStage::kAsWorld;  // it was allowed in the world before only
  }
  if (before.relay != context_.settings.relay) {
    updates_.ForgetRelay();
  }
  if (is_in_other_world || before.name != context_.settings.name) {
    Rejoin();
  }
}

void Desktop::Mute(const Neighbour& neighbour, bool is_muted) {
  guests_.Mute(neighbour, is_muted);
  if (is_muted) {
    talk_.Silence(neighbour);
    peeking_.Forget(neighbour);
  }
}

void Desktop::ThrowToFriend(SpriteId id, const std::string& name) {
  const Goal* goal = company_.Find(name);
  const auto step = goal == nullptr ? std::nullopt
                                    : NextStep(*goal, std::nullopt,
                                               context_.relay.neighbours.value_or(Neighbours{}));
  if (!step) {
    context_.ShowNotice(Text::kToastGone, Text::kToastGoneText, {PlainText(name, kNameBytesMax)});
  } else if (simulation_.Find(id) != nullptr && simulation_.held() != id) {
    simulation_.StopSteering();
    guests_.Head(id, *step, false);
    crowd_.ThrowTo(id, step->edge);
  }
}

void Desktop::AskForSeat(const std::string& name) {
  const Goal* goal = company_.Find(name);
  if (goal == nullptr) {
    ShowSwap({Swaps::Outcome::kGone, PlainText(name, kNameBytesMax)});
  } else if (context_.relay.ConnectedSeat() != nullptr) {
    context_.Send(swaps_.Ask(*goal), Until::kSeatEnds,
                  [this](const Response& response) { ShowSwap(swaps_.HandleAsked(response)); });
  }
}

void Desktop::AnswerSeatAsker(bool is_accepted) {
  if (swaps_.asker() && context_.relay.ConnectedSeat() != nullptr) {
    const Neighbour asker = *swaps_.asker();
    context_.Send(std::optional(swaps_.Answer(asker, is_accepted)), Until::kSeatEnds,
                  [this, asker](const Response& response) {
                    if (const auto result = Swaps::HandleAnswered(response, asker.DisplayName())) {
                      ShowSwap(*result);
                    }
                  });
  }
}

void Desktop::Open(const RelayLink& link) {
  if (link.entry) {
    FetchFromGallery(link);
    if (!context_.settings.relay.empty()) {
      return;
    }
  }
  if (!link.relay.empty() && link.relay != context_.settings.relay) {
    context_.settings.relay = link.relay;
    updates_.ForgetRelay();
  }
  context_.settings.world = link.world;
  context_.settings.beside = link.invitation;
  if (context_.settings.show_stage == ShowStage::kShow) {
    context_.settings.show_stage = ShowStage::kAsWorld;
  }
  context_.settings = WithinLimits(std::move(context_.settings));
  context_.outbox.settings_changed = true;
  context_.relay.unanswered = 0;
  context_.relay.refusal.clear();
  Rejoin();
}

void Desktop::MarkGreeted() {
  context_.settings.greeted = true;
  context_.outbox.settings_changed = true;
}

bool Desktop::LeadsAway(const RelayLink& link) const {
  return !link.entry && !link.relay.empty() && !context_.settings.relay.empty() &&
         link.relay != context_.settings.relay;
}

void Desktop::NetworkIsBack() {
  if (!network_retry_ms_) {
    network_retry_ms_ = context_.now_ms + kNetworkMs;
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

void Desktop::HandleSeatResponse(const Response& response) {
  if (HandleFormer(response)) {
    return;
  }
  if (leaving_ != Leaving::kNot) {
    if (const auto news = HandleEnding(response, &context_.relay.poller, &leave_request_)) {
      HandleNews(*news);
    }
  } else if (const auto news = context_.relay.poller.HandleResponse(response, context_.now_ms)) {
    HandleNews(*news);
    CountUnanswered(response);
  }
}

const Scene& Desktop::Tick(int64_t now_ms) {
  const int64_t passed = std::max<int64_t>(0, now_ms - context_.now_ms);
  context_.now_ms = std::max(now_ms, context_.now_ms);
  look_.BeginTick();
  if (!context_.is_paused && leaving_ == Leaving::kNot) {
    simulation_ms_ += static_cast<double>(passed);
    for (const Departure& departure : simulation_.Step(simulation_ms_, context_.random)) {
      traffic_.Depart(departure);
    }
  }
  if (leaving_ != Leaving::kNot) {
    GoOnLeaving();
  } else {
    RetryAfterNetworkChange(passed);
    // What changes the sprites comes before the state is saved, and requests come after that.
    guests_.SendOnward();
    crowd_.WatchEmpty(traffic_.on_the_way() == 0);
    traffic_.AdmitWaiting();
    traffic_.TellJourney();
    traffic_.TellGames();
    peeking_.Update();
    SaveIfDue();
    EndFormerSeat();
    SendDueRequests();
    updates_.AskIfDue();
  }
  Draw();
  return scene_;
}

Outbox Desktop::PopOutbox() {
  context_.outbox.toasts = context_.toasts.Pop();
  if (context_.IsQuiet() || leaving_ != Leaving::kNot) {
    context_.outbox.toasts.clear();  // dropped, not delayed: later they would be about the past
    context_.outbox.sounds.clear();
  }
  return std::exchange(context_.outbox, Outbox{});
}

// Tells the person once that the relay does not answer.
void Desktop::CountUnanswered(const Response& response) {
  context_.relay.certificate = response.certificate;
  if (response.status != 0) {
    context_.relay.unanswered = 0;
  } else if (context_.relay.poller.link() != Link::kConnected &&
             ++context_.relay.unanswered == kUnreachableFailures) {
    const std::string host = HostOf(context_.settings.relay);
    const bool is_trusted = response.certificate == CertificateFault::kNone;
    context_.ShowNotice(Text::kToastUnreachable,
                        is_trusted ? context_.Said(Text::kToastUnreachableText)
                                   : SayUnreachable(language(), response.certificate, host),
                        {host});
  }
}

// The invitation is not valid any more: this desktop goes to the friend's world without it.
void Desktop::HandleInvitationEnded() {
  if (context_.settings.world.empty() && invited_.invitation == context_.settings.beside) {
    context_.settings.world = invited_.world;
  }
  context_.settings.beside.clear();
  context_.outbox.settings_changed = true;
  const bool is_commons = context_.settings.world.empty() || context_.settings.world == kCommons;
  context_.ShowNotice(Text::kToastFriendGone,
                      is_commons ? Text::kToastFriendGoneCommons : Text::kToastFriendGoneText);
}

// The picture is asked for without the token of the seat, and checked and decoded like that of any
// stranger. REQUIRES: link.entry.
void Desktop::FetchFromGallery(const RelayLink& link) {
  if (gallery_fetches_ >= kGalleryFetchesMax) {
    context_.ShowNotice(Text::kToastNotTaken, Text::kWhyTooMany, {link.entry->name});
    return;
  }
  gallery_fetches_++;
  Request request = FileRequest(link.relay, link.entry->file);
  request.keeps_file = true;
  context_.Send(std::move(request), Until::kProgramEnds, [this, link](const Response& response) {
    gallery_fetches_--;
    HandleGalleryFetch(link, response.sheet);
  });
}

void Desktop::HandleGalleryFetch(const RelayLink& link, const SheetPointer& sheet) {
  if (sheet == nullptr || sheet->file != link.entry->file) {
    context_.ShowNotice(Text::kToastNotTaken,
                        context_.Said(Text::kToastNotTakenText, {HostOf(link.relay)}),
                        {link.entry->name});
    return;
  }
  if (look_.IsHidden(sheet->file)) {
    look_.HidePicture(sheet->file, false);  // the person wants to see it now
  }
  look_.AddToShelf(sheet);
  crowd_.DropIn(sheet->file, std::nullopt);
}

// After a change of seat: the relay may not have our files. It may have verdicts.
void Desktop::ForgetRelayState() {
  context_.open_requests.End(Until::kSeatEnds);
  traffic_.ForgetFilesAtRelay();
  look_.ForgetFetches();
  traffic_.RetryNow();
  guests_.ForgetMutes();
  talk_.GiveUp();
  peeking_.ForgetSeat();
  company_.Forget();
  swaps_.Forget();
}

JoinOptions Desktop::JoinOptionsNow() const {
  const Screen& screen = simulation_.screen();
  // An invitation that has ended leads to the world it once led to.
  const bool leads_to_world = context_.settings.world.empty() &&
                              context_.relay.poller.IsRefused(context_.settings.beside) &&
                              invited_.invitation == context_.settings.beside;
  return {context_.settings.name,   leads_to_world ? invited_.world : context_.settings.world,
          context_.settings.beside, screen.DipWidth(),
          screen.DipHeight(),       peeking_.ChosenStage()};
}

void Desktop::SendDueRequests() {
  if (resumes_polling_ && traffic_.waiting() < kWaitingToPollMax) {
    resumes_polling_ = false;
    context_.relay.poller.ResumePolling();
  }
  const std::function<void()> kinds[] = {
      [this] { SendPollerRequest(); },
      [this] { traffic_.SendDepartures(); },
      [this] {
        look_.FetchSheets([this](const std::string& file) { traffic_.MarkAtRelay(file); });
      },
      [this] { guests_.SendMutes(); },
      [this] { talk_.Send(); },
      [this] { peeking_.Send(context_.is_paused); },
      [this] {
        context_.Send(company_.DueRequest(context_.now_ms, &context_.budget), Until::kSeatEnds,
                      [this](const Response& response) {
                        company_.HandleResponse(response, context_.now_ms);
                      });
      }};
  constexpr size_t kWithoutSeat = 2;  // the first kinds; the others are requests of the seat
  constexpr size_t kKindCount = std::size(kinds);
  const size_t first = first_kind_;
  for (size_t i = 0; i < kKindCount; i++) {
    const size_t kind = (first + i) % kKindCount;
    const bool had_budget = context_.budget.Allows(context_.now_ms);
    if (kind < kWithoutSeat || context_.relay.ConnectedSeat() != nullptr) {
      kinds[kind]();
    }
    if (had_budget && !context_.budget.Allows(context_.now_ms)) {
      first_kind_ = (kind + 1) % kKindCount;  // the next request is for another kind
    }
  }
}

void Desktop::SendPollerRequest() {
  if (former_) {
    return;  // a join waits until the seat before has told what it acknowledged
  }
  context_.relay.poller.SetJoinOptions(JoinOptionsNow());
  // While the person looks over an edge, a stage comes ten times a second, and a poll after each.
  // The budget would run dry, so those polls have a limit of their own.
  const bool follows_stage = peeking_.follows_stage();
  if (follows_stage ? context_.now_ms < stage_poll_ms_ : !context_.budget.Allows(context_.now_ms)) {
    return;
  }
  if (auto request = context_.relay.poller.DueRequest(context_.now_ms, &context_.next_request)) {
    peeking_.HandlePolled();
    if (follows_stage) {
      stage_poll_ms_ = context_.now_ms + kStagePostMs;
    } else {
      context_.budget.Spend(context_.now_ms);
    }
    SendForSeat(std::move(request));
  }
}

// Ends the poll and asks the relay again, if the network has changed. `passed_ms` since the last
// tick: much means that the machine slept.
void Desktop::RetryAfterNetworkChange(int64_t passed_ms) {
  if (passed_ms >= kSleptMs) {
    NetworkIsBack();
  }
  if (!network_retry_ms_ || context_.now_ms < *network_retry_ms_) {
    return;
  }
  network_retry_ms_.reset();
  if (const RequestId poll = context_.relay.poller.RetryNow(); poll != 0) {
    context_.outbox.cancelled.push_back(poll);
  }
}

void Desktop::HandleNews(const News& news) {
  if (news.batch) {
    HandleBatch(*news.batch);
  }
  if (news.neighbours) {
    Meet(*news.neighbours);
    context_.relay.name = news.name;
    look_.RetryMissing();  // the relay may have them now
  }
  if (news.seated || news.seat_ended) {
    traffic_.BounceUploads();  // the relay may have passed on some of those
  }
  traffic_.TakeBack(news);
  if (news.seated || news.cursor_lost) {
    traffic_.BeginEpoch();
    context_.saves_now = true;
  }
  if (news.seated && !context_.settings.beside.empty() &&
      !context_.relay.poller.IsRefused(context_.settings.beside)) {
    invited_ = {context_.settings.beside, context_.relay.seat()->world};
  }
  if (news.seated || news.seat_ended) {
    ForgetRelayState();
  }
  if (news.seated) {
    context_.relay.refusal.clear();
  }
  if (news.invitation_ended) {
    HandleInvitationEnded();
  }
  if (!news.refused.code.empty() && news.refused.code != context_.relay.refusal) {
    context_.relay.refusal = news.refused.code;
    context_.ShowNotice(Text::kToastRefused, SayProblem(language(), news.refused));
  }
}

// A friend who was invited sits to the right: the sprite nearest to that edge says so, and waves.
void Desktop::Meet(const Neighbours& neighbours) {
  const Neighbour* before = context_.relay.NeighbourBeyond(Edge::kRight);
  const std::string known = before == nullptr ? "" : before->desktop;
  context_.relay.neighbours = neighbours;
  peeking_.AskSoon();
  const Neighbour* friend_there = context_.relay.NeighbourBeyond(Edge::kRight);
  if (!expects_friend_ || friend_there == nullptr || friend_there->desktop == known) {
    return;
  }
  const Sprite* nearest = nullptr;
  for (const Sprite& sprite : simulation_.sprites()) {
    if (RulesOf(sprite.mode).on_feet && (nearest == nullptr || sprite.x > nearest->x)) {
      nearest = &sprite;
    }
  }
  expects_friend_ = false;
  const SpriteId speaker = nearest == nullptr ? kNobody : nearest->id;
  simulation_.Wave(speaker, Facing::kRight);
  context_.remarks.Add(context_.Said(Text::kBubbleFriend, {friend_there->DisplayName()}), speaker,
                       Edge::kRight, context_.now_ms);
}

// A bubble at the upper edge says that somebody asks; the menus have the answers.
void Desktop::HandleSwap(const SwapEvent& event) {
  const bool is_muted = event.from && guests_.IsMuted(*event.from);
  swaps_.HandleEvent(is_muted ? SwapEvent{{}, 0, event.with} : event, context_.now_ms);
  if (const Neighbour* asker = SeatAsker()) {
    context_.remarks.Add(context_.Said(Text::kSwapBubble, {asker->DisplayName()}), kNobody,
                         Edge::kTop, context_.now_ms);
  }
  if (event.with) {
    ShowSwap({Swaps::Outcome::kDone, event.with->DisplayName()});
  }
}

void Desktop::ShowSwap(const Swaps::Result& result) {
  constexpr std::pair<Text, Text> kWords[] = {{Text::kSwapAsked, Text::kSwapAskedText},
                                              {Text::kSwapDone, Text::kSwapDoneText},
                                              {Text::kSwapGone, Text::kSwapGoneText},
                                              {Text::kSwapOver, Text::kSwapOverText},
                                              {Text::kSwapLater, Text::kSwapLaterText}};
  const auto& [title, text] = kWords[static_cast<size_t>(result.outcome)];
  context_.ShowNotice(title, text, {result.name});
}

void Desktop::HandleBatch(const Batch& batch) {
  // Only one toast of a kind is shown at a time, and the operator's words matter more.
  for (const std::string& text : batch.announcements) {
    context_.ShowNotice(Text::kToastOperator, text);
  }
  traffic_.HandleArrivals(batch);
  if (batch.neighbours) {
    Meet(*batch.neighbours);
  }
  if (batch.company_changed || batch.neighbours) {  // in a large world only those are told
    company_.AskSoon();
  }
  if (batch.swap) {
    HandleSwap(*batch.swap);
  }
  talk_.HandleSayings(batch);
  peeking_.HandleStages(batch);
  if (batch.bye_ms) {
    traffic_.ForgetFilesAtRelay();
  }
  // Events about this moment only are not saved: a stage comes ten times a second.
  context_.saves_now =
      context_.saves_now || batch.events != batch.momentary || batch.cursor != saved_cursor_;
  resumes_polling_ = true;
}

void Desktop::Draw() {
  look_.Draw(&scene_);
  crowd_.DrawPeer(&scene_);
  talk_.DrawBubbles(&scene_);
  peeking_.DrawBeyond(&scene_);
  const bool is_unseen =
      scene_.beyond.empty() && std::ranges::none_of(scene_.sprites, &DrawnSprite::visible);
  scene_.idle_ms = std::max(IdleMs(), is_unseen ? kUnseenIdleMs : 0);
  scene_.takes_clicks = !context_.settings.click_through;
}

// How long nothing changes by itself.
double Desktop::IdleMs() const {
  if (peeking_.IsMoving(scene_)) {
    return 0;  // a silhouette moves
  }
  const int64_t peeking = std::max<int64_t>(0, peeking_.NextDueMs() - context_.now_ms);
  double idle = std::min(kIdleMsMax, static_cast<double>(peeking));
  if (context_.is_paused) {
    return idle;
  }
  const double now_ms = simulation_.now_ms();
  idle = std::min(idle, look_.NextChangeMs(now_ms));
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
  const bool is_connected = context_.relay.poller.link() == Link::kConnected;
  const int64_t poll_due =
      former_ ? std::min(former_->poller.NextDueMs(), former_->since_ms + kFarewellMsMax)
              : context_.relay.poller.NextDueMs();
  const int64_t due =
      std::max(context_.budget.NextMs(),
               std::min({poll_due, traffic_.NextDueMs(),
                         is_connected ? talk_.NextDueMs() : std::numeric_limits<int64_t>::max()}));
  const int64_t next =
      std::min({due, talk_.NextEndMs(), context_.remarks.NextEndMs(), guests_.NextDueMs()});
  return std::max(0.0,
                  std::min(idle, static_cast<double>(next) - static_cast<double>(context_.now_ms)));
}

std::string Desktop::StateToSave(bool with_seat) const {
  SavedState state;
  state.relay = context_.settings.relay;
  state.world = context_.settings.world;
  state.name = context_.settings.name;
  state.seat = with_seat ? context_.relay.seat() : std::nullopt;
  state.joined_at = context_.relay.poller.joined_at();
  state.invited = invited_;
  if (state.seat) {
    talk_.SaveTo(&state);
  }
  traffic_.SaveTo(&state);
  return SavedStateJson(state);
}

void Desktop::SaveIfDue() {
  if (!context_.saves_now && context_.now_ms - saved_ms_ < kSaveMs) {
    return;
  }
  context_.saves_now = false;
  saved_ms_ = context_.now_ms;
  std::string state = StateToSave(true);
  saved_cursor_ = context_.relay.seat() ? context_.relay.seat()->cursor : "";
  if (state != saved_) {  // nothing is written while all sprites rest
    context_.outbox.saved_state = state;
    saved_ = std::move(state);
  }
}

}  // namespace sprites
