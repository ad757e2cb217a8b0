#include "core/relay/arrivals.h"

#include <algorithm>
#include <utility>

namespace sprites {

void Arrivals::BeginBatch() {
  last_batch_.clear();
  last_batch_seq_ = seq_ + 1;
}

bool Arrivals::IsNew(const Arrival& arrival) {
  if (arrival.seq <= seq_) {
    return false;
  }
  seq_ = arrival.seq;
  return true;
}

void Arrivals::Admit(const Arrival& arrival, SpriteId id) {
  if (arrival.seq >= last_batch_seq_) {
    last_batch_.push_back(id);
  }
}

Arrival Arrivals::Pop() {
  Arrival arrival = std::move(waiting_.front());
  waiting_.pop_front();
  return arrival;
}

void Arrivals::RemovePicture(const std::string& file) {
  if (!IsRemoved(file)) {
    removed_.push_back(file);
  }
  if (removed_.size() > kRemovedMax) {
    removed_.pop_front();
  }
  std::erase_if(waiting_, [&file](const Arrival& arrival) { return arrival.file == file; });
}

bool Arrivals::IsRemoved(const std::string& file) const {
  return std::ranges::find(removed_, file) != removed_.end();
}

std::vector<SpriteId> Arrivals::TakeBackBatch() {
  std::erase_if(waiting_,
                [this](const Arrival& arrival) { return arrival.seq >= last_batch_seq_; });
  return std::exchange(last_batch_, {});
}

void Arrivals::BeginEpoch() {
  seq_ = 0;
  BeginBatch();
  for (Arrival& arrival : waiting_) {
    arrival.seq = 0;
  }
}

}  // namespace sprites
