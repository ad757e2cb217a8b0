// What a fake desktop does besides holding its poll, and which desktop has which behaviour.
//
//   sitting    only holds its poll
//   throwing   throws when the schedule says so
//   talking    says something when the schedule says so
//   peeking    watches a neighbour, whose stage is then posted
//   storming   drops its connection and reconnects with its cursor; all at the same moments
//   churning   leaves the relay and joins again, each at moments of its own
//   slow       reads what arrived only after `readLate`
//   hostile    is not a desktop: sends half requests, garbage and floods of forbidden requests
//
// Invariant: the first `desktops` behaviours of a MixOrder hold each one as often as the mix says,
// and every sequence of consecutive ones holds it in proportion, up to one. Cost: an addition a
// behaviour, for each desktop.
#ifndef LOADTEST_ENGINE_PLAN_BEHAVIOUR_H_
#define LOADTEST_ENGINE_PLAN_BEHAVIOUR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>

namespace swarm {

enum class Behaviour : uint8_t {
  kSitting,
  kThrowing,
  kTalking,
  kPeeking,
  kStorming,
  kChurning,
  kSlow,
  kHostile
};
constexpr std::array<std::string_view, 8> kBehaviourNames = {
    "sitting", "throwing", "talking", "peeking", "storming", "churning", "slow", "hostile"};

// How many desktops of each behaviour.
using Mix = std::array<uint32_t, kBehaviourNames.size()>;
inline uint32_t CountIn(const Mix& mix, Behaviour behaviour) {
  return mix[static_cast<size_t>(behaviour)];
}

// Whether it reads at once and never goes away, so that the latency of what it catches is the
// relay's alone.
inline bool IsPrompt(Behaviour behaviour) {
  return behaviour == Behaviour::kSitting || behaviour == Behaviour::kThrowing ||
         behaviour == Behaviour::kTalking || behaviour == Behaviour::kPeeking;
}

// The behaviours of desktops 0, 1, 2, …: each is the one furthest behind its share.
class MixOrder {
 public:
  explicit MixOrder(const Mix& mix)
      : mix_(mix), total_(std::accumulate(mix.begin(), mix.end(), int64_t{0})) {}

  Behaviour Next() {
    size_t most = 0;
    for (size_t i = 0; i < mix_.size(); ++i) {
      credit_[i] += mix_[i];
      if (credit_[i] > credit_[most]) {
        most = i;
      }
    }
    credit_[most] -= total_;
    return static_cast<Behaviour>(most);
  }

 private:
  Mix mix_;
  int64_t total_;
  std::array<int64_t, kBehaviourNames.size()> credit_{};
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_PLAN_BEHAVIOUR_H_
