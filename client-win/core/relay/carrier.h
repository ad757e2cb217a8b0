// Carries requests on threads of its own: one holds the poll, others do what is short, one the
// files.
//
// Invariant: every request that was sent is answered once, unless the carrier ends before.
// Threads: Send, Cancel and PopResponses on the desktop's thread; `wake` is called on the others.
// Cost: seven threads that sleep.
#ifndef CLIENT_WIN_CORE_RELAY_CARRIER_H_
#define CLIENT_WIN_CORE_RELAY_CARRIER_H_

#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "core/relay/transport.h"

namespace sprites {

class Carrier {
 public:
  // `wake` tells the desktop's thread that PopResponses has something.
  Carrier(Transport* transport, FileCache* cache, std::function<void()> wake);
  // Ends what is under way; waits for the threads.
  ~Carrier();
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  void Send(Request request);
  // The answer comes soon, and says status 0 unless it was there already.
  void Cancel(RequestId id);
  std::vector<Response> PopResponses();
  // Nothing waits and nothing is under way.
  bool IsIdle() const;

 private:
  static constexpr size_t kLanes = 3;

  void Work(size_t lane);

  Transport* transport_;
  FileCache* cache_;
  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::array<std::deque<Request>, kLanes> queues_;
  std::set<RequestId> under_way_;
  std::vector<Response> responses_;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_CARRIER_H_
