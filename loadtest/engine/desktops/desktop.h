// One fake desktop: a row in its slice's table.
#ifndef LOADTEST_ENGINE_DESKTOPS_DESKTOP_H_
#define LOADTEST_ENGINE_DESKTOPS_DESKTOP_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "net/connection.h"
#include "plan/behaviour.h"
#include "plan/lease.h"

namespace swarm {

// A short text without an allocation. Its maximum is that of the protocol, with a margin.
template <size_t kMax>
class ShortText {
 public:
  // False, and unchanged, when `text` is too long.
  bool Assign(std::string_view text) {
    if (text.size() > kMax) {
      return false;
    }
    std::memcpy(bytes_.data(), text.data(), text.size());
    size_ = static_cast<uint8_t>(text.size());
    return true;
  }
  std::string_view view() const { return {bytes_.data(), size_}; }
  bool empty() const { return size_ == 0; }

 private:
  std::array<char, kMax> bytes_;
  uint8_t size_ = 0;
};

constexpr uint32_t kNoSender = UINT32_MAX;
constexpr uint32_t kNoCatch = UINT32_MAX;

struct Desktop {
  enum class State : uint8_t { kOutside, kJoined, kLeaving, kLeft };

  Connection poll;
  uint64_t crossing = 0;      // the number of its last crossing
  uint32_t identity = 0;      // how many times it has joined: it then has another id and token
  uint32_t last_seq = 0;      // of the last sprite it received
  uint32_t poll_sent_ms = 0;  // since the start of the run
  // That of its throws; of a talking desktop its place among those that talk.
  uint32_t sender = kNoSender;
  uint32_t unacknowledged = kNoCatch;  // the first sprite of its last batch, in Catches
  State state = State::kOutside;
  Behaviour behaviour = Behaviour::kSitting;
  bool poll_held = false;       // a request is out
  bool wants_to_leave = false;  // leaves with the next batch, whose sprites it does not count
  bool parried = false;         // hostile: its strike was answered or its connection closed
  bool read_scheduled = false;  // slow: its socket has data, and the calendar an entry to read it
  bool ever_parked = false;
  uint8_t tries = 0;        // failures in a row of what it is trying to do
  uint8_t relay = 0;        // which of the relays it joins
  uint8_t other_relay = 0;  // that of before the last move; joins that fail go to the two in turn
  uint8_t events_endpoint = Endpoints::kUnknown;
  uint8_t crossings_endpoint = Endpoints::kUnknown;
  bool has_seq = false;
  bool is_watched = false;  // a neighbour watches it, so its stage is posted
  bool in_watched = false;  // it is in the queue of these
  uint16_t lease_seconds = kLeaseSeconds;  // as its relay has granted it
  ShortText<23> id;
  ShortText<79> token;
  ShortText<31> cursor;
};

// With its fingerprint and, if it throws, its sender: far below 1 KiB.
static_assert(sizeof(Desktop) <= 256);

}  // namespace swarm

#endif  // LOADTEST_ENGINE_DESKTOPS_DESKTOP_H_
