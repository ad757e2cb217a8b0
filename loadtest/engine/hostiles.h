// Who is hostile: connections that send what no client should, and what the relay makes of it.
//
// A strike is one of three, in turn: half a request, and then nothing; bytes that are no HTTP; a
// flood of requests in the name of a desktop that never was. It goes to the API and to the polls'
// port alternately, each on a connection of its own that is closed for the next one. A relay that
// is right answers or closes; the other desktops' account says whether they were disturbed.
// Threads: one.
#ifndef LOADTEST_ENGINE_HOSTILES_H_
#define LOADTEST_ENGINE_HOSTILES_H_

#include <cstdint>

#include "stage.h"

namespace swarm {

class Hostiles {
 public:
  explicit Hostiles(Stage& stage) : stage_(stage) {}

  void Strike(uint32_t index);
  void OnEvent(uint32_t index, uint32_t events);

 private:
  void Send(uint32_t index);
  void Parried(uint32_t index);
  // Where polls go: as the relay told the first desktop that joined here.
  uint8_t EventsEndpoint();

  Stage& stage_;
  uint64_t strikes_ = 0;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_HOSTILES_H_
