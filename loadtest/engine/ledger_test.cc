#include "ledger.h"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace swarm {
namespace {

class LedgerOf {
 public:
  explicit LedgerOf(uint64_t capacity)
      : words_(std::make_unique<Ledger::Word[]>(capacity)),
        left_(std::make_unique<Departed::Word[]>(Departed::kWords)),
        departed(left_.get()),
        ledger(words_.get(), capacity, departed) {}
  Fates Count() const {
    Fates fates;
    ledger.Count(&fates);
    return fates;
  }

 private:
  std::unique_ptr<Ledger::Word[]> words_;
  std::unique_ptr<Departed::Word[]> left_;

 public:
  Departed departed;
  Ledger ledger;
};

}  // namespace

TEST_CASE("ledger: accepted and delivered is complete, whichever comes first, and only once") {
  for (const bool accept_first : {true, false}) {
    LedgerOf book(1);
    book.ledger.Throw(0);
    if (accept_first) {
      CHECK(!book.ledger.Accept(0, 5).complete);
    }
    CHECK_EQ(book.ledger.Deliver(0, 5, false).complete, accept_first);
    if (!accept_first) {
      CHECK(book.ledger.Accept(0, 5).complete);
    }
    CHECK(!book.ledger.Accept(0, 5).complete);
    CHECK(!book.ledger.Deliver(0, 5, false).complete);
    const Fates fates = book.Count();
    CHECK_EQ(fates.accepted, 1U);
    CHECK_EQ(fates.delivered, 1U);
    CHECK_EQ(fates.duplicated, 1U);
    CHECK_EQ(fates.misrouted, 0U);
    CHECK_EQ(fates.lost, 0U);
  }
}

TEST_CASE("ledger: accepted and never delivered is lost; refused is not") {
  LedgerOf book(3);
  for (uint64_t i = 0; i < 3; ++i) {
    book.ledger.Throw(i);
  }
  book.ledger.Accept(0, 5);
  // 1 and 2 are refused, which leaves no mark; 2 is delivered all the same.
  book.ledger.Deliver(2, 5, false);
  const Fates fates = book.Count();
  CHECK_EQ(fates.thrown, 3U);
  CHECK_EQ(fates.lost, 1U);
  CHECK_EQ(fates.delivered, 1U);
  CHECK_EQ(fates.delivered_unaccepted, 1U);
}

TEST_CASE("ledger: another desktop than the relay named is misrouted, whoever speaks first") {
  for (const bool accept_first : {true, false}) {
    LedgerOf book(1);
    book.ledger.Throw(0);
    if (accept_first) {
      book.ledger.Accept(0, 5);
    }
    book.ledger.Deliver(0, 6, false);
    if (!accept_first) {
      book.ledger.Accept(0, 5);
    }
    CHECK_EQ(book.Count().misrouted, 1U);
    CHECK_EQ(book.Count().forwarded, 0U);
  }
}

TEST_CASE("ledger: what waited for a desktop that left is forwarded, whenever that becomes known") {
  for (const bool known_before : {true, false}) {
    LedgerOf book(2);
    book.ledger.Throw(0);
    book.ledger.Throw(1);
    if (known_before) {
      book.departed.Mark(5);
    }
    book.ledger.Accept(0, 5);
    book.ledger.Deliver(0, 6, false);
    book.ledger.Accept(1, 7);
    book.ledger.Deliver(1, 6, false);  // 7 is still there
    book.departed.Mark(5);
    CHECK_EQ(book.Count().forwarded, 1U);
    CHECK_EQ(book.Count().misrouted, 1U);
    CHECK_EQ(book.Count().duplicated, 0U);
  }
}

TEST_CASE("ledger: a sprite that was forwarded by the wrong edge is misrouted all the same") {
  LedgerOf book(1);
  book.ledger.Throw(0);
  book.departed.Mark(5);
  book.ledger.Accept(0, 5);
  book.ledger.Deliver(0, 6, true);
  CHECK_EQ(book.Count().misrouted, 1U);
  CHECK_EQ(book.Count().forwarded, 0U);
}

TEST_CASE(
    "ledger: a relay that does not say where to is not contradicted; a wrong edge is misrouting "
    "all the same") {
  LedgerOf book(2);
  book.ledger.Throw(0);
  book.ledger.Throw(1);
  book.ledger.Accept(0, kNoFingerprint);
  book.ledger.Deliver(0, 6, false);
  book.ledger.Deliver(1, 6, true);
  CHECK_EQ(book.Count().misrouted, 1U);
}

TEST_CASE("ledger: a copy at another desktop counts once as duplicated and once as misrouted") {
  LedgerOf book(1);
  book.ledger.Throw(0);
  book.ledger.Accept(0, 5);
  book.ledger.Deliver(0, 5, false);
  book.ledger.Deliver(0, 6, false);
  book.ledger.Deliver(0, 6, false);
  const Fates fates = book.Count();
  CHECK_EQ(fates.duplicated, 1U);
  CHECK_EQ(fates.misrouted, 1U);
}

TEST_CASE("ledger: what was given up never becomes complete") {
  LedgerOf book(1);
  book.ledger.Throw(0);
  book.ledger.Accept(0, 5);
  CHECK(book.ledger.Abandon(0));
  CHECK(!book.ledger.Deliver(0, 5, false).complete);
  CHECK(!book.ledger.Abandon(0));
}

TEST_CASE(
    "ledger: two parties in two threads see each completion exactly once, and misrouting is "
    "exact") {
  constexpr uint64_t kThrows = 200'000;
  LedgerOf book(kThrows);
  for (uint64_t i = 0; i < kThrows; ++i) {
    book.ledger.Throw(i);
  }
  std::atomic<uint64_t> complete{0};
  const auto note = [&](const Ledger::Outcome& outcome) {
    if (outcome.complete) {
      ++complete;
    }
  };
  std::thread thrower([&] {
    for (uint64_t i = 0; i < kThrows; ++i) {
      note(book.ledger.Accept(i, 5));
    }
  });
  std::thread catcher([&] {
    for (uint64_t i = 0; i < kThrows; ++i) {
      note(book.ledger.Deliver(i, i % 10 == 0 ? 6 : 5, false));
    }
  });
  thrower.join();
  catcher.join();
  CHECK_EQ(complete.load(), kThrows);
  CHECK_EQ(book.Count().misrouted, kThrows / 10);
}

}  // namespace swarm
