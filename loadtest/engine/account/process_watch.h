// CPU time and memory of processes, and the memory that the kernel uses for sockets.
//
// CPU time is exact to the microsecond where the kernel has schedstat, else in ticks of 10 ms.
// schedstat covers only living threads, which suits a relay: its threads do not end. User and
// system time are known only in ticks. Memory is resident memory.
#ifndef LOADTEST_ENGINE_ACCOUNT_PROCESS_WATCH_H_
#define LOADTEST_ENGINE_ACCOUNT_PROCESS_WATCH_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace swarm {

struct ProcessUse {
  double cpu_s = 0;
  double user_s = 0;  // in ticks, as is system_s
  double system_s = 0;
  uint64_t rss_bytes = 0;
};

// Parse the kernel's text files. False: the text has another form.
bool ParseStat(std::string_view stat, double ticks_per_second, ProcessUse* use);
// Reads a line like "Rss:   1234 kB" as bytes.
bool ParseKilobytes(std::string_view text, std::string_view name, uint64_t* bytes);

// False when there is no such process. With `exact`, the kernel counts memory page by page, which
// takes milliseconds for each gigabyte.
bool ReadProcess(int pid, bool exact, ProcessUse* use);
// Reads the sum over several processes. False when one is missing.
bool ReadProcesses(const std::vector<int>& pids, bool exact, ProcessUse* sum);

struct KernelUse {
  uint64_t tcp_memory_bytes = 0;  // buffers of sockets, as this network namespace reports them
  uint64_t slab_bytes = 0;        // all kernel objects, including sockets
};
KernelUse ReadKernel();

}  // namespace swarm

#endif  // LOADTEST_ENGINE_ACCOUNT_PROCESS_WATCH_H_
