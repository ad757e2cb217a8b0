// A thread with an IoLoop of its own and a file table of its own.
//
// Threads: the constructor, Start(), Deliver(), Stop() and Join() belong to the JavaScript thread,
// Run() is the I/O thread. The file table is unshared first: accept and close take no lock that
// another thread wants, RLIMIT_NOFILE counts for each thread alone, and no descriptor of the
// process is kept open by the copy, since all but two are closed in it at once. Those two are
// eventfds: `wake` is rung for this thread, `signal` by it for the JavaScript thread.
#ifndef SERVER_NATIVE_IO_THREAD_H_
#define SERVER_NATIVE_IO_THREAD_H_

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "inbox.h"
#include "io_loop.h"
#include "outbox.h"

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

  // Starts the thread and waits until it listens. 0 or an errno.
  int Start(std::vector<Listening> listeners);

  Inbox& inbox() { return inbox_; }
  Outbox& outbox() { return outbox_; }
  // Rings the thread: its outbox has something, its inbox has room again, or it has been told to
  // drain or stop.
  void Wake() const;
  // Tells the thread to drain; AwaitDeaf() returns when it no longer listens.
  void Drain();
  void AwaitDeaf();
  // Tells the thread to close everything and end; IsOver() says when it has, and Join() waits for
  // it.
  void Stop();
  bool IsOver() const { return over_.load(std::memory_order_acquire); }
  void Join();
  uint32_t waiting() const { return waiting_.load(std::memory_order_relaxed); }

 private:
  static void* Enter(void* thread);
  void Run();
  int Open(IoLoop* loop);
  // Hands what was read to JavaScript; waits until there is room for it, answering meanwhile.
  // False: stop.
  bool Publish(IoLoop* loop);
  void SendAnswers(IoLoop* loop);
  void Signal() const;
  void Tell(int error);
  void DrainIfTold(IoLoop* loop);

  const uint32_t number_;
  SharedState* const shared_;
  const int signal_;
  int wake_ = -1;
  Inbox inbox_;
  Outbox outbox_;
  std::vector<Listening> listeners_;
  std::vector<uint8_t> answers_;
  std::atomic<bool> draining_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> over_{false};
  std::atomic<uint32_t> waiting_{0};
  bool started_ = false;
  pthread_t thread_ = {};
  // The answers to Start() and Drain().
  std::mutex mutex_;
  std::condition_variable told_;
  int error_ = -1;        // under mutex_; -1: not yet
  bool is_deaf_ = false;  // under mutex_
};

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_THREAD_H_
