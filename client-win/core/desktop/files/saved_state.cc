#include "core/desktop/files/saved_state.h"

#include <cmath>
#include <utility>

#include "core/relay/crossings/edges.h"
#include "core/relay/crossings/journey.h"
#include "core/relay/moves.h"
#include "core/text/json.h"
#include "core/text/text.h"
#include "wire/rules.h"

namespace sprites {

namespace {

constexpr int kSavedDepthMax = 6;                 // nested values; the file has 4
constexpr double kCountMax = double{1ull << 53};  // larger counts are not exact in JSON

uint64_t CountAt(const Json& value, const char* name, double min) {
  return static_cast<uint64_t>(NumberAt(value, name, min, kCountMax, min));
}

Json SpriteToJson(const Sprite& sprite) {
  Json json = CarriedJson(sprite);
  json["fromShelf"] = sprite.from_shelf;
  json["x"] = std::round(sprite.x);
  json["y"] = std::round(sprite.y);
  return json;
}

Json SavedSpriteToJson(const SavedSprite& saved) {
  Json json = SpriteToJson(saved.sprite);
  if (saved.seq > 0) {
    json["seq"] = saved.seq;
  }
  if (saved.entered) {
    json["entered"] = rules::kEdgeNames[static_cast<size_t>(*saved.entered)];
    json["fromDesktop"] = saved.from.desktop;
    json["fromName"] = saved.from.name;
  }
  return json;
}

// Nothing without a file.
std::optional<Sprite> SpriteFromJson(const Json& value) {
  auto carried = CarriedIn(value);
  if (!carried) {
    return std::nullopt;
  }
  Sprite sprite{std::move(*carried)};
  sprite.from_shelf = BoolAt(value, "fromShelf", false);
  sprite.x = NumberAt(value, "x", -kSideMax, kSideMax, 0);
  sprite.y = NumberAt(value, "y", -kSideMax, kSideMax, 0);
  return sprite;
}

Neighbour SenderFromJson(const Json& value) {
  return {TextAt(value, "fromDesktop", kIdBytesMax),
          PlainText(TextAt(value, "fromName", kIdBytesMax), kNameBytesMax)};
}

std::optional<SavedSprite> SavedSpriteFromJson(const Json& value) {
  auto sprite = SpriteFromJson(value);
  return sprite ? std::optional(SavedSprite{std::move(*sprite), CountAt(value, "seq", 0),
                                            SenderFromJson(value),
                                            EdgeNamed(MemberOf(value, "entered"))})
                : std::nullopt;
}

Json EntranceToJson(const Entrance& entrance) {
  Json json = MotionJson(entrance);
  json["edge"] = static_cast<int>(entrance.edge);
  if (!entrance.animation.empty()) {
    json["animation"] = entrance.animation;
  }
  return json;
}

Entrance EntranceFromJson(const Json& value) {
  Entrance entrance =
      EntranceBy(static_cast<Edge>(static_cast<int>(NumberAt(value, "edge", 0, 3, 0))), value);
  entrance.animation = TextAt(value, "animation", rules::kAnimationLengthMax);
  return entrance;
}

Json ArrivalToJson(const Arrival& arrival) {
  Json json = CarriedJson(arrival);
  json.update(EntranceToJson(arrival.entrance));
  json["fromDesktop"] = arrival.from.desktop;
  json["fromName"] = arrival.from.name;
  if (arrival.seq > 0) {
    json["seq"] = arrival.seq;
  }
  return json;
}

std::optional<Arrival> ArrivalFromJson(const Json& value) {
  auto sprite = CarriedIn(value);
  return sprite ? std::optional(Arrival{std::move(*sprite), CountAt(value, "seq", 0),
                                        SenderFromJson(value), EntranceFromJson(value)})
                : std::nullopt;
}

Json DepartureToJson(const PendingDeparture& pending) {
  const Departure& departure = pending.departure;
  Json json = SpriteToJson(departure.sprite);
  json.update(EntranceToJson(departure));
  if (departure.journey.hops > 0) {
    json["travelled"] = JourneyToJson(departure.journey);
  }
  json["number"] = pending.number;
  json["seat"] = {{"crossings", pending.thrown_from.crossings},
                  {"token", pending.thrown_from.token}};
  return json;
}

std::optional<PendingDeparture> DepartureFromJson(const Json& value) {
  const auto sprite = SpriteFromJson(value);
  const double number = NumberAt(value, "number", 0, kCountMax, 0);
  if (!sprite || number < 1) {
    return std::nullopt;
  }
  PendingDeparture pending;
  pending.number = static_cast<uint64_t>(number);
  pending.departure = {EntranceFromJson(value), *sprite, JourneyIn(MemberOf(value, "travelled"))};
  const Json& seat = MemberOf(value, "seat");
  const SeatKey key{TextAt(seat, "crossings", kUrlBytesMax), TextAt(seat, "token", kIdBytesMax)};
  pending.thrown_from = IsValid(key) ? key : SeatKey{};
  pending.was_sent = true;  // perhaps: the state is saved before the request is sent
  return pending;
}

Json AwayToJson(const AwaySprite& sprite) {
  return {{"file", sprite.file},   {"name", sprite.name}, {"since", sprite.since_s},
          {"seen", sprite.seen_s}, {"hops", sprite.hops}, {"with", sprite.with}};
}

std::optional<AwaySprite> AwayFromJson(const Json& value) {
  const auto sprite = SpriteFromJson(value);
  const Journey journey = JourneyIn(value);
  if (!sprite || journey.hops == 0) {
    return std::nullopt;
  }
  const auto seen_s = static_cast<int64_t>(NumberAt(value, "seen", 0, kCountMax, 0));
  return AwaySprite{sprite->file, sprite->name, journey.since_s,
                    seen_s,       journey.hops, TextAt(value, "with", kIdBytesMax)};
}

std::optional<PendingSaying> SayingFromJson(const Json& value) {
  const double number = NumberAt(value, "number", 0, kCountMax, 0);
  std::string text = SayingText(TextAt(value, "text", kSayingBytesMax));
  return number < 1 || text.empty()
             ? std::nullopt
             : std::optional(PendingSaying{static_cast<uint64_t>(number), std::move(text)});
}

// Calls `read` with each value of the array, and appends what it returns. Returns how many values
// can't be used; one if there is something else than an array.
template <typename List, typename Reader>
size_t ReadList(const Json& values, Reader read, List* list) {
  if (!values.is_array()) {
    return values.is_null() ? 0 : 1;
  }
  for (const Json& value : values) {
    if (auto one = read(value)) {
      list->push_back(std::move(*one));
    }
  }
  return values.size() - list->size();
}

}  // namespace

std::string SavedStateJson(const SavedState& state) {
  Json root = {{"relay", state.relay},     {"world", state.world},      {"name", state.name},
               {"seq", state.seq},         {"next", state.next_number}, {"sprites", Json::array()},
               {"leaving", Json::array()}, {"waiting", Json::array()},  {"away", Json::array()}};
  if (state.seat) {
    root["seat"] = ParseJson(SeatJson(*state.seat), kSavedDepthMax);
    root["joinedAt"] = state.joined_at;
    root["nextSaying"] = state.next_saying;
    if (state.saying) {
      root["saying"] = {{"number", state.saying->number}, {"text", state.saying->text}};
    }
  }
  if (!state.invited.invitation.empty()) {
    root["invited"] = {{"near", state.invited.invitation}, {"world", state.invited.world}};
  }
  for (const SavedSprite& sprite : state.sprites) {
    root["sprites"].push_back(SavedSpriteToJson(sprite));
  }
  for (const PendingDeparture& pending : state.departures) {
    root["leaving"].push_back(DepartureToJson(pending));
  }
  for (const Arrival& arrival : state.waiting) {
    root["waiting"].push_back(ArrivalToJson(arrival));
  }
  for (const AwaySprite& sprite : state.away) {
    root["away"].push_back(AwayToJson(sprite));
  }
  return WriteJson(root);
}

SavedState ReadSavedState(std::string_view json, std::string_view relay_url) {
  const Json root = json.size() > kSavedBytesMax ? Json() : ParseJson(json, kSavedDepthMax);
  SavedState state;
  const std::pair<const char*, std::string*> texts[] = {
      {"relay", &state.relay}, {"world", &state.world}, {"name", &state.name}};
  for (const auto& [name, text] : texts) {
    *text = TextAt(root, name, kSavedBytesMax);
  }
  // A state that an older program has saved has no such address.
  const auto joined_at = RelayToJoin(relay_url, TextAt(root, "joinedAt", kUrlBytesMax));
  state.joined_at = joined_at && state.relay == relay_url ? *joined_at : std::string(relay_url);
  state.seat = ReadSeat(WriteJson(MemberOf(root, "seat")), state.joined_at);
  const Json& invited = MemberOf(root, "invited");
  state.invited = {TextAt(invited, "near", kIdBytesMax),
                   PlainText(TextAt(invited, "world", kIdBytesMax), kNameBytesMax)};
  state.seq = CountAt(root, "seq", 0);
  state.next_number = CountAt(root, "next", 1);
  state.next_saying = CountAt(root, "nextSaying", 1);
  state.saying = SayingFromJson(MemberOf(root, "saying"));
  state.is_state = root.is_object();
  state.left_out = ReadList(MemberOf(root, "sprites"), SavedSpriteFromJson, &state.sprites) +
                   ReadList(MemberOf(root, "leaving"), DepartureFromJson, &state.departures) +
                   ReadList(MemberOf(root, "waiting"), ArrivalFromJson, &state.waiting);
  ReadList(MemberOf(root, "away"), AwayFromJson, &state.away);
  for (PendingDeparture& pending : state.departures) {
    // An older program has saved no seats here: all of them were thrown from the present one.
    if (state.seat && pending.thrown_from == SeatKey{}) {
      pending.thrown_from = KeyOf(*state.seat);
    }
  }
  return state;
}

}  // namespace sprites
