// One keep-alive TCP connection: non-blocking, Nagle off, in an edge-triggered epoll set from
// connect to close.
//
// Edge-triggered for input and output at once: one epoll_ctl for the whole life of a connection. A
// short read means that the socket is empty, so a response costs one recv. When the event also
// reports the end, reading goes on up to the end. Bytes are kept only while a response is
// incomplete or the socket is full. Over TLS (tls.h) the same, but a read goes on until nothing is
// left. Threads: one. Memory: 16 bytes, and a Spill while something is incomplete or with TLS.
#ifndef LOADTEST_ENGINE_NET_CONNECTION_H_
#define LOADTEST_ENGINE_NET_CONNECTION_H_

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "net/address.h"
#include "net/http_response.h"
#include "net/tls.h"

namespace swarm {

class Connection {
 public:
  enum class State : uint8_t { kClosed, kConnecting, kOpen };
  enum class ReadResult : uint8_t {
    kDrained,       // nothing more to read for now
    kClosedByPeer,  // or the connection broke
    kClosedByCallback,
    kBad,  // the bytes are not what they should be
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
  bool secure() const { return spill_ != nullptr && spill_->tls != nullptr; }

  // Starts to connect, from source number `pick` or the next one that has a free port. Returns 0 or
  // an errno.
  // REQUIRES: closed.
  int Connect(int epoll, uint64_t tag, const Endpoint& to, const Sources& sources, uint32_t pick);
  // Handles an event of a connecting socket. Returns 0 when it is open now; EINPROGRESS while its
  // handshake goes on; otherwise it is closed and an errno is returned, EPROTO when the handshake
  // failed.
  int FinishConnect(uint32_t events);
  void Close();

  // Sends, and keeps what the socket does not accept. False: the connection is broken.
  bool Send(std::string_view bytes);
  // Call when the socket can accept more. False: the connection is broken.
  bool Flush() { return spill_ == nullptr || spill_->out.empty() || FlushSpill(); }

  // Reads what the socket holds and calls parse(std::span<char> bytes, bool at_end), which returns
  // how many bytes it has handled, or nothing when they are bad; the rest comes again with what
  // arrives next. parse may send and may close this connection, but must not open it again.
  // `events` are those that epoll reported: when the peer has closed, this reads up to the end,
  // because no further event would report it.
  template <typename Parse>
  ReadResult Read(std::span<char> scratch, uint32_t events, uint64_t* bytes_in, Parse&& parse);

  // Reads HTTP: calls on_response(const HttpResponse&) for each whole response, whose views are
  // valid until on_response returns.
  template <typename OnResponse>
  ReadResult ReadResponses(std::span<char> scratch, uint32_t events, uint64_t* bytes_in,
                           OnResponse&& on_response);

 private:
  struct Spill {
    std::string in;
    std::string out;
    std::unique_ptr<TlsSession> tls;
  };

  int FinishHandshake();
  // As recv and send.
  ssize_t Receive(std::span<char> to) {
    return secure() ? spill_->tls->Receive(to) : recv(fd_, to.data(), to.size(), 0);
  }
  ssize_t Transmit(std::string_view bytes) {
    return secure() ? spill_->tls->Send(bytes)
                    : send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  bool FlushSpill();
  void KeepInput(std::span<const char> rest);
  std::string PopInput() {
    return spill_ == nullptr ? std::string() : std::exchange(spill_->in, {});
  }

  int fd_ = -1;
  State state_ = State::kClosed;
  std::unique_ptr<Spill> spill_;
};

static_assert(sizeof(Connection) == 16);

template <typename Parse>
Connection::ReadResult Connection::Read(std::span<char> scratch, uint32_t events,
                                        uint64_t* bytes_in, Parse&& parse) {
  const bool is_closed_by_peer = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  for (;;) {
    const ssize_t got = Receive(scratch);
    if (got < 0) {
      if (errno == EINTR) {
        continue;
      }
      return errno == EAGAIN ? ReadResult::kDrained : ReadResult::kClosedByPeer;
    }
    const bool at_end = got == 0;
    *bytes_in += static_cast<uint64_t>(got);
    // The kept bytes move out of the connection, so that parse may close it and still use them.
    std::string kept = PopInput();
    std::span<char> bytes = scratch.first(static_cast<size_t>(got));
    if (!kept.empty()) {
      kept.append(bytes.data(), bytes.size());
      bytes = kept;
    }
    const std::optional<size_t> handled = parse(bytes, at_end);
    if (!handled) {
      return ReadResult::kBad;
    }
    if (state_ != State::kOpen) {
      return ReadResult::kClosedByCallback;
    }
    if (at_end) {
      return ReadResult::kClosedByPeer;
    }
    KeepInput(bytes.subspan(*handled));
    if (static_cast<size_t>(got) < scratch.size() && !is_closed_by_peer && !secure()) {
      return ReadResult::kDrained;
    }
  }
}

template <typename OnResponse>
Connection::ReadResult Connection::ReadResponses(std::span<char> scratch, uint32_t events,
                                                 uint64_t* bytes_in, OnResponse&& on_response) {
  return Read(
      scratch, events, bytes_in, [&](std::span<char> bytes, bool at_end) -> std::optional<size_t> {
        size_t handled = 0;
        while (handled < bytes.size() && state_ == State::kOpen) {
          HttpResponse response;
          const ParseResult result = ParseHttpResponse(bytes.subspan(handled), at_end, &response);
          if (result == ParseResult::kBad) {
            return std::nullopt;
          }
          if (result == ParseResult::kNeedMore) {
            break;
          }
          handled += response.consumed;
          on_response(response);
        }
        return handled;
      });
}

}  // namespace swarm

#endif  // LOADTEST_ENGINE_NET_CONNECTION_H_
