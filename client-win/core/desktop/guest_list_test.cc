// Plays guests.vectors.json, as test/guests.test.ts does with the page's guests.
#include "core/desktop/guest_list.h"

#include <doctest/doctest.h>

#include <set>

#include "core/relay/crossings/edges.h"
#include "test/core/vectors.h"

namespace sprites {
namespace {

constexpr int64_t kFrameMs = 100;

struct WaitingGuest {
  SpriteId id;
  std::string from;
  Edge edge;
};

Json Played(const Json& one) {
  GuestList here;
  std::vector<WaitingGuest> waiting;
  std::set<SpriteId> stuck;
  for (const Json& id : one.value("stuck", Json::array())) {
    stuck.insert(id.get<SpriteId>());
  }
  Json in = Json::array();
  Json on = Json::array();
  SpriteId next_id = 1;
  for (int64_t ms = 0; ms <= one["endMs"].get<int64_t>(); ms += kFrameMs) {
    for (const Json& action : one["script"]) {
      if (action["ms"] != ms) {
        continue;
      }
      if (action.contains("sendOn")) {
        here.SendOn(action["sendOn"].is_null() ? std::nullopt
                                               : std::optional(action["sendOn"].get<std::string>()),
                    ms);
        continue;
      }
      if (action.contains("pass")) {
        here.Pass(action["pass"].get<SpriteId>(), *EdgeNamed(action["edge"]), ms);
        continue;
      }
      if (action.contains("stay")) {
        here.Stay(action["stay"].get<SpriteId>());
        continue;
      }
      for (int i = 0; i < action["arrive"].get<int>(); i++) {
        waiting.push_back(
            {next_id++, action["from"].get<std::string>(), *EdgeNamed(action["edge"])});
      }
    }
    std::erase_if(waiting, [&](const WaitingGuest& guest) {
      const bool has_room = here.HasRoom(guest.from, ms);
      if (has_room) {
        here.Add(guest.id, guest.from, guest.edge, ms);
        in.push_back({ms, guest.id});
      }
      return has_room;
    });
    if (const GuestList::Guest* going = here.Next(ms)) {
      on.push_back({ms, going->id, NameOf(going->edge)});
      if (!stuck.contains(going->id)) {
        here.Remove(SpriteId{going->id});
      }
    }
  }
  return {{"in", in}, {"on", on}};
}

TEST_CASE("guest list › has the numbers of guests.vectors.json, and plays its cases alike") {
  const Json vectors = ReadVectors(GUEST_VECTORS);
  const Json& constants = vectors["constants"];
  CHECK(constants["GUESTS_MAX"] == kGuestsMax);
  CHECK(constants["GUESTS_OF_ONE_MAX"] == kGuestsOfOneMax);
  CHECK(constants["GUEST_STAY_MS"] == kGuestStayMs);
  CHECK(constants["GUEST_GAP_MS"] == kGuestGapMs);
  CHECK(constants["GUEST_PASSING_MS"] == kGuestPassingMs);
  CHECK(constants["GUEST_RETRY_MS"] == kGuestRetryMs);
  for (const Json& one : vectors["cases"]) {
    CAPTURE(one["name"]);
    CHECK(Played(one) == one["expect"]);
  }
}

}  // namespace
}  // namespace sprites
