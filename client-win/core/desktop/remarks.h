// What sprites and edges remark for a few seconds: whose a guest is, who has caught a sprite, who
// has come by an invitation.
//
// Invariant: a sprite and an edge have one each, and there are at most kRemarksMax; the oldest goes
// first. Cost: O(kRemarksMax) a call.
#ifndef CLIENT_WIN_CORE_DESKTOP_REMARKS_H_
#define CLIENT_WIN_CORE_DESKTOP_REMARKS_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/motion/sprite.h"

namespace sprites {

constexpr int64_t kRemarkMs = 6'000;
constexpr size_t kRemarksMax = 4;
constexpr uint64_t kFirstRemark = uint64_t{1} << 48;  // ids of their bubbles: above all sayings'

struct Remark {
  uint64_t id = 0;
  std::string text;
  SpriteId sprite = kNobody;  // kNobody for one at `edge`
  Edge edge = Edge::kTop;
  int64_t end_ms = 0;
};

class Remarks {
 public:
  void Add(std::string text, SpriteId sprite, Edge edge, int64_t now_ms) {
    std::erase_if(remarks_, [&](const Remark& one) {
      return one.sprite == sprite && (sprite != kNobody || one.edge == edge);
    });
    if (remarks_.size() >= kRemarksMax) {
      remarks_.erase(remarks_.begin());
    }
    remarks_.push_back({kFirstRemark + next_++, std::move(text), sprite, edge, now_ms + kRemarkMs});
  }
  void Expire(int64_t now_ms) {
    std::erase_if(remarks_, [now_ms](const Remark& one) { return one.end_ms <= now_ms; });
  }
  // Whether a sprite has none, and no other must go for it.
  bool HasRoom(SpriteId sprite) const {
    return remarks_.size() < kRemarksMax &&
           std::ranges::none_of(remarks_, [&](const Remark& one) { return one.sprite == sprite; });
  }
  int64_t NextEndMs() const {
    int64_t next = std::numeric_limits<int64_t>::max();
    for (const Remark& one : remarks_) {
      next = std::min(next, one.end_ms);
    }
    return next;
  }
  const std::vector<Remark>& all() const { return remarks_; }

 private:
  std::vector<Remark> remarks_;  // oldest first
  uint64_t next_ = 0;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_REMARKS_H_
