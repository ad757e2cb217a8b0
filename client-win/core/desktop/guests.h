// Who sent what is here, and what the person has decided about them.
#ifndef CLIENT_WIN_CORE_DESKTOP_GUESTS_H_
#define CLIENT_WIN_CORE_DESKTOP_GUESTS_H_

#include <map>

#include "core/desktop/context.h"
#include "core/relay/moderation.h"

namespace sprites {

class Guests {
 public:
  Guests(Context* context, Simulation* simulation) : context_(*context), simulation_(*simulation) {}

  // Who sent a sprite; null for an own one, or if it came before the program started.
  const Neighbour* SenderOf(SpriteId id) const;
  bool IsMuted(const Neighbour& neighbour) const;
  // A report of a sprite's picture, still without a reason.
  PictureReport ReportOf(const Sprite& sprite) const;
  // Tells the operator of the relay about a picture. A toast says what came of it.
  void ReportPicture(const PictureReport& report);

  // -- For the other parts of the desktop.
  void Mute(const Neighbour& neighbour, bool is_muted);
  void Remember(SpriteId id, const Neighbour& from);
  void SendMutes();
  bool HandleResponse(const Response& response);
  // There is a new seat, which mutes nobody yet.
  void ForgetMutes() { moderation_.ForgetMutes(); }

 private:
  Context& context_;
  Simulation& simulation_;
  std::map<SpriteId, Neighbour> senders_;
  Moderation moderation_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_GUESTS_H_
