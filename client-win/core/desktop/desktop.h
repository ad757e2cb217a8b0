// One running desktop: a simulation of its sprites, its seat at the relay, and the pictures of all
// sprites in it.
//
// A function of its state, what the shell reports, and the time. Invariant: a sprite is in the
// simulation, or waits for room, or waits for its upload or the relay's verdict, or is the relay's.
// The outbox holds the state to save before any request that makes this desktop answerable for it.
// Threads: all calls on one. Cost: a tick is the simulation's steps and one DrawnSprite a sprite.
#ifndef CLIENT_WIN_CORE_DESKTOP_DESKTOP_H_
#define CLIENT_WIN_CORE_DESKTOP_DESKTOP_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/desktop/context.h"
#include "core/desktop/crowd.h"
#include "core/desktop/files/saved_state.h"
#include "core/desktop/guests.h"
#include "core/desktop/peeking.h"
#include "core/desktop/sprite_look.h"
#include "core/desktop/talk.h"
#include "core/desktop/traffic.h"
#include "core/desktop/updates.h"
#include "core/relay/company.h"
#include "core/relay/relay_link.h"
#include "core/relay/swaps.h"
#include "core/scene/scene.h"

namespace sprites {

constexpr int64_t kSaveMs = 10'000;    // between two saves of where the sprites are
constexpr double kIdleMsMax = 250;     // the longest a shell may sleep between two ticks
constexpr double kUnseenIdleMs = 100;  // between two ticks while no sprite can be seen
constexpr int64_t kNetworkMs = 1'000;  // from a change of the network until the relay is asked
constexpr int64_t kSleptMs = 20'000;   // between two ticks: the machine slept, and connections died
// How long the end of the program waits for verdicts on what was thrown: three tries, or a relay
// that first asks another one. After that the question is saved, and asked at the next start.
constexpr int64_t kVerdictsMsMax = 2'000;
constexpr int64_t kFarewellMsMax = 2'000;  // then, for the responses to giving up the seat
// Of both. Windows ends a program that takes 5 s.
constexpr int64_t kLeaveMsMax = kVerdictsMsMax + kFarewellMsMax;
// Pictures of galleries that are fetched at once: the person answers a question before each.
constexpr size_t kGalleryFetchesMax = 8;

class Desktop {
 public:
  Desktop(const Settings& settings, Random random);
  Desktop(const Desktop&) = delete;  // its parts refer to each other
  Desktop& operator=(const Desktop&) = delete;

  // Continues from a saved state; call it before any tick. What is wrong in it is left out.
  // `may_reuse_seat`: the seat may still be this desktop's, because the program ended less than a
  // lease ago.
  void Restore(std::string_view saved_state, bool may_reuse_seat);

  // -- Its parts. What the shell reports to them happens at the time of the last tick: after a
  // pause, tick first.
  Crowd& sprites() { return crowd_; }
  const Crowd& sprites() const { return crowd_; }
  SpriteLook& look() { return look_; }
  const SpriteLook& look() const { return look_; }
  Guests& guests() { return guests_; }
  const Guests& guests() const { return guests_; }
  Talk& talk() { return talk_; }
  const Talk& talk() const { return talk_; }
  Peeking& peeking() { return peeking_; }
  const Peeking& peeking() const { return peeking_; }
  Updates& updates() { return updates_; }
  const Updates& updates() const { return updates_; }
  const Traffic& traffic() const { return traffic_; }
  const Company& company() const { return company_; }
  // Who asks to change seats with this desktop; null when nobody does.
  const Neighbour* SeatAsker() const { return swaps_.Asker(context_.now_ms); }
  const RelayState& relay() const { return context_.relay; }
  const Simulation& simulation() const { return simulation_; }

  // -- What the shell reports.
  void SetSettings(const Settings& settings);
  // Sprites stand still until the person does something with one.
  void Pause(bool is_paused) { context_.is_paused = is_paused; }
  // Shows and says nothing from now on; the sprites live on. Until the program ends.
  void Hide(bool is_hidden) { context_.is_hidden = is_hidden; }
  // The key kKeyHide does that wherever the person types.
  void SetHasHideKey(bool has_key) { has_hide_key_ = has_key; }
  void Mute(const Neighbour& neighbour, bool is_muted);
  // The person wants to see company().
  void AskWhoIsHere() { company_.AskSoon(); }
  // Throws a sprite to the desktop of company() with this name, over those in between. A notice
  // says so if it is not there any more.
  void ThrowToFriend(SpriteId id, const std::string& name);
  // Makes a sprite a hot potato.
  void LightPotato(SpriteId id) { traffic_.LightPotato(id); }
  // Asks the desktop of company() with this name to change seats. Notices say what comes of it.
  void AskForSeat(const std::string& name);
  // Answers SeatAsker().
  void AnswerSeatAsker(bool is_accepted);
  // Goes where the link leads: settings() change, and the outbox asks to save them. A link to a
  // picture of a gallery fetches that, and leads to its relay only if no relay is chosen yet. The
  // picture falls in as a sprite of the shelf, and is kept; a notice says so if it does not come.
  void Open(const RelayLink& link);
  // Whether the link leads to another relay than that of the settings. One to a picture does not.
  bool LeadsAway(const RelayLink& link) const;
  void SetPresence(Presence presence) { context_.presence = presence; }
  // The language of the system; the settings may name another one.
  void SetSystemLanguage(Language language) { context_.system_language = language; }
  // The person has given somebody the invitation: the friend is announced, once.
  void ExpectFriend() { expects_friend_ = true; }
  // The first sprite has said hello.
  void MarkGreeted();
  // A text for the person, from the shell.
  void ShowNotice(Text title, Text text, std::initializer_list<std::string_view> values = {}) {
    context_.ShowNotice(title, text, values);
  }
  // The network has changed, or the machine woke up. A second later, when it has settled, the poll
  // is ended and asked again.
  void NetworkIsBack();
  void HandleResponse(const Response& response) { context_.open_requests.Handle(response); }
  // Handles responses at the time of now, not of the last frame.
  void HandleResponses(const std::vector<Response>& responses, int64_t now_ms);
  // The program ends: gets the verdicts on what was thrown, then gives up the seat. The shell goes
  // on with HandleResponses, Tick and PopOutbox until HasLeft, which takes kLeaveMsMax at most.
  // What the relay has not answered by then is in the state to save, and is asked at the next
  // start.
  void Leave();
  bool HasLeft() const { return leaving_ == Leaving::kDone; }

