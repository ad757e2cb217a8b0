// Also plays relay.vectors.json; test/relay.test.ts plays it in the browser's.
#include "core/relay/arrivals.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "test/core/test_relay.h"

namespace sprites {
namespace {

Arrival Numbered(uint64_t seq) {
  Arrival arrival;
  arrival.seq = seq;
  arrival.name = std::to_string(seq);  // stays when the relay numbers its events from 1 again
  return arrival;
}

// A desktop with room for so many sprites. Says which are in and which wait, by their first number.
struct Inside {
  void Receive(const Json& batch) {
    arrivals.BeginBatch(batch.empty() ? 0 : batch[0].get<uint64_t>());
    for (const Json& seq : batch) {
      if (const Arrival arrival = Numbered(seq); arrivals.IsNew(arrival)) {
        Admit(arrival);
      }
    }
  }
  void Admit(const Arrival& arrival) {
    if (sprites.size() >= room) {
      arrivals.Wait(arrival);
    } else {
      sprites.emplace_back(next_id, arrival.name);
      arrivals.Admit(arrival, next_id++);
    }
  }
  void MakeRoom(size_t more) {
    for (room = more; sprites.size() < room && !arrivals.waiting().empty();) {
      Admit(*arrivals.Pop([](const Arrival&) { return true; }));
    }
  }
  void TakeBackAfter(uint64_t seq) {
    const std::vector<SpriteId> taken = arrivals.TakeBackAfter(seq);
    std::erase_if(sprites, [&](const auto& sprite) {
      return std::ranges::find(taken, sprite.first) != taken.end();
    });
  }
  Json InNumbers() const {
    Json in = Json::array();
    for (const auto& sprite : sprites) {
      in.push_back(std::stoi(sprite.second));
    }
    return in;
  }
  Json WaitingNumbers() const {
    Json waiting = Json::array();
    for (const Arrival& arrival : arrivals.waiting()) {
      waiting.push_back(std::stoi(arrival.name));
    }
    return waiting;
  }

  Arrivals arrivals;
  std::vector<std::pair<SpriteId, std::string>> sprites;
  size_t room = 0;
  SpriteId next_id = 1;
};

TEST_CASE("arrivals › enter, wait and are taken back as in the vectors") {
  for (const Json& one : RelayVectors()["arrivals"]) {
    CAPTURE(one["name"].get<std::string>());
    Inside inside;
    inside.room = one["room"].get<size_t>();
    for (const Json& step : one["steps"]) {
      CAPTURE(step.dump());
      if (step.contains("batch")) {
        inside.Receive(step["batch"]);
      } else if (step.contains("room")) {
        inside.MakeRoom(step["room"].get<size_t>());
      } else if (step.contains("lostAfter")) {
        inside.TakeBackAfter(step["lostAfter"].get<uint64_t>());
      } else {
        inside.arrivals.BeginEpoch();
      }
      CHECK(inside.InNumbers() == step["inside"]);
      CHECK(inside.WaitingNumbers() == step["waiting"]);
    }
  }
}

TEST_CASE("arrivals › drop what waits of a removed picture, and remember the newest removed ones") {
  Arrivals arrivals;
  for (const uint64_t seq : {1, 2, 3}) {
    Arrival arrival = Numbered(seq);
    arrival.file = seq == 2 ? "good" : "bad";
    arrivals.Wait(arrival);
  }
  arrivals.RemovePicture("bad");
  REQUIRE(arrivals.waiting().size() == 1);
  CHECK(arrivals.Pop([](const Arrival&) { return true; })->seq == 2);
  CHECK(arrivals.IsRemoved("bad"));
  CHECK(!arrivals.IsRemoved("good"));
  for (size_t i = 0; i < kRemovedMax; i++) {
    arrivals.RemovePicture(std::to_string(i));
  }
  CHECK(!arrivals.IsRemoved("bad"));
  CHECK(arrivals.IsRemoved("0"));
}

}  // namespace
}  // namespace sprites
