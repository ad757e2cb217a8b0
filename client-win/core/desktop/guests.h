// Who sent what is here, and what the person has decided about them.
#ifndef CLIENT_WIN_CORE_DESKTOP_GUESTS_H_
#define CLIENT_WIN_CORE_DESKTOP_GUESTS_H_

#include <algorithm>
#include <map>

#include "core/desktop/context.h"
#include "core/desktop/guest_list.h"
#include "core/relay/crossings/goal.h"
#include "core/relay/moderation.h"

namespace sprites {

class Guests {
 public:
  Guests(Context* context, Simulation* simulation) : context_(*context), simulation_(*simulation) {}

  // Who sent a sprite; null for an own one, or if it came before the program started.
  const Neighbour* SenderOf(SpriteId id) const;
  bool IsMuted(const Neighbour& neighbour) const;
  // All guests go on to the next desktop, one after the other.
  void SendAllOn() { list_.SendOn(std::nullopt, context_.now_ms); }
  size_t size() const { return list_.size(); }
  // A report of a sprite's picture, still without a reason.
  PictureReport ReportOf(const Sprite& sprite) const;
  // Tells the operator of the relay about a picture. A toast says what came of it.
  void ReportPicture(const PictureReport& report);

  // -- For the other parts of the desktop.
  void Mute(const Neighbour& neighbour, bool is_muted);
  // A sprite has come in over an edge.
  void Add(SpriteId id, const Neighbour& from, Edge entered);
  // A sprite is thrown to somebody who may be several desktops away. A guest that `passes` goes on
  // by this step when it was seen.
  void Head(SpriteId id, const Step& step, bool passes);
  // The step of a sprite that is thrown to somebody, if it leaves by this edge; null for none.
  const Step* StepOf(SpriteId id, Edge edge) const;
  // It is thrown to nobody any more, and stays here.
  void EndWay(SpriteId id);
  // A sprite is gone for good, if it was a guest.
  void Remove(SpriteId id);
  // The edge by which a guest goes on; nothing for a sprite that is none.
  std::optional<Edge> EdgeOf(SpriteId id) const;
  // Whether a sprite of this desktop may come in. If not, an older guest goes on.
  bool HasRoom(const Neighbour& from) {
    const auto most = std::min(kGuestsMax, static_cast<size_t>(context_.settings.sprite_limit));
    return context_.relay.IsSelf(from.desktop) ||
           list_.HasRoom(from.desktop, context_.now_ms, most);
  }
  // Throws the next guest that is due to leave.
  void SendOnward();
  int64_t NextDueMs() const { return list_.NextDueMs(); }
  void SendMutes();  // REQUIRES: connected
  // There is a new seat, which mutes nobody yet.
  void ForgetMutes() { moderation_.ForgetMutes(); }

 private:
  void HandleReport(const Response& response);

  Context& context_;
  Simulation& simulation_;
  std::map<SpriteId, Neighbour> senders_;
  std::map<SpriteId, Step> steps_;  // of the sprites that are thrown to somebody
  GuestList list_;
  Moderation moderation_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_GUESTS_H_
