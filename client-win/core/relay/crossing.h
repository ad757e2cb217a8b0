// Crossings: what leaves as JSON, what comes as JSON, and who is on the way in between.
//
// What comes is a relay's word and may be anything: it is read up to limits, field by field, and
// what does not fit is left out; numbers are brought into their ranges. Invariant of Departures: a
// sprite that left the world is in here until the relay has decided; a number is given once and
// kept with its sprite, so a repeat is the same crossing. Cost: O(bytes); O(sprites on the way).
#ifndef CLIENT_WIN_CORE_RELAY_CROSSING_H_
#define CLIENT_WIN_CORE_RELAY_CROSSING_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/motion/behaviour.h"
#include "core/motion/sprite.h"
#include "core/seams.h"

namespace sprites {

constexpr size_t kCrossingBytesMax = 1024;   // bytes of a crossing's body: the relay takes no more
constexpr size_t kEventsPerAnswerMax = 64;   // events: the relay sends no more
constexpr size_t kAnswerBytesMax = 131'072;  // bytes: a full batch is 64 KiB; twice that is enough
constexpr size_t kIdBytesMax = 128;          // bytes of ids and cursors
constexpr uint64_t kCrossingsAhead = 32;     // numbers a relay looks back
constexpr double kRelaySpeedMax = 20'000;    // dip/s: what the relay takes

struct Neighbour {
  std::string desktop;
  std::string name;

  const std::string& Called() const { return name.empty() ? desktop : name; }
  bool operator==(const Neighbour&) const = default;
};
using Neighbours = std::array<Neighbour, 4>;  // by Edge

struct Arrival {
  uint64_t seq = 0;
  Neighbour from;
  Entrance entrance;
  std::string file;
  std::string name;
  Facing facing = Facing::kRight;
  double scale = 1;
};

// What one poll brought.
struct Batch {
  std::string cursor;
  size_t events = 0;  // of all kinds, also those left out
  std::vector<Arrival> arrivals;
  std::optional<Neighbours> neighbours;
  std::optional<int64_t> bye_ms;  // the relay goes down: how long to stay away
};

// A problem document, or what stands in for one where an answer carries none.
struct Problem {
  std::string code;
  std::string title;
  std::string cursor;  // of cursor-lost and cursor-ahead
  int status = 0;
  int retry_after_s = 0;
};

// The batch in a poll's answer; nothing when it is no batch. Never throws.
std::optional<Batch> ReadBatch(std::string_view json);
Problem ReadProblem(const Answer& answer);
// The four names of `GET /v1/desktops/{id}`.
std::optional<Neighbours> ReadNeighbours(std::string_view json);

// The body of a crossing, at most kCrossingBytesMax.
std::string CrossingJson(uint64_t number, const Departure& departure);

// Somebody on the way.
struct Leaving {
  uint64_t number = 0;
  Departure departure;
  bool unseen = false;    // of a muted neighbour: flies on without having been here
  RequestId request = 0;  // in flight; 0 while it waits
  int failures = 0;
  int64_t due_ms = 0;  // not to be asked again before
};

// The relay has decided about a sprite, or never will.
struct Verdict {
  Leaving leaving;
  bool accepted = false;
  std::optional<Neighbour> to;  // whom it went to, when the relay remembers
  Problem problem;              // why not
};

struct Seat;

class Departures {
 public:
  void Depart(const Departure& departure, bool unseen);
  // Puts back somebody who was on the way when the program ended.
  void Resume(Leaving leaving);
  // What is to be sent now over this seat. `next_id` gives request ids.
  std::vector<Request> Due(const Seat& seat, int64_t now_ms, RequestId* next_id);
  // The decision in an answer; nothing when it was not ours, or there is none yet: then the same
  // number is asked again after a while.
  std::optional<Verdict> Take(const Answer& answer, int64_t now_ms, const Random& random);
  // Another seat, or a mended link: whoever is on the way is sent again, under the same number.
  void AskAgain();

  const std::vector<Leaving>& leaving() const { return leaving_; }
  uint64_t next_number() const { return next_number_; }
  void set_next_number(uint64_t number) { next_number_ = number; }
  // When Due will next have something, given no event; the largest value when never.
  int64_t NextDueMs() const;

 private:
  std::vector<Leaving> leaving_;  // oldest first
  uint64_t next_number_ = 1;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_CROSSING_H_
