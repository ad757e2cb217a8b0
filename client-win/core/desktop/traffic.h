// The sprites between here and the relay: those that come in, those that wait for room, and those
// that wait for their upload or the relay's verdict.
#ifndef CLIENT_WIN_CORE_DESKTOP_TRAFFIC_H_
#define CLIENT_WIN_CORE_DESKTOP_TRAFFIC_H_

#include <optional>
#include <string>
#include <vector>

#include "core/desktop/context.h"
#include "core/desktop/crowd.h"
#include "core/desktop/files/saved_state.h"
#include "core/desktop/guests.h"
#include "core/desktop/sprite_look.h"
#include "core/relay/arrivals.h"
#include "core/relay/crossings/away.h"
#include "core/relay/crossings/departures.h"
#include "core/relay/crossings/games.h"
#include "core/relay/uploads.h"

namespace sprites {

constexpr double kJourneyRestMs = 500;  // of a pointer on a sprite, until that tells its journey

class Traffic {
 public:
  Traffic(Context* context, Simulation* simulation, SpriteLook* look, Crowd* crowd, Guests* guests)
      : context_(*context),
        simulation_(*simulation),
        look_(*look),
        crowd_(*crowd),
        guests_(*guests) {}

  // Sprites that the relay has not decided about, and sprites without room.
  size_t on_the_way() const { return departures_.pending().size(); }
  // The own sprites that were thrown from here and are not home again.
  const Away& away() const { return away_; }
  size_t waiting() const { return arrivals_.waiting().size(); }
  // Makes a sprite a hot potato, unless it has left.
  void LightPotato(SpriteId id);

  // -- For the other parts of the desktop.
  // Continues from a saved state, which has the seat only if it is this desktop's again.
  void Restore(SavedState* state, bool has_seat);
  void SaveTo(SavedState* state) const;
  void HandleArrivals(const Batch& batch);
  void AdmitWaiting();
  // The sprite on which the pointer has come to rest tells its journey.
  void TellJourney();
  // Bubbles say how the games stand.
  void TellGames();
  // A sprite was thrown over an edge: sends it to the relay, its file first, or lets it bounce.
  void Depart(Departure departure);
  void SendDepartures();
  // A file is at the relay, which has just sent it.
  void MarkAtRelay(const std::string& file) { uploads_.MarkAtRelay(file); }
  bool IsAtRelay(const std::string& file) const { return uploads_.IsAtRelay(file); }
  // The relay's files may be gone.
  void ForgetFilesAtRelay() { uploads_.ForgetFilesAtRelay(); }
  void RetryNow() { departures_.RetryNow(); }
  int64_t NextDueMs() const { return departures_.NextDueMs(context_.relay.ConnectedSeat()); }
  // The numbers of a new epoch begin.
  void BeginEpoch() { arrivals_.BeginEpoch(); }
  // Sprites that wait for an upload come back.
  void BounceUploads();
  // Removes the sprites that the relay has passed on to others at the end of the seat.
  void TakeBack(const News& news);
  // Likewise, because the last batch was never acknowledged.
  void TakeBackBatch() { Remove(arrivals_.TakeBackBatch()); }

 private:
  void Admit(const Arrival& arrival);
  std::optional<Step> NextStepOf(const Arrival& arrival) const;
  std::optional<Entrance> UnseenWayOf(const Arrival& arrival) const;
  void Leave(Departure departure);
  Journey TravelledFrom(const Sprite& sprite);
  std::string OnItsWay(const std::string& name, const Goal& goal) const;
  void BounceBack(const Departure& departure, const std::string& why);
  void Remove(const std::vector<SpriteId>& ids);
  std::optional<Text> WhyEdgesBounce() const;
  void RemovePicture(const std::string& file);
  void HandleVerdict(const Verdict& verdict);
  void HandleUpload(const Uploads::Result& result);

  Context& context_;
  Simulation& simulation_;
  SpriteLook& look_;
  Crowd& crowd_;
  Guests& guests_;
  Arrivals arrivals_;
  Departures departures_;
  Away away_;
  Games games_;
  Uploads uploads_;
  SpriteId told_ = kNobody;  // the last one that told its journey, while the pointer is there
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_TRAFFIC_H_
