#include "account/ledger.h"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace swarm {
namespace {

class TestLedger {
 public:
  explicit TestLedger(uint64_t capacity)
      : words_(std::make_unique<Ledger::Word[]>(capacity)),
        departed_words_(std::make_unique<Departed::Word[]>(Departed::kWords)),
        departed(departed_words_.get()),
        ledger(words_.get(), capacity, departed) {}
  Fates Count() const {
    Fates fates;
    ledger.Count(&fates);
    return fates;
  }

 private:
  std::unique_ptr<Ledger::Word[]> words_;
  std::unique_ptr<Departed::Word[]> departed_words_;

 public:
  Departed departed;
  Ledger ledger;
};

}  // namespace

TEST_CASE("ledger: a throw completes once, when it is accepted and delivered in either order") {
  for (const bool accept_first : {true, false}) {
    TestLedger test(1);
    test.ledger.Throw(0);
    if (accept_first) {
      CHECK(!test.ledger.Accept(0, 5).complete);
    }
    CHECK_EQ(test.ledger.Deliver(0, 5, false, false).complete, accept_first);
    if (!accept_first) {
      CHECK(test.ledger.Accept(0, 5).complete);
    }
    CHECK(!test.ledger.Accept(0, 5).complete);
    CHECK(!test.ledger.Deliver(0, 5, false, false).complete);
    const Fates fates = test.Count();
    CHECK_EQ(fates.accepted, 1U);
    CHECK_EQ(fates.delivered, 1U);
    CHECK_EQ(fates.duplicated, 1U);
    CHECK_EQ(fates.misrouted, 0U);
    CHECK_EQ(fates.missing, 0U);
  }
}

TEST_CASE(
    "ledger: what is given back arrives once more, before or after that, and is no duplicate") {
  for (const bool back_first : {true, false}) {
    TestLedger test(1);
    test.ledger.Throw(0);
    test.ledger.Accept(0, 5);
    test.ledger.Deliver(0, 5, false, false);
    if (back_first) {
      CHECK(test.ledger.GiveBack(0));
      const Fates between = test.Count();
      CHECK_EQ(between.missing, 1U);
      CHECK_EQ(between.delivered, 0U);
      CHECK_EQ(between.given_back, 1U);
    }
    test.departed.Mark(5);
    CHECK_EQ(test.ledger.Deliver(0, 6, false, false).arrived, back_first);
    if (!back_first) {
      CHECK_EQ(test.Count().duplicated, 1U);
      CHECK_FALSE(test.ledger.GiveBack(0));
    }
    const Fates fates = test.Count();
    CHECK_EQ(fates.delivered, 1U);
    CHECK_EQ(fates.duplicated, 0U);
    CHECK_EQ(fates.given_back, 0U);
    CHECK_EQ(fates.missing, 0U);
    CHECK_EQ(fates.misrouted, 0U);
    test.ledger.Deliver(0, 7, false, false);
    CHECK_EQ(test.Count().duplicated, 1U);
  }
}

TEST_CASE(
    "ledger: what two desktops give back after a third one has it is delivered once, and counted") {
  TestLedger test(1);
  test.ledger.Throw(0);
  test.ledger.Accept(0, 5);
  for (const Fingerprint at : {5, 6, 7}) {
    test.departed.Mark(at);
    test.ledger.Deliver(0, at, false, false);
  }
  CHECK_FALSE(test.ledger.GiveBack(0));
  CHECK_EQ(test.Count().duplicated, 1U);
  CHECK_FALSE(test.ledger.GiveBack(0));
  const Fates fates = test.Count();
  CHECK_EQ(fates.delivered, 1U);
  CHECK_EQ(fates.duplicated, 0U);
  CHECK_EQ(fates.given_back, 0U);
  CHECK_EQ(fates.missing, 0U);
}

TEST_CASE("ledger: however many copies of a sprite arrive, it is one that is duplicated") {
  TestLedger test(2);
  test.ledger.Throw(0);
  test.ledger.Throw(1);
  test.ledger.Accept(0, 5);
  for (int copy = 0; copy < 100; ++copy) {
    test.ledger.Deliver(0, 5, false, false);
  }
  const Fates fates = test.Count();
  CHECK_EQ(fates.thrown, 2U);
  CHECK_EQ(fates.delivered, 1U);
  CHECK_EQ(fates.duplicated, 1U);
  CHECK_EQ(fates.misrouted, 0U);
}

TEST_CASE("ledger: what is given back before its throw is accepted has not arrived") {
  TestLedger test(1);
  test.ledger.Throw(0);
  test.ledger.Deliver(0, 5, false, false);
  CHECK_FALSE(test.ledger.GiveBack(0));
  CHECK_FALSE(test.ledger.Accept(0, 5).arrived);
  CHECK(test.ledger.Deliver(0, 6, false, false).arrived);
}

TEST_CASE("ledger: a throw that is accepted and never delivered is missing; a refused one is not") {
  TestLedger test(3);
  for (uint64_t i = 0; i < 3; ++i) {
    test.ledger.Throw(i);
  }
  test.ledger.Accept(0, 5);
  // 1 and 2 are refused, which leaves no mark; 2 is delivered all the same.
  test.ledger.Deliver(2, 5, false, false);
  const Fates fates = test.Count();
  CHECK_EQ(fates.thrown, 3U);
  CHECK_EQ(fates.missing, 1U);
  CHECK_EQ(fates.delivered, 1U);
  CHECK_EQ(fates.delivered_unaccepted, 1U);
}

