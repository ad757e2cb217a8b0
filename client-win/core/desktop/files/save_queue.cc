#include "core/desktop/files/save_queue.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sprites {

namespace {

constexpr int kDoublingsMax = 10;  // more than kSaveRetryMsMax needs, few enough not to overflow

}  // namespace

void SaveQueue::Add(std::string state, std::vector<Request> requests) {
  if (!state.empty()) {
    state_ = std::move(state);
    added_++;
  }
  for (Request& request : requests) {
    requests_.push_back({std::move(request), added_});
  }
}

void SaveQueue::Cancel(RequestId id) {
  std::erase_if(requests_, [id](const HeldRequest& held) { return held.request.id == id; });
}

std::optional<std::string> SaveQueue::PopState(int64_t now_ms) {
  if (!state_ || is_writing_ || now_ms < due_ms_) {
    return std::nullopt;
  }
  is_writing_ = true;
  popped_ = added_;
  writing_ = *std::exchange(state_, std::nullopt);
  return writing_;
}

void SaveQueue::HandleWritten(bool is_written, int64_t now_ms) {
  is_writing_ = false;
  if (is_written) {
    written_ = popped_;
    failures_ = 0;
    due_ms_ = now_ms;
    return;
  }
  if (!state_) {
    state_ = std::move(writing_);
  }
  due_ms_ =
      now_ms + std::min(kSaveRetryMsMax, kSaveRetryMsFirst << std::min(failures_, kDoublingsMax));
  failures_++;
}

std::vector<Request> SaveQueue::PopRequests() {
  std::vector<Request> ready;
  std::erase_if(requests_, [&](HeldRequest& held) {
    const bool is_ready = held.needs <= written_;
    if (is_ready) {
      ready.push_back(std::move(held.request));
    }
    return is_ready;
  });
  return ready;
}

int64_t SaveQueue::NextDueMs() const {
  return state_ && !is_writing_ ? due_ms_ : std::numeric_limits<int64_t>::max();
}

}  // namespace sprites
