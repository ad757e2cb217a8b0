// Hostile desktops: connections that send what no client should, and how the relay reacts.
//
// There are three strikes, in turn: half a request and then nothing; bytes that are not HTTP; a
// flood of requests in the name of a desktop that never existed. Strikes go alternately to the API
// port and to the polls' port, each on a new connection that the next strike closes. A correct
// relay responds or closes; the accounts of the other desktops show whether they were disturbed.
// Threads: one.
#ifndef LOADTEST_ENGINE_DESKTOPS_HOSTILES_H_
#define LOADTEST_ENGINE_DESKTOPS_HOSTILES_H_

#include <cstdint>

#include "desktops/slice_state.h"

namespace swarm {

class Hostiles {
 public:
  explicit Hostiles(SliceState& slice) : slice_(slice) {}

  void Strike(uint32_t index);
  void OnEvent(uint32_t index, uint32_t events) {
    slice_.HandleEvent(slice_.desktops[index].poll, events, *this, index);
  }

  // Called by SliceState::HandleEvent.
  void OnOpen(uint32_t index) { Send(index); }
  void OnOpenFailed(uint32_t /*index*/) {}
  void OnResponse(uint32_t index, const HttpResponse& /*response*/) { CountParried(index); }
  void OnBroken(uint32_t index);

 private:
  void Send(uint32_t index);
  // Counts a strike as parried: once, however many responses it gets.
  void CountParried(uint32_t index);
  // Where polls go, as the relay told a desktop that joined in this slice.
  uint8_t EventsEndpoint(uint32_t index);

  SliceState& slice_;
  uint64_t strikes_ = 0;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_DESKTOPS_HOSTILES_H_
