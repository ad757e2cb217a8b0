// Desktops on WebSockets: the upgrade of each desktop's connection, and what its messages are.
//
// A message is a batch, which Polls handles like an answered poll; a verdict, which Throws or
// Sayings get from a queue; or a problem, after which the relay closes the socket. Pings are
// answered, and a close is answered before the connection ends. Threads: one.
#ifndef LOADTEST_ENGINE_DESKTOPS_SOCKETS_H_
#define LOADTEST_ENGINE_DESKTOPS_SOCKETS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "desktops/polls.h"
#include "desktops/slice_state.h"

namespace swarm {

class Sockets {
 public:
  Sockets(SliceState& slice, Polls& polls) : slice_(slice), polls_(polls) {}

  void OnEvent(uint32_t index, uint32_t events);
  // Slow desktops: reads what has arrived.
  void ReadLate(uint32_t index);

  // Called by SliceState::HandleEvent.
  void OnOpen(uint32_t index);
  void OnOpenFailed(uint32_t index) { polls_.OnOpenFailed(index); }
  void OnBroken(uint32_t index) { polls_.OnBroken(index); }
  std::optional<size_t> OnBytes(uint32_t index, std::span<char> bytes, bool at_end);

 private:
  // Both return how many bytes they have handled, nothing when the bytes are bad, and 0 when they
  // need more.
  std::optional<size_t> ReadUpgrade(uint32_t index, std::span<char> bytes, bool at_end);
  std::optional<size_t> ReadMessage(uint32_t index, std::span<char> bytes, bool* needs_more);
  // False: it is not what the protocol says.
  bool OnText(uint32_t index, std::string_view text);
  void SendControl(uint32_t index, Opcode opcode, std::string_view payload);

  SliceState& slice_;
  Polls& polls_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_DESKTOPS_SOCKETS_H_
