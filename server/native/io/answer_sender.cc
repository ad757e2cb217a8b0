#include "io/answer_sender.h"

#include <algorithm>
#include <cerrno>

namespace sprites {

AnswerSender::Sent AnswerSender::KeepRest(Index index, Connection& connection, const uint8_t* bytes,
                                          uint32_t size, SharedBody shared, ssize_t sent) {
  if (sent < 0) {
    if (errno != EAGAIN && errno != EINTR) {
      return Sent::kFailed;
    }
    sent = 0;
  }
  const uint32_t own = std::min(static_cast<uint32_t>(sent), size);
  const uint32_t other = static_cast<uint32_t>(sent) - own;
  const uint32_t rest =
      unsent_.Keep(bytes + own, size - own, shared.bytes + other, shared.size - other);
  if (rest == 0) {
    return Sent::kFailed;
  }
  if (epoll_->SetAwaitsWritable(connection.descriptor, index, true) != 0) {
    unsent_.Release(rest);
    return Sent::kFailed;
  }
  connection.state = State::kWriting;
  connection.unsent = rest;
  wheel_->Arm(index, write_ms_);
  return Sent::kPartly;
}

AnswerSender::Sent AnswerSender::Continue(Index index, Connection& connection) {
  UnsentAnswers::Rest& rest = unsent_.At(connection.unsent);
  while (rest.sent < rest.size) {
    const ssize_t sent =
        sprites::Send(connection.descriptor, rest.bytes.get() + rest.sent, rest.size - rest.sent);
    if (sent < 0) {
      if (errno == EINTR) {
        continue;
      }
      return errno == EAGAIN ? Sent::kPartly : Sent::kFailed;
    }
    rest.sent += static_cast<uint32_t>(sent);
    wheel_->Arm(index, write_ms_);
  }
  unsent_.Release(connection.unsent);
  connection.unsent = 0;
  connection.state = State::kReading;
  epoll_->SetAwaitsWritable(connection.descriptor, index, false);
  return Sent::kWhole;
}

}  // namespace sprites
