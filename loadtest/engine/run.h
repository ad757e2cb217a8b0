// A whole run: forks the slices, moves them through the phases, watches the relay and adds up the
// results.
//
// The parent generates no load itself: it sleeps, reads the shared memory and prints. When it dies,
// the slices die too.
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

  // Prints the phases and the result on stdout, and a line each second on stderr. True: the run is
  // complete and its accounts add up.
  bool Execute();

 private:
  bool ReachRelay();
  bool Fork();
  bool Connect();
  // With --start-on-stdin: waits for the signal and says when the first throw is.
  bool AwaitStart(int64_t* from_ns);
  bool Throw();
  bool Drain();
  void Leave();
  void End();
  // Adds up the slices' results and compares the two accounts.
  void SumUp();

  // Sleeps until done() returns true or until `until_ns`, and prints the line of each second. False
  // when the run cannot continue.
  template <typename Done>
  bool WaitFor(int64_t until_ns, Done&& done);
  // Waits until `counter` is `wanted`. False when it stops growing before.
  bool WaitForGrowth(uint64_t Counters::*counter, uint64_t wanted, const char* what);
  // False: a slice or the relay is gone, or the accounts do not add up.
  bool IsHealthy();
  bool Fail(std::string message);
  void PrintPhase(std::string_view phase);
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

  // State of the last second printed.
  int64_t next_second_ns_ = 0;
  Moment last_;
  std::unique_ptr<Histogram> latency_before_ = std::make_unique<Histogram>();
  int silent_seconds_ = 0;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_RUN_H_
