#include "core/desktop/traffic.h"

#include <utility>

#include "core/desktop/journey_words.h"
#include "core/relay/crossings/journey.h"
#include "core/relay/problem_texts.h"
#include "core/text/text.h"

namespace sprites {

namespace {

// Over the opposite edge, in the same direction.
Entrance Onwards(Entrance entrance) {
  entrance.edge = Opposite(entrance.edge);
  entrance.goal = {};
  return entrance;
}

// A sprite that is not shown here, as it goes on.
Departure Forwarded(const Arrival& arrival, const Entrance& onwards, const Nature& nature) {
  Departure departure{onwards, Sprite{arrival}};
  departure.sprite.nature = nature;
  return departure;
}

// A forwarded sprite that no other desktop took.
Arrival NotForwarded(const Departure& departure) {
  Arrival arrival{departure.sprite};
  arrival.entrance = Onwards(departure);
  return arrival;
}

}  // namespace

void Traffic::Restore(SavedState* state, bool has_seat) {
  // Only the relay of that seat can take back the sprites of its last batch: without the seat, all
  // that is here stays.
  std::map<SpriteId, uint64_t> batch;
  for (const auto& [sprite, seq, from, entered] : state->sprites) {
    if (simulation_.sprites().size() < size_t{kSpriteLimitMax} + kAwayMax + kGuestsMax) {
      const SpriteId id = simulation_.Add({sprite,
                                           sprite.from_shelf,
                                           look_.NatureFor(sprite.file, sprite.scale),
                                           {sprite.x, sprite.y}});
      if (has_seat && seq > 0) {
        batch[id] = seq;
      }
      if (entered) {
        guests_.Add(id, from, *entered);
      }
    }
  }
  for (Arrival& arrival : state->waiting) {
    if (arrivals_.waiting().size() < kWaitingMax) {
      arrival.seq = has_seat ? arrival.seq : 0;
      arrivals_.Wait(std::move(arrival));
    }
  }
  for (AwaySprite& sprite : state->away) {
    away_.Restore(std::move(sprite));
  }
  departures_.set_next_number(state->next_number);
  for (PendingDeparture& pending : state->departures) {
    Sprite& sprite = pending.departure.sprite;
    sprite.nature = look_.NatureFor(sprite.file, sprite.scale);
    if (pending.thrown_from == SeatKey{}) {
      simulation_.BounceBack(pending.departure);  // nobody can be asked
    } else {
      departures_.Restore(std::move(pending));
    }
  }
  if (has_seat) {
    arrivals_.Restore(state->seq, std::move(batch));
  }
}

void Traffic::SaveTo(SavedState* state) const {
  state->seq = arrivals_.seq();
  state->next_number = departures_.next_number();
  for (const Sprite& sprite : simulation_.sprites()) {
    SavedSprite saved{sprite, state->seat ? arrivals_.SeqOf(sprite.id) : 0};
    if (const auto goes_by = guests_.EdgeOf(sprite.id)) {
      saved.from = *guests_.SenderOf(sprite.id);
      saved.entered = Opposite(*goes_by);
    }
    state->sprites.push_back(std::move(saved));
  }
  for (const Departure& departure : uploads_.Waiting()) {
    state->sprites.push_back({departure.sprite, 0});  // not thrown yet, so it is still here
  }
  state->departures = departures_.pending();
  state->away = away_.all();
  state->waiting = arrivals_.waiting();
  for (Arrival& arrival : state->waiting) {
    arrival.seq = state->seat ? arrivals_.SeqOf(arrival) : 0;
  }
}

void Traffic::HandleArrivals(const Batch& batch) {
  arrivals_.BeginBatch(batch.arrivals.empty() ? 0 : batch.arrivals.front().seq);
  for (const Arrival& arrival : batch.arrivals) {
    if (!arrivals_.IsNew(arrival) || arrivals_.IsRemoved(arrival.file)) {
      continue;
    }
    const std::optional<Entrance> unseen = UnseenWayOf(arrival);
    const std::optional<Seat>& seat = context_.relay.seat();
    if (unseen && seat && departures_.HasRoom(*seat)) {
      Departure onwards = Forwarded(arrival, *unseen, look_.NatureFor(arrival.file, arrival.scale));
      onwards.journey = TravelledFrom(onwards.sprite);
      departures_.Add(onwards, *seat, true);
    } else {
      Admit(arrival);
    }
  }
  for (const std::string& file : batch.removed) {
    RemovePicture(file);
  }
}

std::string Traffic::OnItsWay(const std::string& name, const Goal& goal) const {
  return context_.Said(Text::kSpriteOnItsWay, {name, PlainText(goal.name, kNameBytesMax)});
}

// The next step of a sprite that is thrown to somebody else; nothing if it stays here.
std::optional<Step> Traffic::NextStepOf(const Arrival& arrival) const {
  return context_.relay.IsSelf(arrival.from.desktop)
             ? std::nullopt
             : NextStep(arrival.entrance.goal, context_.relay.name,
                        context_.relay.neighbours.value_or(Neighbours{}));
}

// How a sprite goes on that is not shown here: that of a muted neighbour in its direction of
// travel, and one that only passes if this desktop hides its stage.
std::optional<Entrance> Traffic::UnseenWayOf(const Arrival& arrival) const {
  const auto step = NextStepOf(arrival);
  const bool is_home = !step && away_.Has(arrival.file, arrival.journey);
  if (guests_.IsMuted(arrival.from) && !is_home) {
    return Onwards(arrival.entrance);
  }
  if (!step || !context_.relay.seat() || context_.relay.seat()->stage != false) {
    return std::nullopt;
  }
  Entrance onwards = arrival.entrance;
  onwards.edge = step->edge;
  onwards.goal = step->goal;
  return onwards;
}

void Traffic::SendDepartures() {
  for (Request& request : departures_.DueRequests(context_.relay.ConnectedSeat(), context_.now_ms,
                                                  &context_.budget, &context_.next_request)) {
    context_.Send(std::move(request), Until::kAnswered, [this](const Response& response) {
      if (const auto verdict =
              departures_.HandleResponse(response, context_.now_ms, context_.random)) {
        HandleVerdict(*verdict);
      }
    });
  }
  for (const Verdict& verdict : departures_.GiveUp()) {
    HandleVerdict(verdict);
  }
}

// Takes a picture that the operator has removed off this desktop and its shelf. A received file is
// deleted from the disk. A file of this person stays there, because another relay may accept it.
void Traffic::RemovePicture(const std::string& file) {
  std::vector<SpriteId> worn_by;
  for (const Sprite& sprite : simulation_.sprites()) {
    if (sprite.file == file) {
      worn_by.push_back(sprite.id);
    }
  }
  Remove(worn_by);
  const bool was_seen = !worn_by.empty() || look_.FindOnShelf(file) != nullptr;
  arrivals_.RemovePicture(file);
  look_.Remove(file);
  Request request;
  request.lane = Lane::kFile;
  request.method = Method::kDelete;
  request.file = file;
  context_.Send(std::move(request));
  if (was_seen) {
    context_.ShowNotice(Text::kToastPictureGone, Text::kToastPictureGoneText);
  }
}

void Traffic::HandleVerdict(const Verdict& verdict) {
  context_.saves_now = true;
  // A sprite that was on its way when its picture was removed does not come back.
  const Departure& departure = verdict.pending.departure;
  const bool is_caught = verdict.accepted && verdict.to && !verdict.pending.is_forwarded &&
                         !guests_.EdgeOf(departure.sprite.id) &&
                         !context_.relay.IsSelf(verdict.to->desktop);
  if (is_caught && !verdict.to->DisplayName().empty()) {
    const bool is_there =
        departure.goal.name.empty() ||
        PlainText(departure.goal.name, kNameBytesMax) == verdict.to->DisplayName();
    context_.remarks.Add(is_there ? context_.Said(Text::kBubbleCaught, {departure.sprite.name,
                                                                        verdict.to->DisplayName()})
                                  : OnItsWay(departure.sprite.name, departure.goal),
                         kNobody, departure.edge, context_.now_ms);
  }
  if (verdict.accepted) {
    games_.Give(departure);
    away_.Accept(departure, verdict.to ? verdict.to->name : "", context_.clock.unix_s);
  } else if (departure.sprite.from_shelf) {
    away_.Refuse(departure);
  }
  if (verdict.accepted || arrivals_.IsRemoved(verdict.pending.departure.sprite.file)) {
    guests_.Remove(verdict.pending.departure.sprite.id);
    return;
  }
  if (verdict.pending.is_forwarded) {
    Admit(NotForwarded(verdict.pending.departure));
  } else {
    BounceBack(verdict.pending.departure, SayProblem(context_.language(), verdict.problem));
  }
}

void Traffic::HandleUpload(const Uploads::Result& result) {
  for (const Departure& departure : result.departures) {
    if (arrivals_.IsRemoved(departure.sprite.file)) {
      continue;
    }
    if (!result.is_at_relay) {
      BounceBack(departure, SayProblem(context_.language(), result.problem));
    } else if (const auto why = WhyEdgesBounce()) {
      BounceBack(departure, context_.Said(*why));
    } else {
      Leave(departure);
    }
  }
  context_.saves_now = true;
}

// Lets a sprite in. It waits while there is no room for another guest. An own sprite that is home
// again is no guest.
void Traffic::Admit(const Arrival& arrival) {
  auto step = NextStepOf(arrival);
  const bool is_own = context_.relay.IsSelf(arrival.from.desktop);
  const auto home = step ? std::nullopt : away_.ComeHome(arrival.file, arrival.journey, is_own);
  if (!home && !guests_.HasRoom(arrival.from)) {
    arrivals_.Wait(arrival);
    return;
  }
  Sprite sprite{arrival};
  sprite.from_shelf = home && look_.FindOnShelf(arrival.file) != nullptr;
  sprite.journey = home.value_or(arrival.journey);
  const SheetPointer& sheet = look_.SheetOf(arrival.file);
  // A sheet is never null, which the analyser can't see. NOLINTNEXTLINE(clang-analyzer-core.*)
  sprite.name = arrival.name.empty() ? sheet->description.name : arrival.name;
  sprite.nature = look_.NatureFor(arrival.file, arrival.scale);
  const std::string name = sprite.name;
  Entrance entrance = arrival.entrance;
  entrance.is_home = is_own || home;
  const SpriteId id = simulation_.Enter(std::move(sprite), entrance);
  if (const Sprite* entered = simulation_.Find(id)) {
    look_.RaiseDust(*entered, kArrivalPuffReach);
  }
  arrivals_.Admit(arrival, id);
  if (!home) {
    guests_.Add(id, arrival.from, arrival.entrance.edge);
  }
  if (step) {
    step->animation = arrival.entrance.animation;
    guests_.Head(id, *step, true);
  }
  if (home && !is_own) {
    context_.remarks.Add(HomeWords(context_.language(), name, *home, context_.clock), id,
                         arrival.entrance.edge, context_.now_ms);
  } else if (guests_.SenderOf(id) != nullptr) {
    context_.remarks.Add(step
                             ? OnItsWay(name, step->goal)
                             : context_.Said(Text::kSpriteFrom, {name, arrival.from.DisplayName()}),
                         id, arrival.entrance.edge, context_.now_ms);
  }
  context_.outbox.sounds.push_back(Sound::kArrive);
  if (step) {
    return;  // it is only seen
  }
  if (const Sprite* played = simulation_.Find(id);
      played != nullptr && (!is_own || arrival.entrance.animation != "fall")) {
    games_.Arrive(*played, arrival.entrance.animation, context_.now_ms);
  }
  context_.toasts.AddArrival(context_.language(), name, is_own ? "" : arrival.from.DisplayName(),
                             context_.now_ms);
}

void Traffic::AdmitWaiting() {
  const auto has_room = [this](const Arrival& arrival) { return guests_.HasRoom(arrival.from); };
  while (auto arrival = arrivals_.Pop(has_room)) {
    Admit(*arrival);
    context_.saves_now = true;
  }
}

void Traffic::TellJourney() {
  const SpriteId rested = simulation_.RestedOn(kJourneyRestMs);
  const Sprite* sprite = simulation_.Find(rested);
  if (rested != std::exchange(told_, rested) && sprite != nullptr && sprite->journey.hops > 0) {
    context_.remarks.Add(
        sprites::TellJourney(context_.language(), sprite->name, sprite->journey, context_.clock),
        rested, Edge::kTop, context_.now_ms);
  }
}

void Traffic::LightPotato(SpriteId id) {
  if (const Sprite* sprite = simulation_.Find(id)) {
    games_.Light(*sprite, context_.now_ms, context_.random());
  }
}

void Traffic::TellGames() {
  constexpr Text kTexts[] = {Text::kGameKeptUp, Text::kGameDropped, Text::kGameHot,
                             Text::kGameBurnt, Text::kGameBurntThere};
  for (const GameNews& news : games_.Step(simulation_.sprites(), context_.now_ms)) {
    context_.remarks.Add(context_.Said(kTexts[static_cast<size_t>(news.what)],
                                       {news.name, std::to_string(news.count)}),
                         news.sprite, news.edge, context_.now_ms);
    if (news.what == GameNews::What::kBurnt) {
      context_.outbox.sounds.push_back(Sound::kLand);
    }
  }
  for (const Sprite& sprite : simulation_.sprites()) {
    if (games_.IsHot(sprite.id) && context_.remarks.HasRoom(sprite.id)) {
      context_.remarks.Add("🔥", sprite.id, Edge::kTop, context_.now_ms);
    }
  }
}

// Nothing when a throw may leave this desktop.
std::optional<Text> Traffic::WhyEdgesBounce() const {
  const Seat* seat = context_.relay.ConnectedSeat();
  return seat == nullptr               ? std::optional(Text::kWhyNotConnected)
         : !departures_.HasRoom(*seat) ? std::optional(Text::kWhyTooMany)
                                       : std::nullopt;
}

// The journey of a sprite with a throw from here; none while the time is not known.
Journey Traffic::TravelledFrom(const Sprite& sprite) {
  if (context_.clock.unix_s == 0) {
    return sprite.journey;
  }
  return Travelled(sprite.journey, context_.settings.signs ? context_.relay.name : "",
                   look_.SheetOf(sprite.file)->description.author, context_.clock.unix_s);
}

// One that was on its way to somebody stays here.
void Traffic::BounceBack(const Departure& departure, const std::string& why) {
  guests_.EndWay(departure.sprite.id);
  crowd_.BounceBack(departure, why);
}

// The relay has its file: sends it there.
void Traffic::Leave(Departure departure) {
  if (departure.animation.empty()) {
    departure.animation = games_.AnimationOf(departure.sprite.id, context_.now_ms);
  }
  departures_.Add(departure, *context_.relay.ConnectedSeat(), false);
  if (departure.sprite.from_shelf) {
    away_.Leave(departure, context_.clock.unix_s);
  }
}

// A sprite was thrown over an edge: sends it to the relay, its file first, or lets it bounce.
void Traffic::Depart(Departure departure) {
  if (const Step* step = guests_.StepOf(departure.sprite.id, departure.edge)) {
    departure.goal = step->goal;
    departure.animation = step->animation;
  }
  departure.journey = TravelledFrom(departure.sprite);
  if (const auto why = WhyEdgesBounce()) {
    BounceBack(departure, context_.Said(*why));
    return;
  }
  context_.saves_now = true;
  const std::string& file = departure.sprite.file;
  // A file that is not here can't be uploaded. The relay has it from its sender.
  if (uploads_.IsAtRelay(file) || !look_.HasSheet(file)) {
    Leave(departure);
  } else if (uploads_.IsFull(file)) {
    BounceBack(departure, context_.Said(Text::kWhyTooMany));
  } else {
    context_.Send(
        uploads_.Add(departure, context_.relay.poller.relay(), context_.relay.seat()->token),
        Until::kSeatEnds, [this, file](const Response& response) {
          HandleUpload(uploads_.HandleResponse(file, response));
        });
  }
}

void Traffic::Remove(const std::vector<SpriteId>& ids) {
  crowd_.Remove(ids);
  for (const SpriteId id : ids) {
    guests_.Remove(id);
  }
}

// Sprites that wait for an upload come back.
void Traffic::BounceUploads() {
  for (const Departure& departure : uploads_.PopWaiting()) {
    simulation_.BounceBack(departure);
  }
}

// Removes the sprites that the relay has passed on to others at the end of the seat.
void Traffic::TakeBack(const News& news) {
  if (news.acknowledged) {
    Remove(arrivals_.TakeBackAfter(*news.acknowledged));
  } else if (news.batch_was_lost) {
    TakeBackBatch();
  }
}

}  // namespace sprites
