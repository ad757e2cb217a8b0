// A whole run: forks the slices, leads them through the phases, watches the relay, and adds
// everything up.
//
// The parent does no work of the load itself: it sleeps, reads the shared memory, prints. Slices
// die with it.
#ifndef LOADTEST_ENGINE_RUN_H_
#define LOADTEST_ENGINE_RUN_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "options.h"
#include "report.h"
#include "shared_run.h"

namespace swarm {

class Run {
 public:
  explicit Run(const Options& options);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Prints phases and the result on stdout, a line a second on stderr. True when all went well.
  bool Conduct();

 private:
  bool ReachRelay();
  bool Fork();
  bool Connect();
  bool Throw();
  bool Drain();
  void Leave();
  void End();
  void Account();

  // Sleeps until `done` says so or `until_ns`; prints the second's line. False when the run cannot
  // go on.
  template <typename Done>
  bool WaitFor(int64_t until_ns, Done&& done);
  // Until `counter` is what is wanted; false when it stops growing before.
  bool WaitForGrowth(uint64_t Counters::*counter, uint64_t wanted, const char* what);
  bool Healthy();
  bool Fail(std::string message);
  void Announce(std::string_view phase);
  void SetPhase(Phase phase);
  void PrintSecond(int64_t now_ns);
  Counters ReadCounters();
  Moment ReadMoment();

  const Options& options_;
  SharedRun run_;
  std::vector<int> doorbells_;
  std::vector<pid_t> slices_;
  int64_t started_ns_ = 0;
  std::string_view phase_name_ = "connect";
  std::unique_ptr<Findings> findings_ = std::make_unique<Findings>();

  // Of the last second printed.
  int64_t next_second_ns_ = 0;
  Moment last_;
  std::unique_ptr<Histogram> latency_before_ = std::make_unique<Histogram>();
  int silent_seconds_ = 0;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_RUN_H_
