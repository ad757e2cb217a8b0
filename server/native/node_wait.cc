#include "node_wait.h"

#include <algorithm>
#include <utility>

namespace sprites {
namespace {

// Embedding reads a private member of uv_loop_t, whose place is the same in every libuv 1.x so far.
// Be safe with any other version than the one compiled for.
bool IsKnownLibuv() {
  constexpr unsigned kMinorBits = 8;
  return uv_version() >> kMinorBits == static_cast<unsigned>(UV_VERSION_HEX) >> kMinorBits;
}

}  // namespace

NodeWait::NodeWait(uv_loop_t* loop, NativeFront* front, Siblings* siblings, RingSet* rings)
    : loop_(loop),
      front_(front),
      siblings_(siblings),
      rings_(rings),
      prepare_(),
      idle_(),
      poll_(),
      timer_() {}

int NodeWait::Start() {
  prepare_.data = idle_.data = timer_.data = poll_.data = this;
  uv_prepare_init(loop_, &prepare_);
  uv_idle_init(loop_, &idle_);
  uv_timer_init(loop_, &timer_);
  open_handles_ = 3;
  siblings_->push_back(this);
  if (siblings_->size() == 1 && IsKnownLibuv()) {
    return StartEmbedding();
  }
  // This one first: when it fails, the others wait as before.
  for (auto each = siblings_->rbegin(); each != siblings_->rend(); ++each) {
    NodeWait* const sibling = *each;
    if (sibling->is_embedding_) {
      sibling->StopEmbedding();
    }
    if (sibling->is_polling_) {
      continue;
    }
    if (const int error = sibling->StartPolling(); error != 0) {
      return error;
    }
  }
  return 0;
}

int NodeWait::StartEmbedding() {
  if (const int error = front_->AddExternal(uv_backend_fd(loop_)); error != 0) {
    return -error;
  }
  if (const int error = rings_->Embed(front_); error != 0) {
    return -error;
  }
  is_embedding_ = true;
  return uv_prepare_start(&prepare_, OnPrepare);
}

void NodeWait::StopEmbedding() {
  is_embedding_ = false;
  uv_prepare_stop(&prepare_);
  uv_idle_stop(&idle_);
  front_->RemoveExternal(uv_backend_fd(loop_));
  rings_->EndEmbedding();
}

int NodeWait::StartPolling() {
  if (const int error = uv_poll_init(loop_, &poll_, front_->descriptor()); error != 0) {
    return error;
  }
  ++open_handles_;
  is_polling_ = true;
  uv_timer_start(&timer_, OnTimer, kDeadlineStepMs, kDeadlineStepMs);
  return uv_poll_start(&poll_, UV_READABLE, OnPoll);
}

// True when libuv has watchers that are not registered yet: it registers them only on its own way
// to epoll_wait.
bool NodeWait::HasPendingWatchers() const {
  return loop_->watcher_queue.next != &loop_->watcher_queue;
}

void NodeWait::OnPrepare(uv_prepare_t* handle) {
  static_cast<NodeWait*>(handle->data)->PassWhileIdle();
}

void NodeWait::OnIdle(uv_idle_t* /*handle*/) {}

void NodeWait::PassWhileIdle() {
  is_inside_ = true;
  uv_idle_stop(&idle_);
  for (int passes = 0; passes < kPassesMax && is_embedding_; ++passes) {
    uv_update_time(loop_);
    const int timeout_ms = HasPendingWatchers() ? 0 : uv_backend_timeout(loop_);
    const bool waits = timeout_ms != 0 && rings_->Sleep();
    const bool has_external = front_->Pass(waits ? timeout_ms : 0);
    rings_->Receive();
    if (has_external || timeout_ms == 0) {
      break;
    }
    if (ended_ && front_->IsOver()) {
      break;
    }
  }
  is_inside_ = false;
  uv_update_time(loop_);
  if (is_embedding_) {
    uv_idle_start(&idle_, OnIdle);
  }
  EndIfOver();
}

void NodeWait::OnPoll(uv_poll_t* handle, int /*status*/, int /*events*/) {
  static_cast<NodeWait*>(handle->data)->PassAll();
}

void NodeWait::OnTimer(uv_timer_t* handle) { static_cast<NodeWait*>(handle->data)->PassAll(); }

void NodeWait::PassAll() {
  is_inside_ = true;
  for (int passes = 0; passes < kPassesMax; ++passes) {
    front_->Pass(0);
    if (!front_->HasWork()) {
      break;
    }
  }
  is_inside_ = false;
  SchedulePass();
  EndIfOver();
}

void NodeWait::SchedulePass() {
  if (is_polling_ && !is_inside_ && front_->HasWork()) {
    uv_timer_start(&timer_, OnTimer, 0, kDeadlineStepMs);
  }
}

void NodeWait::End(std::function<void()> ended) {
  ended_ = std::move(ended);
  EndIfOver();
}

void NodeWait::EndIfOver() {
  if (!ended_ || is_inside_ || !front_->IsOver() || open_handles_ == 0) {
    return;
  }
  if (uv_is_closing(reinterpret_cast<uv_handle_t*>(&prepare_)) != 0) {
    return;
  }
  if (is_embedding_) {
    StopEmbedding();
  }
  std::erase(*siblings_, this);
  uv_close(reinterpret_cast<uv_handle_t*>(&prepare_), OnClosed);
  uv_close(reinterpret_cast<uv_handle_t*>(&idle_), OnClosed);
  uv_close(reinterpret_cast<uv_handle_t*>(&timer_), OnClosed);
  if (is_polling_) {
    uv_close(reinterpret_cast<uv_handle_t*>(&poll_), OnClosed);
  }
}

void NodeWait::OnClosed(uv_handle_t* handle) {
  NodeWait* const wait = static_cast<NodeWait*>(handle->data);
  if (--wait->open_handles_ > 0) {
    return;
  }
  const std::function<void()> ended = std::move(wait->ended_);
  ended();  // `wait` may be gone after this
}

}  // namespace sprites
