#include "io/outbox.h"

namespace sprites {

bool Outbox::Send() {
  if (staged_.empty()) {
    return false;
  }
  bool was_empty;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    was_empty = sent_.empty();
    if (was_empty) {
      sent_.swap(staged_);
    } else {
      sent_.insert(sent_.end(), staged_.begin(), staged_.end());
    }
  }
  staged_.clear();
  if (staged_.capacity() > kKeptBytesMax) {
    staged_.shrink_to_fit();
  }
  return was_empty;
}

bool Outbox::Receive(std::vector<uint8_t>* into) {
  into->clear();
  if (into->capacity() > kKeptBytesMax) {
    into->shrink_to_fit();
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (sent_.empty()) {
    return false;
  }
  sent_.swap(*into);
  return true;
}

}  // namespace sprites
