#include "io/io_thread.h"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

namespace sprites {
namespace {

// The deepest call needs some KiB; a hundred threads must not reserve 800 MB.
constexpr size_t kStackBytes = 256 << 10;

void CloseRange(unsigned first, unsigned last) {
  if (first > last) {
    return;
  }
  if (syscall(SYS_close_range, first, last, 0) == 0) {
    return;
  }
  // A kernel before 5.9: close one by one, up to the limit.
  const long limit = std::min<long>(sysconf(_SC_OPEN_MAX), static_cast<long>(last) + 1);
  for (long descriptor = first; descriptor < limit; ++descriptor) {
    close(static_cast<int>(descriptor));
  }
}

void Notify(int eventfd) {
  const uint64_t one = 1;
  // This fails only when the counter is full, and then a notification is pending already.
  [[maybe_unused]] const ssize_t ignored = write(eventfd, &one, sizeof one);
}

}  // namespace

IoThread::IoThread(uint32_t number, SharedState* shared, int signal, uint32_t inbox_bytes)
    : number_(number), shared_(shared), signal_(signal), inbox_(inbox_bytes) {}

IoThread::~IoThread() {
  Stop();
  Join();
  if (wake_ >= 0) {
    close(wake_);
  }
}

int IoThread::Start(std::vector<Listening> listeners) {
  listeners_ = std::move(listeners);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) {
    return errno;
  }
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  // Signals belong to Node's own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&thread_, &attributes, Enter, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    return error;
  }
  started_ = true;
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return error_ >= 0; });
  return error_;
}

void IoThread::Wake() const { Notify(wake_); }
void IoThread::Signal() const { Notify(signal_); }

void IoThread::Drain() {
  drain_requested_.store(true, std::memory_order_release);
  Wake();
}

void IoThread::AwaitListenersClosed() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return are_listeners_closed_; });
}

void IoThread::DrainIfRequested(IoLoop* loop) {
  if (!drain_requested_.exchange(false, std::memory_order_acquire)) {
    return;
  }
  loop->StopListening();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    are_listeners_closed_ = true;
  }
  changed_.notify_one();
  loop->Drain();
}

void IoThread::Stop() {
  if (!started_) {
    return;
  }
  stopping_.store(true, std::memory_order_release);
  Wake();
}

void IoThread::Join() {
  if (!started_) {
    return;
  }
  pthread_join(thread_, nullptr);
  started_ = false;
}

void* IoThread::Enter(void* thread) {
  static_cast<IoThread*>(thread)->Run();
  return nullptr;
}

void IoThread::ReportStarted(int error) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    error_ = error;
  }
  changed_.notify_one();
}

int IoThread::Open(IoLoop* loop) {
  if (unshare(CLONE_FILES) != 0) {
    return errno;
  }
  // Keep only the two eventfds and the standard streams of the copied table.
  const unsigned low = static_cast<unsigned>(std::min(wake_, signal_));
  const unsigned high = static_cast<unsigned>(std::max(wake_, signal_));
  CloseRange(3, low - 1);
  CloseRange(low + 1, high - 1);
  CloseRange(high + 1, ~0u);
  if (const int error = loop->Open(); error != 0) {
    return error;
  }
  // Edge-triggered and never read: each write is a new edge.
  if (const int error = loop->AddExternal(wake_, 0, EPOLLET); error != 0) {
    return error;
  }
  for (const Listening& listening : listeners_) {
    const int descriptor = OpenListener(listening.options, true);
    if (descriptor < 0) {
      return -descriptor;
    }
    if (const int error = loop->AddListener(descriptor, listening.options, listening.number);
        error != 0) {
      close(descriptor);
      return error;
    }
  }
  return 0;
}

void IoThread::Run() {
  char name[16];
  snprintf(name, sizeof name, "front-%u", number_);
  pthread_setname_np(pthread_self(), name);
  {
    // On the heap, since the stack is small and the loop contains its scratch space.
    const auto loop = std::make_unique<IoLoop>(number_, shared_, inbox_.filling());
    const int error = Open(loop.get());
    ReportStarted(error);
    bool is_running = error == 0;
    while (is_running && !stopping_.load(std::memory_order_acquire)) {
      DrainIfRequested(loop.get());
      loop->Wait(-1);
      bool has_more;
      do {
        has_more = loop->Handle();
        is_running = Publish(loop.get());
      } while (is_running && has_more);
      SendAnswers(loop.get());
      loop->EndPass();
    }
    loop->CloseAll();
    waiting_.store(0, std::memory_order_relaxed);
    DrainIfRequested(loop.get());
  }
  over_.store(true, std::memory_order_release);
  Signal();
}

bool IoThread::Publish(IoLoop* loop) {
  while (!inbox_.filling()->empty()) {
    waiting_.store(loop->waiting(), std::memory_order_relaxed);
    switch (inbox_.Publish()) {
      case Inbox::Published::kFirst:
        Signal();
        return true;
      case Inbox::Published::kBehind:
        return true;
      case Inbox::Published::kNoRoom:
        break;
    }
    // JavaScript is behind: read nothing, but keep sending its answers, so that it can catch up.
    if (stopping_.load(std::memory_order_acquire)) {
      return false;
    }
    pollfd wake = {wake_, POLLIN, 0};
    poll(&wake, 1, -1);
    uint64_t notifications;
    [[maybe_unused]] const ssize_t ignored = read(wake_, &notifications, sizeof notifications);
    DrainIfRequested(loop);
    SendAnswers(loop);
  }
  return true;
}

void IoThread::SendAnswers(IoLoop* loop) {
  while (outbox_.Receive(&answers_)) {
    SharedBody shared;
    for (size_t at = 0; at < answers_.size();) {
      uint32_t bytes;
      memcpy(&bytes, answers_.data() + at, sizeof bytes);
      if (!ReadSharedBody(answers_.data() + at, &shared)) {
        loop->Answer(answers_.data() + at, shared);
      }
      at += bytes;
    }
  }
  waiting_.store(loop->waiting(), std::memory_order_relaxed);
}

}  // namespace sprites
