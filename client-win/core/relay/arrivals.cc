#include "core/relay/arrivals.h"

#include <algorithm>
#include <utility>

namespace sprites {

void Arrivals::BeginBatch(uint64_t first_seq) {
  if (first_seq == 0 || first_seq > seq_) {
    EndBatch();
  }
}

void Arrivals::EndBatch() {
  batch_.clear();
  batch_seq_ = seq_ + 1;
}

bool Arrivals::IsNew(const Arrival& arrival) {
  if (arrival.seq <= seq_) {
    return false;
  }
  seq_ = arrival.seq;
  return true;
}

void Arrivals::Admit(const Arrival& arrival, SpriteId id) {
  if (const uint64_t seq = SeqOf(arrival); seq > 0) {
    batch_[id] = seq;
  }
}

std::optional<Arrival> Arrivals::Pop(const std::function<bool(const Arrival&)>& has_room) {
  const auto first = std::ranges::find_if(waiting_, has_room);
  if (first == waiting_.end()) {
    return std::nullopt;
  }
  Arrival arrival = std::move(*first);
  waiting_.erase(first);
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

std::vector<SpriteId> Arrivals::TakeBackAfter(uint64_t seq) {
  std::erase_if(waiting_, [&](const Arrival& arrival) { return SeqOf(arrival) > seq; });
  std::vector<SpriteId> taken;
  std::erase_if(batch_, [&](const auto& sprite) {
    const bool is_taken = sprite.second > seq;
    if (is_taken) {
      taken.push_back(sprite.first);
    }
    return is_taken;
  });
  return taken;
}

uint64_t Arrivals::SeqOf(SpriteId id) const {
  const auto sprite = batch_.find(id);
  return sprite == batch_.end() ? 0 : sprite->second;
}

uint64_t Arrivals::SeqOf(const Arrival& waiting) const {
  return waiting.seq >= batch_seq_ ? waiting.seq : 0;
}

void Arrivals::Restore(uint64_t seq, std::map<SpriteId, uint64_t> batch) {
  seq_ = seq;
  batch_ = std::move(batch);
  batch_seq_ = 1;  // what waits from an earlier batch has no number any more
}

void Arrivals::BeginEpoch() {
  seq_ = 0;
  EndBatch();
  for (Arrival& arrival : waiting_) {
    arrival.seq = 0;
  }
}

}  // namespace sprites
