#include "io/unsent_answers.h"

#include <cstring>

namespace sprites {

uint32_t UnsentAnswers::Keep(const uint8_t* bytes, uint32_t size, const uint8_t* more,
                             uint32_t more_size) {
  const uint32_t whole = size + more_size;
  if (bytes_ + whole > bytes_max_) {
    return 0;
  }
  bytes_ += whole;
  uint32_t handle;
  if (free_.empty()) {
    rests_.emplace_back();
    handle = static_cast<uint32_t>(rests_.size());
  } else {
    handle = free_.back();
    free_.pop_back();
  }
  Rest& rest = At(handle);
  rest.bytes = std::make_unique_for_overwrite<uint8_t[]>(whole);
  memcpy(rest.bytes.get(), bytes, size);
  if (more_size != 0) {
    memcpy(rest.bytes.get() + size, more, more_size);
  }
  rest.size = whole;
  rest.sent = 0;
  return handle;
}

void UnsentAnswers::Release(uint32_t handle) {
  Rest& rest = At(handle);
  bytes_ -= rest.size;
  rest = Rest();
  free_.push_back(handle);
  if (free_.size() == rests_.size()) {
    // The storm is over: free its tables.
    std::vector<Rest>().swap(rests_);
    std::vector<uint32_t>().swap(free_);
  }
}

}  // namespace sprites
