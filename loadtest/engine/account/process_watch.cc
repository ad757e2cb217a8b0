#include "account/process_watch.h"

#include <dirent.h>
#include <unistd.h>

#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

namespace swarm {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Reads the number that follows `word` and blanks.
bool NumberAfter(std::string_view text, std::string_view word, uint64_t* value) {
  const size_t at = text.find(word);
  if (at == std::string_view::npos) {
    return false;
  }
  text.remove_prefix(at + word.size());
  const size_t digit = text.find_first_not_of(" \t");
  if (digit == std::string_view::npos) {
    return false;
  }
  const std::string_view number = text.substr(digit);
  return std::from_chars(number.data(), number.data() + number.size(), *value).ec == std::errc();
}

// Reads the CPU time of all threads from the scheduler. False where the scheduler does not count
// it.
bool ReadScheduled(const std::string& folder, double* seconds) {
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir((folder + "/task").c_str()), closedir);
  if (tasks == nullptr) {
    return false;
  }
  uint64_t total_ns = 0;
  while (const dirent* entry = readdir(tasks.get())) {
    if (entry->d_name[0] == '.') {
      continue;
    }
    const std::string text = ReadFile(folder + "/task/" + entry->d_name + "/schedstat");
    uint64_t ns = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), ns);
    // A thread that ended in the meantime has no file.
    if (read.ec == std::errc()) {
      total_ns += ns;
    }
  }
  *seconds = static_cast<double>(total_ns) / 1e9;
  return total_ns > 0;
}

}  // namespace

bool ParseStat(std::string_view stat, double ticks_per_second, ProcessUse* use) {
  // The second field is the name in brackets, which may itself contain brackets and blanks.
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) {
    return false;
  }
  // Eleven fields lie between the name and utime, which is followed by stime.
  uint64_t user = 0;
  uint64_t system = 0;
  const std::string rest(stat.substr(name_end + 1));
  if (std::sscanf(rest.c_str(), " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
                  &user, &system) != 2) {
    return false;
  }
  use->user_s = static_cast<double>(user) / ticks_per_second;
  use->system_s = static_cast<double>(system) / ticks_per_second;
  use->cpu_s = use->user_s + use->system_s;
  return true;
}

bool ParseKilobytes(std::string_view text, std::string_view name, uint64_t* bytes) {
  uint64_t kilobytes = 0;
  if (!NumberAfter(text, name, &kilobytes)) {
    return false;
  }
  *bytes = kilobytes * 1024;
  return true;
}

bool ReadProcess(int pid, bool exact, ProcessUse* use) {
  const std::string folder = "/proc/" + std::to_string(pid);
  const auto ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  if (!ParseStat(ReadFile(folder + "/stat"), ticks_per_second, use)) {
    return false;
  }
  ReadScheduled(folder, &use->cpu_s);
  if (exact && ParseKilobytes(ReadFile(folder + "/smaps_rollup"), "\nRss:", &use->rss_bytes)) {
    return true;
  }
  ParseKilobytes(ReadFile(folder + "/status"), "\nVmRSS:", &use->rss_bytes);
  return true;
}

bool ReadProcesses(const std::vector<int>& pids, bool exact, ProcessUse* sum) {
  *sum = ProcessUse();
  for (const int pid : pids) {
    ProcessUse one;
    if (!ReadProcess(pid, exact, &one)) {
      return false;
    }
    sum->cpu_s += one.cpu_s;
    sum->user_s += one.user_s;
    sum->system_s += one.system_s;
    sum->rss_bytes += one.rss_bytes;
  }
  return true;
}

KernelUse ReadKernel() {
  KernelUse use;
  const std::string sockets = ReadFile("/proc/net/sockstat");
  uint64_t pages = 0;
  const size_t tcp = sockets.find("TCP:");
  if (tcp != std::string::npos &&
      NumberAfter(std::string_view(sockets).substr(tcp), " mem", &pages)) {
    use.tcp_memory_bytes = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  }
  const std::string memory = ReadFile("/proc/meminfo");
  ParseKilobytes(memory, "Slab:", &use.slab_bytes);
  return use;
}

}  // namespace swarm
