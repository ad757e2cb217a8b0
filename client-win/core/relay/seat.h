// A desktop's seat at a relay: its id, its token, and the addresses that it talks to.
#ifndef CLIENT_WIN_CORE_RELAY_SEAT_H_
#define CLIENT_WIN_CORE_RELAY_SEAT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/rules.h"

namespace sprites {

constexpr size_t kIdBytesMax = 128;                       // bytes of ids, tokens and cursors
constexpr size_t kUrlBytesMax = rules::kJoinUrlBytesMax;  // also of the addresses of a seat
using rules::kLeaseSecondsMax;
using rules::kLeaseSecondsMin;
using rules::kPingSecondsMax;
// Of a relay that says none.
constexpr int kPingSeconds = rules::kPingMs / 1'000;
constexpr int kLeaseSeconds = rules::kLeaseMs / 1'000;

// What the response to a join grants.
struct Seat {
  std::string desktop;
  std::string token;
  std::string world;
  std::string cursor;
  std::string events;  // absolute URLs
  std::string crossings;
  int ping_seconds = kPingSeconds;    // the relay answers a poll at the latest after this
  int lease_seconds = kLeaseSeconds;  // it keeps a desktop that does not poll for so long
  std::string invitation;     // to a place beside this desktop; empty if the relay gave none
  std::optional<bool> stage;  // whether neighbours may peek; nothing from a relay without peeks
};

// Reads a seat from the response to a join, or from saved state. Returns nothing when a field is
// missing or too long, or when a URL is not on the relay's own host (or a subdomain of it), or
// leaves TLS.
std::optional<Seat> ReadSeat(std::string_view json, std::string_view relay_url);
std::string SeatJson(const Seat& seat);

// After how many ms a poll of this seat that has no answer is given up: a ping was due long before.
inline int64_t SilenceMs(const Seat& seat) {
  return static_cast<int64_t>(seat.ping_seconds * 1'000 * rules::kSilenceFactor);
}
// The longest pause between two polls of the seat.
inline int64_t PauseMsMax(const Seat& seat) {
  return int64_t{seat.lease_seconds} * 1'000 / rules::kPausesPerLease;
}

// Where a crossing was sent from, and the right to ask there what became of it. Only that relay
// knows, for ten minutes longer than the seat exists.
struct SeatKey {
  std::string crossings;  // absolute URL; it has the id of the desktop
  std::string token;

  bool operator==(const SeatKey&) const = default;
};

inline SeatKey KeyOf(const Seat& seat) { return {seat.crossings, seat.token}; }
// Whether a request may be sent with the key, which was read from a file.
bool IsValid(const SeatKey& key);

// The `http://host:port` or `https://…` that `url` starts with, in lower case; nothing when `url`
// is not such an address.
std::optional<std::string> RelayOrigin(std::string_view url);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_SEAT_H_
