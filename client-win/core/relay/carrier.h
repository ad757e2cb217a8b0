// Performs requests on threads of its own, some for each lane, so that a held poll or a large file
// does not delay the others.
//
// Invariant: every request gets exactly one response, unless the carrier is destroyed first.
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
  // `wake` is called when PopResponses has something; it must wake the desktop's thread.
  Carrier(Transport* transport, FileCache* cache, std::function<void()> wake);
  // Cancels what is under way and waits for the threads.
  ~Carrier();
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  void Send(Request request);
  // The response comes soon, with status 0 unless it had arrived before.
  void Cancel(RequestId id);
  std::vector<Response> PopResponses();

 private:
  static constexpr size_t kLanes = 3;

  void Work(size_t lane);

  Transport* transport_;
  FileCache* cache_;
  std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<std::deque<Request>, kLanes> queues_;
  std::set<RequestId> under_way_;
  std::vector<Response> responses_;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_CARRIER_H_
