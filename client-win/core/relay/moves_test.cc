// moves.vectors.json in this client; test/moves.test.ts plays them in the browser's.
#include "core/relay/moves.h"

#include <doctest/doctest.h>

#include <string>

#include "test/core/vectors.h"

namespace sprites {
namespace {

const Json& MovesVectors() {
  static const Json vectors = ReadVectors(MOVES_VECTORS);
  return vectors;
}

// Says which case failed.
std::string NameOf(const Json& one) { return one["name"].get<std::string>(); }

TEST_CASE("moves › have the constants of the vectors") {
  const Json& constants = MovesVectors()["constants"];
  CHECK(constants["MOVES_MAX"] == kMovesMax);
  CHECK(constants["MOVES_MS"] == kMovesMs);
  CHECK(constants["LOST_LEASES"] == rules::kLostLeases);
  CHECK(constants.size() == 3);
}

TEST_CASE("moves › follow to the addresses of the vectors") {
  for (const Json& one : MovesVectors()["addresses"]) {
    CAPTURE(NameOf(one));
    const auto to = RelayToJoin(one["relay"].get<std::string>(), one["join"].get<std::string>());
    CHECK((to ? Json(*to) : Json()) == one["to"]);
  }
  for (const Json& one : MovesVectors()["lengths"]) {
    CAPTURE(NameOf(one));
    std::string join = "http://r2.example/";
    join.resize(one["bytes"].get<size_t>(), 'x');
    CHECK(RelayToJoin("http://r1.example", join).has_value() == one["isFollowed"].get<bool>());
  }
}

TEST_CASE("moves › are as many as the vectors say") {
  for (const Json& one : MovesVectors()["moves"]) {
    CAPTURE(NameOf(one));
    Moves moves("http://r1.example");
    Json follows = Json::array();
    for (const Json& at : one["atMs"]) {
      follows.push_back(
          moves.Follow("http://r1.example", "http://r2.example/v1/desktops", at.get<int64_t>())
              .has_value());
    }
    CHECK(follows == one["follows"]);
  }
}

TEST_CASE("moves › do not count an address that is not followed") {
  Moves moves("https://r1.example");
  for (int i = 0; i < 9; i++) {
    CHECK(!moves.Follow("https://r1.example", "http://r2.example", 0));
  }
  CHECK(moves.Follow("https://r1.example", "https://r2.example", 0) == "https://r2.example");
}

TEST_CASE("moves › lead links for friends where the vectors say") {
  for (const Json& one : MovesVectors()["links"]) {
    CAPTURE(NameOf(one));
    Moves moves(one["began"].get<std::string>());
    CHECK(moves.Follow(one["relay"].get<std::string>(), one["join"].get<std::string>(), 0));
    CHECK(moves.site() == one["site"].get<std::string>());
  }
}

TEST_CASE("moves › know when a relay is gone, as the vectors do") {
  for (const Json& one : MovesVectors()["lost"]) {
    CAPTURE(NameOf(one));
    Seat seat;
    seat.crossings = one["relay"].get<std::string>() + "/v1/desktops/1-1/crossings";
    seat.lease_seconds = one["leaseSeconds"].get<int>();
    CHECK(IsLost(one["began"].get<std::string>(), seat, one["silentMs"].get<int64_t>()) ==
          one["isLost"].get<bool>());
  }
}

}  // namespace
}  // namespace sprites
