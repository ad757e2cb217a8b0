// One keep-alive TCP connection: non-blocking, Nagle off, in an edge-triggered epoll set from
// connect to close.
//
// Edge-triggered for input and output at once: one epoll_ctl for the whole life of a connection. A
// short read means that the socket is empty, so an answer costs one recv. Bytes are kept only while
// an answer is incomplete or the socket is full. Threads: one. Memory: 16 bytes, and a Spill while
// something is incomplete.
#ifndef LOADTEST_ENGINE_CONNECTION_H_
#define LOADTEST_ENGINE_CONNECTION_H_

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "address.h"
#include "http_response.h"

namespace swarm {

class Connection {
 public:
  enum class State : uint8_t { kClosed, kConnecting, kOpen };
  enum class ReadEnd : uint8_t {
    kDrained,  // nothing more for now
    kClosed,   // the peer has closed, or the connection broke
    kBad,      // what came is no HTTP response
    kGone,     // the callback closed it
  };

  Connection() = default;
  ~Connection() { Close(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  Connection(Connection&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        state_(std::exchange(other.state_, State::kClosed)),
        spill_(std::move(other.spill_)) {}
  Connection& operator=(Connection&&) = delete;

  State state() const { return state_; }
  bool open() const { return state_ == State::kOpen; }

  // Begins to connect, from source number `pick`, or the next that has a port left. 0, or errno.
  // REQUIRES: closed.
  int Begin(int epoll, uint64_t tag, const Endpoint& to, const Sources& sources, uint32_t pick);
  // The first event of a connecting socket: 0 when it is open now, else errno, and it is closed.
  int Finish(uint32_t events);
  void Close();
  // Closes without waiting for the peer: no port is held back afterwards.
  void Reset();

  // Sends, or keeps what the socket does not take. False: the connection is broken.
  bool Send(std::string_view bytes);
  // The socket can take more.
  bool Flush() { return spill_ == nullptr || spill_->out.empty() || FlushSpill(); }

  // Reads what is there and calls on_answer(const HttpResponse&) for each whole response; the views
  // in it live until on_answer returns. on_answer may send, and may close this connection, but not
  // open it anew.
  template <typename OnAnswer>
  ReadEnd Read(std::span<char> scratch, uint64_t* bytes_in, OnAnswer&& on_answer);

 private:
  struct Spill {
    std::string in;
    std::string out;
  };

  bool FlushSpill();
  void KeepInput(std::span<const char> rest);
  std::string TakeKept() {
    return spill_ == nullptr ? std::string() : std::exchange(spill_->in, {});
  }

  int fd_ = -1;
  State state_ = State::kClosed;
  std::unique_ptr<Spill> spill_;
};

static_assert(sizeof(Connection) == 16);

template <typename OnAnswer>
Connection::ReadEnd Connection::Read(std::span<char> scratch, uint64_t* bytes_in,
                                     OnAnswer&& on_answer) {
  for (;;) {
    const ssize_t got = recv(fd_, scratch.data(), scratch.size(), 0);
    if (got < 0) {
      if (errno == EINTR) {
        continue;
      }
      return errno == EAGAIN ? ReadEnd::kDrained : ReadEnd::kClosed;
    }
    const bool at_end = got == 0;
    *bytes_in += static_cast<uint64_t>(got);
    // What was kept moves out of the connection, so that on_answer may close it and still read its
    // answer.
    std::string kept = TakeKept();
    std::span<char> bytes = scratch.first(static_cast<size_t>(got));
    if (!kept.empty()) {
      kept.append(bytes.data(), bytes.size());
      bytes = kept;
    }
    while (!bytes.empty()) {
      HttpResponse response;
      const ParseResult result = ParseHttpResponse(bytes, at_end, &response);
      if (result == ParseResult::kBad) {
        return ReadEnd::kBad;
      }
      if (result == ParseResult::kNeedMore) {
        break;
      }
      bytes = bytes.subspan(response.consumed);
      on_answer(response);
      if (state_ != State::kOpen) {
        return ReadEnd::kGone;
      }
    }
    if (at_end) {
      return ReadEnd::kClosed;
    }
    KeepInput(bytes);
    if (static_cast<size_t>(got) < scratch.size()) {
      return ReadEnd::kDrained;
    }
  }
}

}  // namespace swarm

#endif  // LOADTEST_ENGINE_CONNECTION_H_
