#include "core/desktop/context.h"

#include <algorithm>

#include "core/relay/relay_link.h"

namespace sprites {

const Neighbour* RelayState::NeighbourBeyond(Edge edge) const {
  if (!neighbours || ConnectedSeat() == nullptr) {
    return nullptr;
  }
  const Neighbour& neighbour = (*neighbours)[static_cast<size_t>(edge)];
  return neighbour.desktop.empty() || IsSelf(neighbour.desktop) ? nullptr : &neighbour;
}

bool RelayState::IsAlone() const {
  return poller.seat() && neighbours &&
         std::ranges::all_of(
             *neighbours, [this](const Neighbour& neighbour) { return IsSelf(neighbour.desktop); });
}

std::string RelayState::InvitationLink() const {
  const std::optional<Seat>& seat = poller.seat();
  return !seat || seat->invitation.empty()
             ? ""
             : sprites::InvitationLink(poller.site(), seat->world, seat->invitation, name);
}

Language Context::language() const {
  return settings.language == LanguageChoice::kEnglish  ? Language::kEnglish
         : settings.language == LanguageChoice::kGerman ? Language::kGerman
                                                        : system_language;
}

bool Context::IsQuiet() const {
  const bool is_covered = std::ranges::find(covered, true) != covered.end();
  return is_hidden || (settings.quiet && (presence != Presence::kFree || is_covered));
}

}  // namespace sprites
