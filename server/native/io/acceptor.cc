#include "io/acceptor.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string>
#include <utility>

#include "io/clock.h"
#include "io/socket_calls.h"

namespace sprites {
namespace {

int OpenReserve() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

// `address` may be nullptr.
int AcceptOne(const Acceptor::Listener& listener, sockaddr_storage* address) {
  socklen_t size = sizeof *address;
  return accept4(listener.descriptor, reinterpret_cast<sockaddr*>(address),
                 address == nullptr ? nullptr : &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

// True when accept() failed because of one connection, which is over: accept(2) reports here what
// the network did to it. False when it failed because of this process or the machine.
bool IsConnectionError(int error) {
  constexpr int kErrors[] = {EINTR,     ECONNABORTED, ENETDOWN,     EPROTO,     ENOPROTOOPT,
                             EHOSTDOWN, ENONET,       EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH};
  return std::find(std::begin(kErrors), std::end(kErrors), error) != std::end(kErrors);
}

}  // namespace

Acceptor::~Acceptor() {
  Stop();
  if (reserve_ >= 0) {
    close(reserve_);
  }
}

int Acceptor::Open() {
  reserve_ = OpenReserve();
  return reserve_ < 0 ? errno : 0;
}

int Acceptor::Add(int descriptor, const ListenerOptions& options, uint8_t number) {
  const uint32_t place = static_cast<uint32_t>(listeners_.size());
  if (const int error = epoll_->AddListener(descriptor, place); error != 0) {
    return error;
  }
  listeners_.push_back({descriptor, options.route, options.hands_over, number});
  return 0;
}

Index Acceptor::Accept(uint32_t number, uint32_t* accepts) {
  const Listener& listener = listeners_[number];
  while (listener.descriptor >= 0 && (*accepts)++ < kAcceptsMax) {
    const uint32_t address_max = shared_->connections_per_address_max;
    sockaddr_storage address = {};
    const int descriptor = AcceptOne(listener, address_max == 0 ? nullptr : &address);
    if (descriptor < 0) {
      const int error = errno;
      if (error == EAGAIN ||
          ((error == EMFILE || error == ENFILE) && RefuseWithReserve(listener))) {
        return kNoIndex;
      }
      if (!IsConnectionError(error)) {
        Pause();
        return kNoIndex;
      }
      continue;
    }
    const AddressBlock block = address_max == 0 ? kNoBlock : BlockOf(address);
    const bool is_over_address = block != kNoBlock && !shared_->addresses.Enter(block, address_max);
    const bool is_full =
        !is_over_address &&
        shared_->connections.fetch_add(1, std::memory_order_relaxed) >= shared_->connections_max;
    if (!is_over_address && !is_full) {
      const Index index = Register(descriptor, static_cast<uint8_t>(number));
      if (index != kNoIndex) {
        KeepBlock(index, block);
        return index;
      }
    }
    if (!is_over_address) {
      shared_->addresses.Leave(block);
      shared_->connections.fetch_sub(1, std::memory_order_relaxed);
    }
    shared_->refused.fetch_add(1, std::memory_order_relaxed);
    if (is_full || is_over_address) {
      const Index refused = Refuse(descriptor, static_cast<uint8_t>(number),
                                   is_over_address ? kRefused | kRefusedAddress : kRefused);
      if (refused != kNoIndex) {
        return refused;
      }
    }
  }
  return kNoIndex;
}

// Keeps the block of addresses that a connection is counted for.
void Acceptor::KeepBlock(Index index, AddressBlock block) {
  if (shared_->connections_per_address_max == 0) {
    return;
  }
  if (index >= blocks_.size()) {
    blocks_.resize(std::max<size_t>(index + 1, blocks_.size() * 2), kNoBlock);
  }
  blocks_[index] = block;
}

Index Acceptor::Register(int descriptor, uint8_t listener) {
  const Index index = table_->Allocate(descriptor);
  if (index == kNoIndex || epoll_->AddConnection(descriptor, index) != 0) {
    if (index != kNoIndex) {
      table_->Release(index);
    }
    close(descriptor);
    return kNoIndex;
  }
  table_->At(index).listener = listener;
  return index;
}

Index Acceptor::Refuse(int descriptor, uint8_t listener, uint32_t flags) {
  if (refused_open_ == kRefusedMax) {
    close(descriptor);
    return kNoIndex;
  }
  const Index index = Register(descriptor, listener);
  if (index != kNoIndex) {
    ++refused_open_;
    table_->At(index).flags |= flags;
  }
  return index;
}

// No descriptor is left except the reserve: uses it to answer the clients that wait, so that they
// do not hang. Returns false when the reserve can't be opened again (the limit was lowered, or
// another thread used the descriptor).
bool Acceptor::RefuseWithReserve(const Listener& listener) {
  const std::string answer =
      ProblemAnswer(shared_->BodyOf(Problem::kRelayFull), Persistence::kClose, false, nullptr);
  if (reserve_ >= 0) {
    close(reserve_);
  }
  for (uint32_t refused = 0; refused < kAcceptsMax; ++refused) {
    const int descriptor = AcceptOne(listener, nullptr);
    if (descriptor < 0) {
      break;
    }
    shared_->refused.fetch_add(1, std::memory_order_relaxed);
    // Reads what has arrived of the request: closing a socket with unread bytes would reset it, and
    // the answer would be lost.
    uint8_t discarded[4096];
    while (Receive(descriptor, discarded, sizeof discarded, MSG_DONTWAIT) > 0) {
    }
    Send(descriptor, answer.data(), answer.size());
    close(descriptor);
  }
  reserve_ = OpenReserve();
  return reserve_ >= 0;
}

void Acceptor::Close(Index index, const Connection& connection) {
  close(connection.descriptor);
  if (connection.Has(kRefused)) {
    --refused_open_;
    return;
  }
  shared_->connections.fetch_sub(1, std::memory_order_relaxed);
  shared_->addresses.Leave(Release(index));
}

AddressBlock Acceptor::Release(Index index) {
  return index < blocks_.size() ? std::exchange(blocks_[index], kNoBlock) : kNoBlock;
}

// The waiting clients stay in the backlog. A watched listener would be reported in every pass, and
// nothing could be done about it.
void Acceptor::Pause() {
  paused_until_ms_ = NowMs() + kPauseMs;
  WatchListeners(false);
}

int Acceptor::MsUntilResume(uint64_t now_ms) const {
  if (paused_until_ms_ == 0) {
    return -1;
  }
  return static_cast<int>(paused_until_ms_ - std::min(now_ms, paused_until_ms_)) + 1;
}

void Acceptor::ResumeIfDue(uint64_t now_ms) {
  if (paused_until_ms_ != 0 && now_ms >= paused_until_ms_) {
    paused_until_ms_ = 0;
    WatchListeners(true);
  }
}

void Acceptor::WatchListeners(bool watches) {
  for (uint32_t number = 0; number < listeners_.size(); ++number) {
    if (listeners_[number].descriptor >= 0) {
      epoll_->SetWatchesListener(listeners_[number].descriptor, number, watches);
    }
  }
}

void Acceptor::Stop() {
  for (Listener& listener : listeners_) {
    if (listener.descriptor >= 0) {
      close(listener.descriptor);
    }
    listener.descriptor = -1;
  }
}

}  // namespace sprites
