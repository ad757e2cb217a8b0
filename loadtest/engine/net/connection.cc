#include "net/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace swarm {
namespace {

// When so many sources in a row have no free port, all ports are taken to be exhausted.
constexpr uint32_t kSourceTriesMax = 8;

int Socket(const Endpoint& to) {
  const int fd = socket(to.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    return -1;
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return fd;
}

int ConnectFrom(int fd, const Endpoint& to, const Sources& sources, uint32_t pick) {
  if (!sources.empty() && to.address.ss_family == AF_INET) {
    // The kernel then chooses the port in connect(), when it knows the peer, so that the port need
    // only be unique for this peer.
    const int on = 1;
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
    const sockaddr_in source = sources.At(pick);
    if (bind(fd, reinterpret_cast<const sockaddr*>(&source), sizeof(source)) != 0) {
      return errno;
    }
  }
  const auto* address = reinterpret_cast<const sockaddr*>(&to.address);
  if (connect(fd, address, to.address_size) != 0 && errno != EINPROGRESS) {
    return errno;
  }
  return 0;
}

}  // namespace

int Connection::Connect(int epoll, uint64_t tag, const Endpoint& to, const Sources& sources,
                        uint32_t pick) {
  int error = EADDRNOTAVAIL;
  const uint32_t tries = std::clamp(sources.size(), 1U, kSourceTriesMax);
  for (uint32_t i = 0; i < tries && error == EADDRNOTAVAIL; ++i) {
    const int fd = Socket(to);
    if (fd < 0) {
      return errno;
    }
    error = ConnectFrom(fd, to, sources, pick + i);
    if (error == 0) {
      epoll_event event{};
      event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
      event.data.u64 = tag;
      if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0) {
        fd_ = fd;
        state_ = State::kConnecting;
        if (to.secure) {
          spill_ = std::make_unique<Spill>();
          spill_->tls = std::make_unique<TlsSession>(*to.tls, to.host, fd);
        }
        return 0;
      }
      error = errno;
    }
    close(fd);
  }
  return error;
}

int Connection::FinishConnect(uint32_t events) {
  int error = 0;
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
    socklen_t size = sizeof(error);
    getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0) {
      error = ECONNRESET;
    }
    Close();
    return error;
  }
  if (secure()) {
    return FinishHandshake();
  }
  state_ = State::kOpen;
  return 0;
}

int Connection::FinishHandshake() {
  switch (spill_->tls->Advance()) {
    case TlsSession::Handshake::kDone:
      state_ = State::kOpen;
      return 0;
    case TlsSession::Handshake::kUnfinished:
      return EINPROGRESS;
    case TlsSession::Handshake::kFailed:
      break;
  }
  Close();
  return EPROTO;
}

void Connection::Close() {
  const std::unique_ptr<Spill> spill = std::move(spill_);  // its session ends after the socket
  if (fd_ >= 0) {
    close(fd_);
  }
  fd_ = -1;
  state_ = State::kClosed;
}

bool Connection::Send(std::string_view bytes) {
  if (spill_ != nullptr && !spill_->out.empty()) {
    spill_->out.append(bytes);
    return true;
  }
  ssize_t sent = 0;
  do {
    sent = Transmit(bytes);
  } while (sent < 0 && errno == EINTR);
  if (sent == static_cast<ssize_t>(bytes.size())) {
    return true;
  }
  if (sent < 0 && errno != EAGAIN) {
    return false;
  }
  if (spill_ == nullptr) {
    spill_ = std::make_unique<Spill>();
  }
  spill_->out.assign(bytes.substr(sent < 0 ? 0 : static_cast<size_t>(sent)));
  return true;
}

bool Connection::FlushSpill() {
  const std::string out = std::exchange(spill_->out, {});
  return Send(out);
}

void Connection::KeepInput(std::span<const char> rest) {
  if (rest.empty()) {
    if (spill_ == nullptr) {
      return;
    }
    spill_->in.clear();
    if (spill_->out.empty() && !secure()) {
      spill_.reset();
    }
    return;
  }
  if (spill_ == nullptr) {
    spill_ = std::make_unique<Spill>();
  }
  spill_->in.assign(rest.data(), rest.size());
}

}  // namespace swarm
