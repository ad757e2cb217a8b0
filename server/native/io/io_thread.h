// A thread with its own IoLoop and its own file table.
//
// Threads: Run() is the I/O thread; everything public belongs to the JavaScript thread.
// The thread unshares the file table first. So accept and close wait for no lock of another thread,
// and RLIMIT_NOFILE counts for each thread alone. The copied table keeps no descriptor of the
// process open, since all are closed in it at once, except the standard streams and two eventfds:
// `wake` notifies this thread, `signal` notifies the JavaScript thread.
#ifndef SERVER_NATIVE_IO_IO_THREAD_H_
#define SERVER_NATIVE_IO_IO_THREAD_H_

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "io/inbox.h"
#include "io/io_loop.h"
#include "io/outbox.h"

namespace sprites {

class IoThread {
 public:
  struct Listening {
    ListenerOptions options;  // with the port that all threads share
    uint8_t number;
  };

  IoThread(uint32_t number, SharedState* shared, int signal, uint32_t inbox_bytes);
  ~IoThread();
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;

  // Starts the thread and waits until it listens. Returns 0 or an errno.
  int Start(std::vector<Listening> listeners);

  Inbox& inbox() { return inbox_; }
  Outbox& outbox() { return outbox_; }
  // Wakes the thread: its outbox has answers, its inbox has room again, or it must drain or stop.
  void Wake() const;
  // Makes the thread drain.
  void Drain();
  // After Drain(): waits until the thread no longer listens.
  void AwaitListenersClosed();
  // Makes the thread close everything and end. IsOver() is true when it has; Join() waits for that.
  void Stop();
  bool IsOver() const { return over_.load(std::memory_order_acquire); }
  void Join();
  uint32_t waiting() const { return waiting_.load(std::memory_order_relaxed); }

 private:
  static void* Enter(void* thread);
  void Run();
  int Open(IoLoop* loop);
  // Publishes what was read to JavaScript. Waits until the inbox has room, and sends answers
  // meanwhile. Returns false when the thread must stop.
  bool Publish(IoLoop* loop);
  void SendAnswers(IoLoop* loop);
  void Signal() const;
  void ReportStarted(int error);
  void DrainIfRequested(IoLoop* loop);

  const uint32_t number_;
  SharedState* const shared_;
  const int signal_;
  int wake_ = -1;
  Inbox inbox_;
  Outbox outbox_;
  std::vector<Listening> listeners_;
  std::vector<uint8_t> answers_;
  std::atomic<bool> drain_requested_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> over_{false};
  std::atomic<uint32_t> waiting_{0};
  bool started_ = false;
  pthread_t thread_ = {};
  // What Start() and AwaitListenersClosed() wait for.
  std::mutex mutex_;
  std::condition_variable changed_;
  int error_ = -1;                     // of Start(), under mutex_; -1: not known yet
  bool are_listeners_closed_ = false;  // under mutex_
};

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_IO_THREAD_H_