  // -- What the desktop tells the shell.
  // Moves on to `now_ms` of a monotonic clock. Valid until the next call.
  const Scene& Tick(int64_t now_ms);
  Outbox PopOutbox();
  // Of the last tick.
  const Scene& scene() const { return scene_; }

  const WallClock& clock() const { return context_.clock; }
  const Settings& settings() const { return context_.settings; }
  Language language() const { return context_.language(); }
  bool is_paused() const { return context_.is_paused; }
  bool is_hidden() const { return context_.is_hidden; }
  bool has_hide_key() const { return has_hide_key_; }
  // Whether toasts and sounds are off now: hidden, while presenting, or while a program covers a
  // monitor.
  bool IsQuiet() const { return context_.IsQuiet(); }
  // The time of the last tick.
  int64_t now_ms() const { return context_.now_ms; }

 private:
  // -- The relay.
  void ForgetRelayState();
  JoinOptions JoinOptionsNow() const;
  // Sends a request that is about the seat itself, or about the one before.
  void SendForSeat(std::optional<Request> request) {
    context_.Send(std::move(request), Until::kAnswered,
                  [this](const Response& response) { HandleSeatResponse(response); });
  }
  void HandleSeatResponse(const Response& response);
  void SendDueRequests();
  void SendPollerRequest();
  void RetryAfterNetworkChange(int64_t passed_ms);
  void HandleNews(const News& news);
  void HandleBatch(const Batch& batch);
  void Meet(const Neighbours& neighbours);
  void HandleSwap(const SwapEvent& event);
  void ShowSwap(const Swaps::Result& result);
  void CountUnanswered(const Response& response);
  void HandleInvitationEnded();
  void FetchFromGallery(const RelayLink& link);
  void HandleGalleryFetch(const RelayLink& link, const SheetPointer& sheet);

  // -- The end of a seat, and of the program (desktop_leaving.cc).
  enum class Leaving : uint8_t {
    kNot,
    kAsking,  // for the verdicts on what was thrown
    kGoing,   // the seat is given up
    kDone,
  };
  void Rejoin();
  void GoOnLeaving();
  void EndFormerSeat();
  std::optional<News> HandleEnding(const Response& response, Poller* poller, RequestId* leave);
  bool HandleFormer(const Response& response);

  void Draw();
  double IdleMs() const;

  std::string StateToSave(bool with_seat) const;
  void SaveIfDue();

  Context context_;
  Simulation simulation_;
  SpriteLook look_{&context_, &simulation_};
  Guests guests_{&context_, &simulation_};
  Crowd crowd_{&context_, &simulation_, &look_, &guests_};
  Traffic traffic_{&context_, &simulation_, &look_, &crowd_, &guests_};
  Talk talk_{&context_, &simulation_, &crowd_, &guests_};
  Company company_;
  Swaps swaps_;
  Peeking peeking_{&context_, &simulation_, &look_, &guests_, &traffic_};
  Updates updates_{&context_};
  size_t gallery_fetches_ = 0;  // under way
  InvitedTo invited_;           // by the last invitation that the relay accepted
  size_t first_kind_ = 0;       // of the requests: it is served first when the budget is short
  int64_t stage_poll_ms_ = 0;   // when the next poll after a batch with a wanted stage may be sent
  Scene scene_;
  std::optional<int64_t> network_retry_ms_;  // when to ask the relay again
  bool has_hide_key_ = false;
  bool expects_friend_ = false;
  Leaving leaving_ = Leaving::kNot;
  int64_t leaving_ms_ = 0;       // when that step began
  RequestId leave_request_ = 0;  // of Poller::LeaveRequest, at the end of the program
  // The seat before, while it is in doubt whether its relay has passed on the last batch.
  struct FormerSeat {
    Poller poller;
    RequestId leave_request;
    int64_t since_ms;
  };
  std::optional<FormerSeat> former_;  // until it is told, or for kFarewellMsMax; joins wait for it
  bool resumes_polling_ = false;      // once the last batch is saved
  std::string saved_;                 // the state saved last
  std::string saved_cursor_;          // the cursor in it
  int64_t saved_ms_ = 0;
  double simulation_ms_ = 0;  // the simulation's clock: it stops while paused
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_DESKTOP_H_
