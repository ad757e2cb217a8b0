#include "account/saying_ledger.h"

#include <doctest/doctest.h>

#include <array>

namespace swarm {
namespace {

struct Sayings {
  std::array<SayingLedger::Word, 4> words{};
  SayingLedger ledger{words.data(), words.size()};

  HearingFates Count() const {
    HearingFates fates;
    ledger.Count(&fates);
    return fates;
  }
};

}  // namespace

TEST_CASE(
    "saying ledger: a saying is owed to as many as the relay named, before or after they hear") {
  Sayings sayings;
  sayings.ledger.Say(0);
  sayings.ledger.Hear(0);
  sayings.ledger.Accept(0, 3);
  sayings.ledger.Hear(0);
  const HearingFates fates = sayings.Count();
  CHECK_EQ(fates.owed, 3U);
  CHECK_EQ(fates.heard, 2U);
  CHECK_EQ(fates.missing, 1U);
  CHECK_EQ(fates.unowed, 0U);
}

TEST_CASE(
    "saying ledger: one too many who hear a saying do not make up for one too few of another") {
  Sayings sayings;
  for (const uint64_t number : {0, 1, 2}) {
    sayings.ledger.Say(number);
  }
  sayings.ledger.Accept(0, 1);
  sayings.ledger.Accept(1, 1);
  sayings.ledger.Hear(0);
  sayings.ledger.Hear(0);
  sayings.ledger.Hear(2);  // refused, but heard
  const HearingFates fates = sayings.Count();
  CHECK_EQ(fates.owed, 2U);
  CHECK_EQ(fates.heard, 3U);
  CHECK_EQ(fates.missing, 1U);
  CHECK_EQ(fates.unowed, 2U);
}

TEST_CASE("saying ledger: what nobody has said is not of this run") {
  Sayings sayings;
  sayings.ledger.Say(0);
  CHECK(sayings.ledger.said(0));
  CHECK_FALSE(sayings.ledger.said(1));
  CHECK_FALSE(sayings.ledger.said(4));
}

}  // namespace swarm
