// The WebSocket of a desktop, beside its row: only a swarm on sockets has these.
//
// The desktop's connection carries it. Invariant: messages may be sent only while the connection is
// open and `state` is kOpen. Memory: 48 bytes.
#ifndef LOADTEST_ENGINE_DESKTOPS_SOCKET_H_
#define LOADTEST_ENGINE_DESKTOPS_SOCKET_H_

#include <cstdint>

#include "account/verdict.h"
#include "net/websocket.h"
#include "plan/message_pace.h"

namespace swarm {

struct Socket {
  enum class State : uint8_t {
    kUpgrading,
    kOpen,
    kClosing,  // the relay refused a poll and closes it
  };

  WebSocket web;
  MessagePace pace;
  State state = State::kUpgrading;
  bool identified = false;  // the token has been sent
};

static_assert(sizeof(Socket) == 48);

// What happened to the socket of a desktop that throws or talks.
struct SocketNews {
  enum class What : uint8_t { kOpened, kBroken, kVerdict };

  What what;
  uint32_t desktop;
  Verdict verdict = {};
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_DESKTOPS_SOCKET_H_
