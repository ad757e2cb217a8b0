// What the machine says about processes and sockets: CPU time, memory, the kernel's share.
//
// CPU time is exact to the microsecond where the kernel keeps schedstat (of the threads that still
// live: right for a relay, whose threads stay), else in ticks of 10 ms. How it splits into user and
// system is known in ticks only. Memory is what is resident.
#ifndef LOADTEST_ENGINE_PROCESS_WATCH_H_
#define LOADTEST_ENGINE_PROCESS_WATCH_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace swarm {

struct ProcessUse {
  double cpu_s = 0;
  double user_s = 0;  // in ticks, as the next
  double system_s = 0;
  uint64_t rss_bytes = 0;
};

// What the kernel's text files hold; each false when the text is not of the kind.
bool ParseStat(std::string_view stat, double ticks_per_second, ProcessUse* use);
// The value of a line like "Rss:   1234 kB", in bytes.
bool ParseKilobytes(std::string_view text, std::string_view name, uint64_t* bytes);

// False when there is no such process. With `exact`, memory is walked page by page (milliseconds a
// gigabyte).
bool ReadProcess(int pid, bool exact, ProcessUse* use);
// The sum over several; false when one is missing.
bool ReadProcesses(const std::vector<int>& pids, bool exact, ProcessUse* sum);

struct KernelUse {
  uint64_t tcp_in_use = 0;
  uint64_t tcp_memory_bytes = 0;  // buffers of sockets, as far as the network namespace tells
  uint64_t slab_bytes = 0;        // all kernel objects, sockets among them
  uint64_t available_bytes = 0;   // memory of the machine that is still to be had
};
KernelUse ReadKernel();

}  // namespace swarm

#endif  // LOADTEST_ENGINE_PROCESS_WATCH_H_
