// A desktop's seat at a relay: its id, its token, and the addresses that it talks to.
#ifndef CLIENT_WIN_CORE_RELAY_SEAT_H_
#define CLIENT_WIN_CORE_RELAY_SEAT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sprites {

constexpr size_t kIdBytesMax = 128;   // bytes of ids, tokens and cursors
constexpr size_t kUrlBytesMax = 512;  // bytes
constexpr int kPingSecondsMax = 600;  // a proxy would have cut the connection long before

// What the response to a join grants.
struct Seat {
  std::string desktop;
  std::string token;
  std::string world;
  std::string cursor;
  std::string events;  // absolute URLs
  std::string crossings;
  int ping_seconds = 120;
  int lease_seconds = 30;
  std::string invitation;     // to a place beside this desktop; empty if the relay gave none
  std::optional<bool> stage;  // whether neighbours may peek; nothing from a relay without peeks
};

// Reads a seat from the response to a join, or from saved state. Returns nothing when a field is
// missing or too long, or when a URL is not on the relay's own host (or a subdomain of it), or
// leaves TLS.
std::optional<Seat> ReadSeat(std::string_view json, std::string_view relay_url);
std::string SeatJson(const Seat& seat);

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
