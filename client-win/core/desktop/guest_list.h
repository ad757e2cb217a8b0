// Who is a guest on this desktop, whether there is room for another one, and which guest goes on
// next.
//
// A guest is a sprite that another desktop threw here. Invariant: no sprite of this person makes
// room for a guest. The rules and numbers are those of BEHAVIOUR.md (Guests).
// Cost: O(guests) a call.
#ifndef CLIENT_WIN_CORE_DESKTOP_GUEST_LIST_H_
#define CLIENT_WIN_CORE_DESKTOP_GUEST_LIST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/motion/sprite.h"
#include "core/screen/geometry.h"

namespace sprites {

constexpr size_t kGuestsMax = 40;           // at once
constexpr size_t kGuestsOfOneMax = 12;      // from one desktop
constexpr int64_t kGuestStayMs = 10'000;    // that a guest stays before it makes room
constexpr int64_t kGuestGapMs = 400;        // between two guests that go on
constexpr int64_t kGuestPassingMs = 1'000;  // that one is seen which is on its way to somebody else
constexpr int64_t kGuestRetryMs = 5'000;    // until a guest that came back tries again

class GuestList {
 public:
  struct Guest {
    SpriteId id = kNobody;
    std::string from;                // the desktop that threw it
    Edge edge = Edge::kRight;        // by which it goes on: the one it was thrown towards
    int64_t since_ms = 0;            // when it came
    std::optional<int64_t> goes_ms;  // when it may go on; nothing while it may stay
  };

  void Add(SpriteId id, const std::string& from, Edge edge, int64_t now_ms);
  // The sprite is gone for good. One that comes back is still a guest.
  void Remove(SpriteId id);
  // Null for a sprite that is no guest.
  const Guest* Find(SpriteId id) const;
  size_t size() const { return guests_.size(); }
  // Whether a sprite of this desktop may come in, where `most` guests may be. If not, the guest
  // that stands in its way goes on as soon as it has been here for a while.
  bool HasRoom(const std::string& from, int64_t now_ms, size_t most = kGuestsMax);
  // The guests of this desktop go on, or all of them.
  void SendOn(const std::optional<std::string>& from, int64_t now_ms);
  // A guest is on its way to somebody else: it goes on by this edge as soon as it was seen.
  void Pass(SpriteId id, Edge edge, int64_t now_ms);
  // A guest stays, although it was to go on.
  void Stay(SpriteId id);
  // The guest that is to be thrown over its edge now; null for none.
  const Guest* Next(int64_t now_ms);
  // When Next may have one; never while all may stay.
  int64_t NextDueMs() const;

 private:
  std::vector<Guest> guests_;  // oldest first
  int64_t next_ms_ = 0;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_GUEST_LIST_H_
