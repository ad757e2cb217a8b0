// A small relay for the engine's own tests, that commits the faults it is told to and counts each
// one it commits.
//
// Correct otherwise: it speaks the protocol's joins, polls and crossings on one port, keeps what
// comes between two polls, acknowledges by cursor. The desktops stand in one ring: right and bottom
// lead to the next, left and top to the one before. Every Nth accepted throw gets the fault; 0 is
// never. It runs in a process of its own and is ended with its owner.
#ifndef LOADTEST_ENGINE_FAULTY_RELAY_H_
#define LOADTEST_ENGINE_FAULTY_RELAY_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>

namespace swarm {

struct Faults {
  uint32_t drop_every = 0;        // answers 202 and delivers nothing
  uint32_t duplicate_every = 0;   // delivers twice
  uint32_t misroute_every = 0;    // delivers to the desktop after the one it named
  uint32_t wrong_edge_every = 0;  // says the wrong edge of entry
  uint32_t refuse_every = 0;      // 503 mailbox-full
  uint32_t mute_every = 0;        // takes the throw, delivers nothing, never answers
  uint32_t cut_every = 0;         // delivers, and closes the connection instead of answering
  uint32_t delay_every = 0;       // delivers only after delay_ms
  uint32_t delay_ms = 0;
  uint32_t garbage_every = 0;  // answers with bytes that are no HTTP; delivers nothing
  bool chunked = false;        // answers in chunks of a few bytes, sent one by one
  bool close_always = false;   // one answer a connection
  uint32_t stall_at = 0;       // stops altogether for stall_ms when so many have been accepted
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
};

class FaultyRelay {
 public:
  explicit FaultyRelay(const Faults& faults);
  ~FaultyRelay() { End(); }
  FaultyRelay(const FaultyRelay&) = delete;
  FaultyRelay& operator=(const FaultyRelay&) = delete;

  std::string authority() const { return "127.0.0.1:" + std::to_string(port_); }
  pid_t pid() const { return pid_; }
  const Committed& committed() const { return *committed_; }
  // As if it had crashed.
  void End();

 private:
  int port_ = 0;
  pid_t pid_ = 0;
  Committed* committed_ = nullptr;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_FAULTY_RELAY_H_
