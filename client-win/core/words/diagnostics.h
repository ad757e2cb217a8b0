// A text about this desktop that a person can send to somebody who helps.
//
// Invariant, held by a test: it has no token, no invitation, no cursor, no id, no name and no
// world, neither of this person nor of others. Cost: O(sprites).
#ifndef CLIENT_WIN_CORE_WORDS_DIAGNOSTICS_H_
#define CLIENT_WIN_CORE_WORDS_DIAGNOSTICS_H_

#include <cstdint>
#include <string>

#include "core/desktop/desktop.h"

namespace sprites {

// What the shell knows about the machine and the process.
struct Machine {
  std::string system;  // `Windows 10.0.22631`
  uint64_t memory_bytes = 0;
  uint32_t gdi_handles = 0;
  int64_t running_ms = 0;
  bool is_portable = false;
  bool has_sound = true;
  std::string
      calls;  // how often the shell has called the system so far; empty if it does not count
};

// In English, because it is for those who know the program. One fact a line.
std::string Diagnostics(const Desktop& desktop, const Machine& machine);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_WORDS_DIAGNOSTICS_H_
