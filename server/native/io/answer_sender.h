// Sends answers, and the rest of an answer once a socket that was full accepts more.
//
// Threads: all of it belongs to its loop's thread.
// Invariant: exactly the connections in state kWriting have an entry in UnsentAnswers, await
// EPOLLOUT, and have a deadline that moves whenever the socket accepts more.
// Cost: one send for an answer that the socket accepts whole.
#ifndef SERVER_NATIVE_IO_ANSWER_SENDER_H_
#define SERVER_NATIVE_IO_ANSWER_SENDER_H_

#include <cstdint>

#include "io/connection.h"
#include "io/deadline_wheel.h"
#include "io/epoll_set.h"
#include "io/record.h"
#include "io/socket_calls.h"
#include "io/unsent_answers.h"

namespace sprites {

class AnswerSender {
 public:
  enum class Sent : uint8_t {
    kWhole,   // the connection can continue with its next request
    kPartly,  // the connection is in state kWriting: call Continue() on EPOLLOUT
    kFailed,  // close the connection
  };

  AnswerSender(EpollSet* epoll, DeadlineWheel* wheel, uint32_t write_ms, uint64_t unsent_bytes_max)
      : epoll_(epoll), wheel_(wheel), write_ms_(write_ms), unsent_(unsent_bytes_max) {}

  // Sends a whole answer: the bytes, and then the shared body.
  Sent Send(Index index, Connection& connection, const uint8_t* bytes, uint32_t size,
            SharedBody shared) {
    const ssize_t sent = shared.size == 0 ? sprites::Send(connection.descriptor, bytes, size)
                                          : sprites::SendBoth(connection.descriptor, bytes, size,
                                                              shared.bytes, shared.size);
    if (sent == static_cast<ssize_t>(size) + static_cast<ssize_t>(shared.size)) {
      return Sent::kWhole;
    }
    return KeepRest(index, connection, bytes, size, shared, sent);
  }
  // Sends more of the rest. REQUIRES: state kWriting.
  Sent Continue(Index index, Connection& connection);
  // Frees the rest of a connection that closes, if it has one.
  void Release(const Connection& connection) {
    if (connection.state == State::kWriting) {
      unsent_.Release(connection.unsent);
    }
  }

 private:
  Sent KeepRest(Index index, Connection& connection, const uint8_t* bytes, uint32_t size,
                SharedBody shared, ssize_t sent);

  EpollSet* const epoll_;
  DeadlineWheel* const wheel_;
  const uint32_t write_ms_;
  UnsentAnswers unsent_;
};

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_ANSWER_SENDER_H_
