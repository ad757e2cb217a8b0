#include "account/counters.h"

#include <array>
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
  struct Equation {
    const char* what;
    uint64_t left;
    uint64_t right;
  };
  const std::array equations = {
      Equation{"offered = sent + waiting", offered, sent + waiting},
      Equation{"sprites received = delivered + repeated + foreign", sprites_received,
               delivered + repeated + foreign},
      Equation{"sent = answered + timed out + failed + in flight", sent,
               answered + timed_out + failed + in_flight},
      Equation{"answered = accepted + refused + unexpected", answered,
               accepted + refused + unexpected},
      Equation{"polls sent = answered + cut + dropped + held", polls_sent,
               polls_answered + polls_cut + polls_dropped + polls_held},
      Equation{"sayings due = said + skipped", sayings_due, said + sayings_skipped},
      Equation{"said = accepted + refused + timed out + failed + unanswered", said,
               sayings_accepted + sayings_refused + sayings_timed_out + sayings_failed +
                   sayings_unanswered},
      Equation{"hearings = heard + heard again + foreign", hearings,
               heard + heard_again + heard_foreign},
      Equation{"peeks due = skipped + accepted + hidden + refused + failed + unanswered", peeks_due,
               peeks_skipped + peeks_accepted + peeks_hidden + peeks_refused + peeks_failed +
                   peeks_unanswered},
  };
  for (const auto& [what, left, right] : equations) {
    if (left != right) {
      return std::string(what) + ": " + std::to_string(left) + " against " + std::to_string(right);
    }
  }
  return {};
}

}  // namespace swarm
