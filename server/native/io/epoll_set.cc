#include "io/epoll_set.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace sprites {
namespace {

constexpr uint32_t kConnectionEvents = EPOLLIN | EPOLLRDHUP | EPOLLET;

}  // namespace

EpollSet::~EpollSet() {
  if (epoll_ >= 0) {
    close(epoll_);
  }
}

int EpollSet::Open() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  return epoll_ < 0 ? errno : 0;
}

int EpollSet::Control(int operation, int descriptor, uint32_t events, Source source,
                      uint32_t number) {
  epoll_event event = {};
  event.events = events;
  event.data.u64 = static_cast<uint64_t>(source) << 32 | number;
  return epoll_ctl(epoll_, operation, descriptor, &event) == 0 ? 0 : errno;
}

int EpollSet::AddConnection(int descriptor, Index index) {
  return Control(EPOLL_CTL_ADD, descriptor, kConnectionEvents, Source::kConnection, index);
}

int EpollSet::SetAwaitsWritable(int descriptor, Index index, bool awaits_writable) {
  const uint32_t events = awaits_writable ? kConnectionEvents | EPOLLOUT : kConnectionEvents;
  return Control(EPOLL_CTL_MOD, descriptor, events, Source::kConnection, index);
}

int EpollSet::AddListener(int descriptor, uint32_t number) {
  return Control(EPOLL_CTL_ADD, descriptor, EPOLLIN, Source::kListener, number);
}

int EpollSet::SetWatchesListener(int descriptor, uint32_t number, bool watches) {
  return Control(EPOLL_CTL_MOD, descriptor, watches ? uint32_t{EPOLLIN} : 0, Source::kListener,
                 number);
}

int EpollSet::AddExternal(int descriptor, uint32_t number, uint32_t extra_events) {
  return Control(EPOLL_CTL_ADD, descriptor, EPOLLIN | extra_events, Source::kExternal, number);
}

int EpollSet::Remove(int descriptor) {
  return epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr) == 0 ? 0 : errno;
}

int EpollSet::Wait(epoll_event* events, int count, int timeout_ms) {
  // For the direct system call see socket_calls.h.
  return std::max(
      0, static_cast<int>(syscall(SYS_epoll_pwait, epoll_, events, count, timeout_ms, nullptr, 0)));
}

}  // namespace sprites
