// What the tests of the link to a relay share: its address, a seat in it, a sprite that leaves, and
// the cases of relay.vectors.json.
#ifndef CLIENT_WIN_TEST_CORE_TEST_RELAY_H_
#define CLIENT_WIN_TEST_CORE_TEST_RELAY_H_

#include <optional>
#include <string>

#include "core/relay/crossings/departures.h"
#include "core/relay/seat_request.h"
#include "core/text/json.h"
#include "test/core/vectors.h"

namespace sprites {

inline constexpr char kRelay[] = "http://relay.example:8080";
inline const std::string kFile(64, 'a');
inline const Random kHalf = [] { return 0.5; };

// The relay's answer to a join, with `more` in it.
inline std::string SeatText(const Json& more = Json::object()) {
  Json seat = {{"desktop", "1a2b-3f"},
               {"token", "1a2b-3f.00112233445566778899aabbccddeeff"},
               {"world", "commons"},
               {"cursor", "6a1f03c2-0"},
               {"events", "http://relay.example:8081/v1/desktops/1a2b-3f/events"},
               {"crossings", "http://relay.example:8080/v1/desktops/1a2b-3f/crossings"},
               {"pingSeconds", 120},
               {"leaseSeconds", 30}};
  seat.update(more);
  return WriteJson(seat);
}

// What is asked of a relay, as the request that it gets.
inline std::optional<Request> AskedAt(const std::string& relay, const Seat& seat,
                                      const std::optional<SeatRequest>& asked) {
  return asked ? std::optional(RequestOf(*asked, relay, seat)) : std::nullopt;
}

inline const Json& RelayVectors() {
  static const Json vectors = ReadVectors(RELAY_VECTORS);
  return vectors;
}

// The response that a case of the vectors gives to a request.
inline Response ResponseOf(const Json& answer, RequestId id) {
  const Json body = answer.value("body", Json(""));
  return {id, answer["status"].get<int>(), body.is_string() ? body.get<std::string>() : body.dump(),
          answer.value("retryAfter", 0)};
}

inline Departure Leaver(Edge edge = Edge::kRight) {
  Departure departure;
  departure.sprite.file = kFile;
  departure.sprite.name = "Blob";
  departure.edge = edge;
  departure.at = 0.25;
  departure.vx = 900;
  departure.vy = -50;
  return departure;
}

}  // namespace sprites

#endif  // CLIENT_WIN_TEST_CORE_TEST_RELAY_H_
