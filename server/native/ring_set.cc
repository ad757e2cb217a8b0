#include "ring_set.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace sprites {

RingSet::~RingSet() {
  StopPolling();
  if (doorbell_ >= 0) {
    close(doorbell_);
  }
}

int RingSet::Open() {
  if (doorbell_ >= 0) {
    return 0;
  }
  const int doorbell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return doorbell < 0 ? errno : Open(doorbell);
}

int RingSet::Open(int doorbell) {
  doorbell_ = doorbell;
  return Watch();
}

void RingSet::Add(RingEnd* end) {
  ends_.push_back(end);
  LookSoon();
}

void RingSet::Remove(RingEnd* end) {
  if (is_receiving_) {
    std::replace(ends_.begin(), ends_.end(), end, static_cast<RingEnd*>(nullptr));
  } else {
    std::erase(ends_, end);
  }
}

int RingSet::Embed(NativeFront* front) {
  StopPolling();
  front_ = front;
  const int error = Watch();
  if (error != 0) {
    front_ = nullptr;  // which its owner destroys then
  }
  return error;
}

void RingSet::EndEmbedding() {
  if (doorbell_ >= 0) {
    front_->RemoveExternal(doorbell_);
  }
  front_ = nullptr;
  Watch();
}

int RingSet::Watch() {
  if (doorbell_ < 0) {
    return 0;
  }
  return front_ != nullptr ? front_->AddDoorbell(doorbell_) : StartPolling();
}

int RingSet::StartPolling() {
  poll_ = new uv_poll_t();
  poll_->data = this;
  if (const int error = uv_poll_init(loop_, poll_, doorbell_); error != 0) {
    delete poll_;
    poll_ = nullptr;
    return -error;
  }
  // A link does not keep a process alive that has nothing else to do.
  uv_unref(reinterpret_cast<uv_handle_t*>(poll_));
  LookSoon();
  return -uv_poll_start(poll_, UV_READABLE, OnPoll);
}

void RingSet::StopPolling() {
  if (poll_ == nullptr) {
    return;
  }
  uv_close(reinterpret_cast<uv_handle_t*>(poll_),
           [](uv_handle_t* handle) { delete reinterpret_cast<uv_poll_t*>(handle); });
  poll_ = nullptr;
}

void RingSet::OnPoll(uv_poll_t* handle, int /*status*/, int /*events*/) {
  static_cast<RingSet*>(handle->data)->ReceiveAll();
}

void RingSet::ReceiveAll() {
  eventfd_t rings = 0;
  eventfd_read(doorbell_, &rings);
  for (int reads = 0; reads < kReadsMax; ++reads) {
    Receive();
    if (front_ != nullptr || Sleep()) {
      return;
    }
  }
  LookSoon();
}

void RingSet::LookSoon() const { eventfd_write(doorbell_, 1); }

bool RingSet::Sleep() {
  bool is_empty = true;
  for (RingEnd* const end : ends_) {
    is_empty = end->Sleep() && is_empty;
  }
  return is_empty;
}

void RingSet::Receive() {
  if (ends_.empty()) {
    return;
  }
  is_receiving_ = true;
  for (size_t i = 0; i < ends_.size(); ++i) {  // an end that is added meanwhile is read, too
    if (ends_[i] != nullptr) {
      ends_[i]->Receive();
    }
  }
  is_receiving_ = false;
  std::erase(ends_, nullptr);
}

}  // namespace sprites
