#include "core/relay/arrivals.h"

#include <doctest/doctest.h>

namespace sprites {
namespace {

Arrival Numbered(uint64_t seq) {
  Arrival arrival;
  arrival.seq = seq;
  return arrival;
}

TEST_CASE("arrivals › are new once, and only in rising order") {
  Arrivals arrivals;
  CHECK(!arrivals.IsNew(Numbered(0)));
  CHECK(arrivals.IsNew(Numbered(1)));
  CHECK(!arrivals.IsNew(Numbered(1)));
  CHECK(arrivals.IsNew(Numbered(5)));
  CHECK(!arrivals.IsNew(Numbered(4)));
  CHECK(arrivals.seq() == 5);
}

TEST_CASE("arrivals › take back the last batch alone, admitted or waiting") {
  Arrivals arrivals;
  arrivals.BeginBatch();
  CHECK(arrivals.IsNew(Numbered(1)));
  arrivals.Wait(Numbered(1));
  arrivals.BeginBatch();
  for (const uint64_t seq : {2, 3}) {
    CHECK(arrivals.IsNew(Numbered(seq)));
  }
  arrivals.Admit(Numbered(2), 12);
  arrivals.Wait(Numbered(3));
  arrivals.Admit(arrivals.Pop(), 11);  // of the batch before
  CHECK(arrivals.TakeBackBatch() == std::vector<SpriteId>{12});
  CHECK(arrivals.waiting().empty());
  CHECK(arrivals.TakeBackBatch().empty());
}

TEST_CASE("arrivals › keep in a new epoch what they have, and number events from 1") {
  Arrivals arrivals;
  arrivals.BeginBatch();
  CHECK(arrivals.IsNew(Numbered(7)));
  arrivals.Wait(Numbered(7));
  arrivals.BeginEpoch();
  CHECK(arrivals.seq() == 0);
  CHECK(arrivals.TakeBackBatch().empty());
  CHECK(arrivals.waiting().size() == 1);
  CHECK(arrivals.IsNew(Numbered(1)));
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
  CHECK(arrivals.Pop().seq == 2);
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
