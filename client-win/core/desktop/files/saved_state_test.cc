#include "core/desktop/files/saved_state.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "core/text/json.h"
#include "test/core/test_relay.h"
#include "wire/rules.h"

namespace sprites {
namespace {

SavedState SomeState() {
  SavedState state;
  state.relay = kRelay;
  state.world = "ours";
  state.name = "Ann";
  state.seat = Seat{"1-1",
                    "1-1.00",
                    "ours",
                    "6a1f03c2-0",
                    std::string(kRelay) + "/events",
                    std::string(kRelay) + "/crossings"};
  state.joined_at = kRelay;
  state.seq = 81;
  state.next_number = 18;
  state.next_saying = 4;
  state.saying = PendingSaying{3, "Whose cat is that?"};
  Sprite sprite;
  sprite.file = kFile;
  sprite.name = "Blob";
  sprite.scale = 2;
  sprite.from_shelf = true;
  sprite.facing = Facing::kLeft;
  sprite.x = 100;
  sprite.y = 600;
  state.sprites = {{sprite, 81}};
  PendingDeparture pending;
  pending.number = 17;
  pending.departure = {{Edge::kTop, 0.25, 900, -50}, sprite};
  pending.thrown_from = {std::string(kRelay) + "/v1/desktops/0-1/crossings", "0-1.00"};
  state.departures = {pending};
  Arrival arrival;
  arrival.seq = 80;
  arrival.file = kFile;
  arrival.name = "Guest";
  arrival.from = {"9-3e", "Bob"};
  arrival.entrance = {Edge::kBottom, 0.75, 10, -300};
  state.waiting = {arrival};
  return state;
}

TEST_CASE("saved state › reads what it has written") {
  const SavedState state = ReadSavedState(SavedStateJson(SomeState()), kRelay);
  CHECK(SavedStateJson(state) == SavedStateJson(SomeState()));
  REQUIRE(state.seat);
  CHECK(state.seat->token == "1-1.00");
  CHECK(state.seq == 81);
  CHECK(state.next_number == 18);
  CHECK(state.next_saying == 4);
  REQUIRE(state.saying);
  CHECK(state.saying->number == 3);
  CHECK(state.saying->text == "Whose cat is that?");
  REQUIRE(state.sprites.size() == 1);
  CHECK(state.sprites[0].seq == 81);
  CHECK(state.sprites[0].sprite.from_shelf);
  CHECK(state.sprites[0].sprite.facing == Facing::kLeft);
  REQUIRE(state.departures.size() == 1);
  CHECK(state.departures[0].number == 17);
  CHECK(state.departures[0].thrown_from == SomeState().departures[0].thrown_from);
  CHECK(state.departures[0].departure.edge == Edge::kTop);
  CHECK(state.departures[0].departure.vy == -50);
  REQUIRE(state.waiting.size() == 1);
  CHECK(state.waiting[0].from.DisplayName() == "Bob");
  CHECK(state.waiting[0].seq == 80);
  CHECK(state.waiting[0].entrance.edge == Edge::kBottom);
}

TEST_CASE("saved state › keeps a seat at the relay to which the desktop has moved") {
  SavedState state = SomeState();
  state.joined_at = "http://r2.example";
  state.seat->events = state.seat->crossings = "http://r2.example/x";
  const SavedState read = ReadSavedState(SavedStateJson(state), kRelay);
  CHECK(read.seat);
  CHECK(read.joined_at == "http://r2.example");
  CHECK(!ReadSavedState(SavedStateJson(state), "https://relay.example").seat);
  state.joined_at.clear();  // as an older program has written it
  CHECK(!ReadSavedState(SavedStateJson(state), kRelay).seat);
  CHECK(ReadSavedState(SavedStateJson(state), kRelay).joined_at == kRelay);
}

TEST_CASE("saved state › a departure has no seat that is no address or no token") {
  const std::string url = std::string(kRelay) + "/v1/desktops/0-1/crossings";
  for (const auto& [crossings, token] :
       {std::pair<std::string, std::string>{"file:///etc/passwd", "0-1.00"},
        {url, ""},
        {url, "0-1.00\r\nX: y"},
        {url, std::string(kIdBytesMax + 1, 'a')}}) {
    Json root = Json::parse(SavedStateJson(SomeState()));
    root["leaving"][0]["seat"] = {{"crossings", crossings}, {"token", token}};
    root.erase("seat");
    const SavedState state = ReadSavedState(WriteJson(root), kRelay);
    REQUIRE(state.departures.size() == 1);
    CHECK(state.departures[0].thrown_from == SeatKey{});
  }
}

TEST_CASE("saved state › has no seat that is not on its relay") {
  CHECK(!ReadSavedState(SavedStateJson(SomeState()), "http://other.example").seat);
}

TEST_CASE("saved state › leaves out what is wrong and keeps the rest") {
  Json root = Json::parse(SavedStateJson(SomeState()));
  root["seq"] = "many";
  root["sprites"].push_back({{"file", "../../etc/passwd"}});
  root["sprites"].push_back({{"file", kFile}, {"x", 1e300}, {"scale", -1}});
  root["leaving"].push_back({{"file", kFile}, {"number", 0}});
  root["waiting"] = 7;
  const SavedState state = ReadSavedState(WriteJson(root), kRelay);
  CHECK(state.seq == 0);
  REQUIRE(state.sprites.size() == 2);
  CHECK(state.sprites[1].sprite.x == kSideMax);
  CHECK(state.sprites[1].sprite.scale == rules::kScaleMin);
  CHECK(state.departures.size() == 1);
  CHECK(state.waiting.empty());
}

TEST_CASE("saved state › a count: one less than the limit, the limit, above it") {
  constexpr uint64_t kCountMax = 1ull << 53;
  for (const uint64_t count : {kCountMax - 1, kCountMax, kCountMax + 2, UINT64_MAX}) {
    Json root = Json::parse(SavedStateJson(SomeState()));
    root["seq"] = count;
    CHECK(ReadSavedState(WriteJson(root), kRelay).seq == std::min(count, kCountMax));
  }
}

TEST_CASE("saved state › is empty when the file is not JSON, or too large") {
  const std::string text = SavedStateJson(SomeState());
  CHECK(ReadSavedState(text + std::string(kSavedBytesMax - text.size(), ' '), kRelay).seq == 81);
  for (const std::string& bad : {std::string(), std::string("{"), std::string("[1,2]"),
                                 text + std::string(kSavedBytesMax - text.size() + 1, ' ')}) {
    const SavedState state = ReadSavedState(bad, kRelay);
    CHECK(state.sprites.empty());
    CHECK(!state.seat);
    CHECK(state.next_number == 1);
  }
}

}  // namespace
}  // namespace sprites
