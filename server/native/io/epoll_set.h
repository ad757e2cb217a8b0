// One epoll set whose events are tagged with what they belong to.
//
// Threads: all of it belongs to its loop's thread.
// Connections are registered once, edge-triggered; a listener and an external descriptor are
// level-triggered unless the caller asks otherwise.
#ifndef SERVER_NATIVE_IO_EPOLL_SET_H_
#define SERVER_NATIVE_IO_EPOLL_SET_H_

#include <sys/epoll.h>

#include <cstdint>

#include "io/ticket.h"

namespace sprites {

class EpollSet {
 public:
  enum class Source : uint32_t { kConnection, kListener, kExternal };

  EpollSet() = default;
  ~EpollSet();
  EpollSet(const EpollSet&) = delete;
  EpollSet& operator=(const EpollSet&) = delete;

  // Each call returns 0 or an errno.
  int Open();
  int AddConnection(int descriptor, Index index);
  // Reports EPOLLOUT too, or no longer.
  int SetAwaitsWritable(int descriptor, Index index, bool awaits_writable);
  int AddListener(int descriptor, uint32_t number);
  // Reports connections that wait to be accepted, or stops reporting them.
  int SetWatchesListener(int descriptor, uint32_t number, bool watches);
  int AddExternal(int descriptor, uint32_t number, uint32_t extra_events);
  int Remove(int descriptor);

  // Waits up to `timeout_ms` (-1: without limit). Returns how many events were written, 0 on error.
  int Wait(epoll_event* events, int count, int timeout_ms);

  // What an event belongs to.
  static Source SourceOf(const epoll_event& event) {
    return static_cast<Source>(event.data.u64 >> 32);
  }
  // Its index or number.
  static uint32_t NumberOf(const epoll_event& event) {
    return static_cast<uint32_t>(event.data.u64);
  }

  int descriptor() const { return epoll_; }

 private:
  int Control(int operation, int descriptor, uint32_t events, Source source, uint32_t number);

  int epoll_ = -1;
};

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_EPOLL_SET_H_
