#include "account/counters.h"

#include <bit>

namespace swarm {

void Counters::Add(const Counters& other) {
  using Cells = std::array<uint64_t, sizeof(Counters) / sizeof(uint64_t)>;
  auto sum = std::bit_cast<Cells>(*this);
  const auto more = std::bit_cast<Cells>(other);
  for (size_t i = 0; i < sum.size(); ++i) {
    sum[i] += more[i];
  }
  *this = std::bit_cast<Counters>(sum);
}

std::string Counters::Disagreement() const {
  const auto differ = [](const char* what, uint64_t left, uint64_t right) {
    return std::string(what) + ": " + std::to_string(left) + " against " + std::to_string(right);
  };
  if (offered != sent + waiting) {
    return differ("offered = sent + waiting", offered, sent + waiting);
  }
  if (sprites_received != delivered + repeated + foreign) {
    return differ("sprites received = delivered + repeated + foreign", sprites_received,
                  delivered + repeated + foreign);
  }
  if (sent != answered + timed_out + failed + in_flight) {
    return differ("sent = answered + timed out + failed + in flight", sent,
                  answered + timed_out + failed + in_flight);
  }
  if (answered != accepted + refused + unexpected) {
    return differ("answered = accepted + refused + unexpected", answered,
                  accepted + refused + unexpected);
  }
  if (polls_sent != polls_answered + polls_cut + polls_dropped + polls_held) {
    return differ("polls sent = answered + cut + dropped + held", polls_sent,
                  polls_answered + polls_cut + polls_dropped + polls_held);
  }
  if (sayings_due != said + sayings_skipped) {
    return differ("sayings due = said + skipped", sayings_due, said + sayings_skipped);
  }
  const uint64_t said_to_end =
      sayings_accepted + sayings_refused + sayings_timed_out + sayings_failed + sayings_unanswered;
  if (said != said_to_end) {
    return differ("said = accepted + refused + timed out + failed + unanswered", said, said_to_end);
  }
  if (hearings != heard + heard_again + heard_foreign) {
    return differ("hearings = heard + heard again + foreign", hearings,
                  heard + heard_again + heard_foreign);
  }
  const uint64_t peeked_to_end =
      peeks_accepted + peeks_hidden + peeks_refused + peeks_failed + peeks_unanswered;
  if (peeks_due != peeks_skipped + peeked_to_end) {
    return differ("peeks due = skipped + accepted + hidden + refused + failed + unanswered",
                  peeks_due, peeks_skipped + peeked_to_end);
  }
  return {};
}

}  // namespace swarm