TEST_CASE(
    "ledger: a sprite at another desktop than the relay named is misrouted, in either order") {
  for (const bool accept_first : {true, false}) {
    TestLedger test(1);
    test.ledger.Throw(0);
    if (accept_first) {
      test.ledger.Accept(0, 5);
    }
    test.ledger.Deliver(0, 6, false, false);
    if (!accept_first) {
      test.ledger.Accept(0, 5);
    }
    CHECK_EQ(test.Count().misrouted, 1U);
    CHECK_EQ(test.Count().forwarded, 0U);
  }
}

TEST_CASE(
    "ledger: a sprite for a desktop that left is forwarded, whenever the leave becomes known") {
  for (const bool known_before : {true, false}) {
    TestLedger test(2);
    test.ledger.Throw(0);
    test.ledger.Throw(1);
    if (known_before) {
      test.departed.Mark(5);
    }
    test.ledger.Accept(0, 5);
    test.ledger.Deliver(0, 6, false, false);
    test.ledger.Accept(1, 7);
    test.ledger.Deliver(1, 6, false, false);  // 7 has not left
    test.departed.Mark(5);
    CHECK_EQ(test.Count().forwarded, 1U);
    CHECK_EQ(test.Count().misrouted, 1U);
    CHECK_EQ(test.Count().duplicated, 0U);
  }
}

TEST_CASE("ledger: a forwarded sprite that arrives by the wrong edge is misrouted") {
  TestLedger test(1);
  test.ledger.Throw(0);
  test.departed.Mark(5);
  test.ledger.Accept(0, 5);
  test.ledger.Deliver(0, 6, true, false);
  CHECK_EQ(test.Count().misrouted, 1U);
  CHECK_EQ(test.Count().forwarded, 0U);
}

TEST_CASE(
    "ledger: if the relay names no desktop, any is right, but a wrong edge is still misrouted") {
  TestLedger test(2);
  test.ledger.Throw(0);
  test.ledger.Throw(1);
  test.ledger.Accept(0, kNoFingerprint);
  test.ledger.Deliver(0, 6, false, false);
  test.ledger.Deliver(1, 6, true, false);
  CHECK_EQ(test.Count().misrouted, 1U);
}

TEST_CASE("ledger: a sprite that is not what was thrown is corrupted, once, wherever it arrives") {
  TestLedger test(2);
  test.ledger.Throw(0);
  test.ledger.Throw(1);
  test.ledger.Accept(0, 5);
  test.ledger.Deliver(0, 5, false, true);
  test.ledger.Deliver(0, 5, false, true);
  test.ledger.Deliver(1, 5, false, false);
  CHECK_EQ(test.Count().corrupted, 1U);
  CHECK_EQ(test.Count().misrouted, 0U);
}

TEST_CASE("ledger: a throw has arrived once, also when it was abandoned or delivered first") {
  TestLedger test(2);
  test.ledger.Throw(0);
  test.ledger.Throw(1);
  test.ledger.Accept(0, 5);
  test.ledger.Abandon(0);
  CHECK(test.ledger.Deliver(0, 5, false, false).arrived);
  CHECK(!test.ledger.Deliver(0, 5, false, false).arrived);
  CHECK(!test.ledger.Deliver(1, 5, false, false).arrived);  // not accepted yet
  CHECK(test.ledger.Accept(1, 5).arrived);
}

TEST_CASE("ledger: a copy at another desktop counts once as duplicated and once as misrouted") {
  TestLedger test(1);
  test.ledger.Throw(0);
  test.ledger.Accept(0, 5);
  test.ledger.Deliver(0, 5, false, false);
  test.ledger.Deliver(0, 6, false, false);
  test.ledger.Deliver(0, 6, false, false);
  const Fates fates = test.Count();
  CHECK_EQ(fates.duplicated, 1U);
  CHECK_EQ(fates.misrouted, 1U);
}

TEST_CASE("ledger: an abandoned throw never becomes complete") {
  TestLedger test(1);
  test.ledger.Throw(0);
  test.ledger.Accept(0, 5);
  CHECK(test.ledger.Abandon(0));
  CHECK(!test.ledger.Deliver(0, 5, false, false).complete);
  CHECK(!test.ledger.Abandon(0));
}

TEST_CASE(
    "ledger: two threads see each completion exactly once, and the misrouting count is exact") {
  constexpr uint64_t kThrows = 200'000;
  TestLedger test(kThrows);
  for (uint64_t i = 0; i < kThrows; ++i) {
    test.ledger.Throw(i);
  }
  std::atomic<uint64_t> complete{0};
  const auto count = [&](const Ledger::Outcome& outcome) {
    if (outcome.complete) {
      ++complete;
    }
  };
  std::thread thrower([&] {
    for (uint64_t i = 0; i < kThrows; ++i) {
      count(test.ledger.Accept(i, 5));
    }
  });
  std::thread catcher([&] {
    for (uint64_t i = 0; i < kThrows; ++i) {
      count(test.ledger.Deliver(i, i % 10 == 0 ? 6 : 5, false, false));
    }
  });
  thrower.join();
  catcher.join();
  CHECK_EQ(complete.load(), kThrows);
  CHECK_EQ(test.Count().misrouted, kThrows / 10);
}

}  // namespace swarm
