// A small relay for tests, which commits the faults it is configured for and counts each one.
//
// Otherwise it is correct: it handles joins, polls, crossings, sayings and sockets on one port,
// keeps what arrives between two polls and acknowledges by cursor. Everybody hears every saying.
// The desktops form a ring: right and bottom lead to the next desktop, left and top to the previous
// one. GET /metrics answers with a few of the relay's gauges. Every Nth throw gets the fault, or
// every Nth saying or hearing; 0 means never. It runs in a process of its own, which ends with its
// owner.
#ifndef LOADTEST_ENGINE_TEST_FAULTY_RELAY_H_
#define LOADTEST_ENGINE_TEST_FAULTY_RELAY_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>

namespace swarm {

struct Faults {
  uint32_t drop_every = 0;        // answers 202 but does not deliver
  uint32_t duplicate_every = 0;   // delivers twice
  uint32_t misroute_every = 0;    // delivers to the desktop after the one it names
  uint32_t wrong_edge_every = 0;  // reports the wrong edge of entry
  uint32_t refuse_every = 0;      // 503 mailbox-full
  uint32_t mute_every = 0;        // neither delivers nor answers
  uint32_t cut_every = 0;         // delivers, but closes the connection instead of answering
  uint32_t delay_every = 0;       // delivers only after delay_ms
  uint32_t delay_ms = 0;
  uint32_t garbage_every = 0;          // answers with bytes that are not HTTP; does not deliver
  uint32_t deliver_refused_every = 0;  // 503 mailbox-full, but delivers
  uint32_t corrupt_every = 0;          // changes one member of the sprite, another one each time
  uint32_t hold_every = 0;             // accepts, but the sprite waits in its mailbox for ever
  uint32_t end_every = 0;  // delivers, closes the connection instead of answering, ends the sender
  uint32_t truncate_every = 0;        // of answered polls: sends half of the answer and closes
  uint32_t half_close_every = 0;      // of answered polls: sends nothing more, but still reads
  uint32_t refuse_upgrade_every = 0;  // of upgrades: 503 relay-busy
  uint32_t mute_upgrade_every = 0;    // of upgrades: no answer
  uint32_t close_every = 0;           // of batches on sockets: closes with 1001 after it
  uint32_t refuse_saying_every = 0;   // 429 too-fast
  uint32_t cut_saying_every = 0;      // conveys it, but closes the connection instead of answering
  uint32_t miss_hearing_every = 0;    // tells the hearer that it has missed one
  uint32_t lose_hearing_every = 0;    // without a word
  uint32_t repeat_hearing_every = 0;  // it comes twice
  uint32_t garble_hearing_every = 0;  // with another text
  uint32_t repeat_stage_every = 0;    // it comes twice
  uint32_t garble_stage_every = 0;    // its sprite stands elsewhere
  bool chunked = false;  // answers in chunks, or frames with pings between them, of a few bytes,
                         // each sent on its own
  bool close_always = false;  // one response for each connection
  uint32_t stall_at = 0;      // stops for stall_ms when it has accepted so many throws
  uint32_t stall_ms = 0;
};

struct Committed {
  std::atomic<uint64_t> accepted{0};
  std::atomic<uint64_t> dropped{0};
  std::atomic<uint64_t> duplicated{0};
  std::atomic<uint64_t> misrouted{0};
  std::atomic<uint64_t> wrong_edge{0};
  std::atomic<uint64_t> refused{0};
  std::atomic<uint64_t> muted{0};
  std::atomic<uint64_t> cut{0};
  std::atomic<uint64_t> delayed{0};
  std::atomic<uint64_t> garbage{0};
  std::atomic<uint64_t> delivered_refused{0};
  std::atomic<uint64_t> corrupted{0};
  std::atomic<uint64_t> held{0};
  std::atomic<uint64_t> ended{0};
  std::atomic<uint64_t> truncated{0};
  std::atomic<uint64_t> half_closed{0};
  std::atomic<uint64_t> upgrades_refused{0};
  std::atomic<uint64_t> upgrades_muted{0};
  std::atomic<uint64_t> closed{0};
  std::atomic<uint64_t> sayings_refused{0};
  std::atomic<uint64_t> sayings_cut{0};
  std::atomic<uint64_t> hearings_missed{0};
  std::atomic<uint64_t> hearings_lost{0};
  std::atomic<uint64_t> hearings_repeated{0};
  std::atomic<uint64_t> hearings_garbled{0};
  std::atomic<uint64_t> stages_repeated{0};
  std::atomic<uint64_t> stages_garbled{0};
  // Not faults.
  std::atomic<uint64_t> sayings{0};  // accepted
  std::atomic<uint64_t> stages{0};   // the same
  // What came on sockets.
  std::atomic<uint64_t> socket_crossings{0};
  std::atomic<uint64_t> pongs{0};   // with the payload of the ping
  std::atomic<uint64_t> closes{0};  // with the code of the close that they answer
};

class FaultyRelay {
 public:
  explicit FaultyRelay(const Faults& faults);
  ~FaultyRelay() { Kill(); }
  FaultyRelay(const FaultyRelay&) = delete;
  FaultyRelay& operator=(const FaultyRelay&) = delete;

  std::string authority() const { return "127.0.0.1:" + std::to_string(port_); }
  pid_t pid() const { return pid_; }
  const Committed& committed() const { return *committed_; }
  // Kills it, as if it had crashed.
  void Kill();

 private:
  int port_ = 0;
  pid_t pid_ = 0;
  Committed* committed_ = nullptr;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_TEST_FAULTY_RELAY_H_
