// A whole run: forks the slices, moves them through the phases, watches the relay and adds up the
// results.
//
// The parent generates no load itself: it sleeps, reads the shared memory and prints. When it dies,
// the slices die too.
#ifndef LOADTEST_ENGINE_RUN_RUN_H_
#define LOADTEST_ENGINE_RUN_RUN_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "desktops/shared_run.h"
#include "plan/options.h"
#include "run/report.h"

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
  bool ReachRelays();
  bool Fork();
  bool Connect();
  // With `start_on_stdin`: waits for the signal and says when the first throw is.
  bool AwaitStart(int64_t* from_ns);
  bool Throw();
  // Waits for what is under way, and finds out whether what has not arrived is lost.
  bool Drain();
  // Waits until all slices have acknowledged `phase`. False when one does not.
  bool WaitForSlices(Phase phase, const char* what);
  // Whether nothing is under way: every throw has its answer, every desktop holds its poll and has
  // read what arrived, and nothing has arrived for a while.
  bool IsQuiet(const Counters& counters, int64_t now_ns);
  void Leave();
  void End();
  // Adds up the slices' results and compares the accounts.
  void SumUp();
  // How many throws the schedules of all slices have, and how many of them are due in the window.
  void CountScheduled(uint64_t* scheduled, uint64_t* due) const;

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
  void RingDoorbells();
  void PrintSecond(int64_t now_ns);
  Counters ReadCounters();
  Moment ReadMoment();

  const Options& options_;
  const uint32_t run_id_;  // in the names of its sprites
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

  // What had taken sayings with it before anybody talked.
  uint64_t breaks_before_talk_ = 0;

  // State of the drain.
  uint64_t arrivals_ = 0;
  int64_t quiet_since_ns_ = 0;  // 0: something is under way
  uint64_t probe_ = 0;          // 0: none is out
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_RUN_RUN_H_
