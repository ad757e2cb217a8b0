// Connections that can continue without an event: unread bytes follow an answered request, or the
// peer has closed.
//
// Threads: all of it belongs to its loop's thread.
// Invariant: a connection is in the queue at most once (the caller's kQueued flag), and a
// connection pushed during a pass waits for the next one, so it gets one request a pass.
#ifndef SERVER_NATIVE_IO_READY_QUEUE_H_
#define SERVER_NATIVE_IO_READY_QUEUE_H_

#include <cstddef>
#include <vector>

#include "io/ticket.h"

namespace sprites {

class ReadyQueue {
 public:
  void Push(Index index) { queue_.push_back(index); }
  bool empty() const { return queue_.empty(); }

  // Starts a pass over what is in the queue now.
  void BeginPass() { end_ = queue_.size(); }
  bool HasNext() const { return at_ < end_; }
  // REQUIRES: HasNext().
  Index Pop() {
    const Index index = queue_[at_++];
    if (at_ == end_) {
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(at_));
      at_ = end_ = 0;
    }
    return index;
  }
  void Clear() {
    queue_.clear();
    at_ = end_ = 0;
  }

 private:
  std::vector<Index> queue_;
  size_t at_ = 0;
  size_t end_ = 0;  // of this pass
};

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_READY_QUEUE_H_
