#include "core/desktop/files/state_writer.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace sprites {

namespace {

int64_t NowMs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

}  // namespace

StateWriter::StateWriter(Write write, std::function<void()> wake)
    : write_(std::move(write)), wake_(std::move(wake)), thread_([this] { Run(); }) {}

StateWriter::~StateWriter() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void StateWriter::Add(std::string state, std::vector<Request> requests) {
  {
    const std::lock_guard lock(mutex_);
    queue_.Add(std::move(state), std::move(requests));
  }
  changed_.notify_all();
}

void StateWriter::Cancel(RequestId id) {
  const std::lock_guard lock(mutex_);
  queue_.Cancel(id);
}

std::vector<Request> StateWriter::PopRequests() {
  const std::lock_guard lock(mutex_);
  return queue_.PopRequests();
}

bool StateWriter::IsIdle() const {
  const std::lock_guard lock(mutex_);
  return queue_.IsEmpty();
}

bool StateWriter::IsFailing() const {
  const std::lock_guard lock(mutex_);
  return queue_.IsFailing();
}

void StateWriter::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    // At the end, without the pause after a failure.
    const auto state = queue_.PopState(is_ending_ ? kNever : NowMs());
    if (state) {
      lock.unlock();
      const bool is_written = write_(*state);
      lock.lock();
      queue_.HandleWritten(is_written, NowMs());
      if (is_ending_ && !is_written) {
        return;
      }
      lock.unlock();
      wake_();
      lock.lock();
      continue;
    }
    if (is_ending_) {
      return;
    }
    const int64_t due_ms = queue_.NextDueMs();
    if (due_ms == kNever) {
      changed_.wait(lock, [this] { return is_ending_ || queue_.NextDueMs() != kNever; });
    } else {
      const auto pause = std::chrono::milliseconds(std::max<int64_t>(0, due_ms - NowMs()));
      changed_.wait_for(lock, pause, [this] { return is_ending_; });
    }
  }
}

}  // namespace sprites
