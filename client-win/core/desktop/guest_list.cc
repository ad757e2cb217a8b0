#include "core/desktop/guest_list.h"

#include <algorithm>
#include <limits>

namespace sprites {

void GuestList::Add(SpriteId id, const std::string& from, Edge edge, int64_t now_ms) {
  guests_.push_back({id, from, edge, now_ms, std::nullopt});
}

void GuestList::Remove(SpriteId id) {
  std::erase_if(guests_, [id](const Guest& guest) { return guest.id == id; });
}

const GuestList::Guest* GuestList::Find(SpriteId id) const {
  const auto found = std::ranges::find(guests_, id, &Guest::id);
  return found == guests_.end() ? nullptr : &*found;
}

bool GuestList::HasRoom(const std::string& from, int64_t now_ms, size_t most) {
  const auto count = static_cast<size_t>(std::ranges::count(guests_, from, &Guest::from));
  const bool is_of_one = count >= kGuestsOfOneMax;
  if (!is_of_one && guests_.size() < most) {
    return true;
  }
  const auto is_in_the_way = [&](const Guest& guest) { return !is_of_one || guest.from == from; };
  const bool goes_already = std::ranges::any_of(guests_, [&](const Guest& guest) {
    return is_in_the_way(guest) && guest.goes_ms.has_value();
  });
  const auto oldest = std::ranges::find_if(guests_, is_in_the_way);
  if (!goes_already && now_ms - oldest->since_ms >= kGuestStayMs) {
    oldest->goes_ms = now_ms;
  }
  return false;
}

void GuestList::SendOn(const std::optional<std::string>& from, int64_t now_ms) {
  for (Guest& guest : guests_) {
    if ((!from || guest.from == *from) && !guest.goes_ms) {
      guest.goes_ms = now_ms;
    }
  }
}

void GuestList::Pass(SpriteId id, Edge edge, int64_t now_ms) {
  if (const auto guest = std::ranges::find(guests_, id, &Guest::id); guest != guests_.end()) {
    guest->edge = edge;
    guest->goes_ms = now_ms + kGuestPassingMs;
  }
}

void GuestList::Stay(SpriteId id) {
  if (const auto guest = std::ranges::find(guests_, id, &Guest::id); guest != guests_.end()) {
    guest->goes_ms.reset();
  }
}

const GuestList::Guest* GuestList::Next(int64_t now_ms) {
  const auto guest = std::ranges::find_if(
      guests_, [now_ms](const Guest& one) { return one.goes_ms && now_ms >= *one.goes_ms; });
  if (now_ms < next_ms_ || guest == guests_.end()) {
    return nullptr;
  }
  guest->goes_ms = now_ms + kGuestRetryMs;
  next_ms_ = now_ms + kGuestGapMs;
  return &*guest;
}

int64_t GuestList::NextDueMs() const {
  int64_t due = std::numeric_limits<int64_t>::max();
  for (const Guest& guest : guests_) {
    due = std::min(due, guest.goes_ms ? std::max(*guest.goes_ms, next_ms_) : due);
  }
  return due;
}

}  // namespace sprites
