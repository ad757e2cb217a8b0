// One slice of the swarm: a process with its own descriptors, one thread, one epoll set.
//
// A turn: do what is due (join, throw, retry), publish the counters, wait for events or for the
// next due time, handle the events. The parent sets the phase in the shared memory and wakes the
// slice with the doorbell, an event descriptor; the slice acknowledges each phase on its board.
#ifndef LOADTEST_ENGINE_DESKTOPS_SLICE_H_
#define LOADTEST_ENGINE_DESKTOPS_SLICE_H_

#include <cstdint>
#include <vector>

#include "desktops/acts.h"
#include "desktops/catches.h"
#include "desktops/hostiles.h"
#include "desktops/joins.h"
#include "desktops/peeks.h"
#include "desktops/polls.h"
#include "desktops/sayings.h"
#include "desktops/slice_state.h"
#include "desktops/sockets.h"
#include "desktops/throws.h"

namespace swarm {

class Slice {
 public:
  Slice(const Options& options, SharedRun& run, uint32_t slice, uint32_t run_id, int64_t started_ns,
        const std::vector<int>& doorbells);

  // Returns when the parent ends the run.
  void Run();

 private:
  void EnterPhase();
  // A turn: everything that is due now, in the order in which one part makes work for the next.
  void HandleDue(int64_t now_ns);
  void OpenSenders();
  // Sockets: tells those who throw or talk on them what happened there.
  void HandleNews();
  // Sockets that a sender could not write to.
  void HandleBroken();
  void StartPolls();
  void HandleCalendar(int64_t now_ns);
  // Gives up what is overdue.
  void Sweep(int64_t now_ns);
  // Returns whether all events that were ready have been handled.
  bool Wait();
  void HandleEvent(uint64_t tag, uint32_t events);
  void HandlePollEvent(uint32_t index, uint32_t events);
  void ClearDoorbell();
  void FreeCompleted();

  SliceState state_;
  const std::vector<int>& doorbells_;
  Catches catches_;
  Polls polls_;
  Sockets sockets_;
  Joins joins_;
  Throws throws_;
  Sayings sayings_;
  Peeks peeks_;
  Hostiles hostiles_;
  Acts acts_;
  int64_t next_sweep_ns_ = 0;
  uint32_t sweeps_ = 0;
  int64_t last_turn_ns_ = 0;
  uint64_t completed_elsewhere_ = 0;
  bool wait_by_ms_ = false;  // the kernel has no epoll_pwait2
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_DESKTOPS_SLICE_H_
