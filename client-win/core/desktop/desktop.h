// One running desktop: a simulation of its sprites, its seat at the relay, and the pictures of all
// sprites in it.
//
// A function of its state, what the shell reports, and the time. Invariant: a sprite is in the
// simulation, or waits for room, or waits for its upload or the relay's verdict, or is the relay's.
// The outbox holds the state to save before any request that makes this desktop answerable for it.
// Threads: all calls on one. Cost: a tick is the simulation's steps and one DrawnSprite a sprite.
#ifndef CLIENT_WIN_CORE_DESKTOP_DESKTOP_H_
#define CLIENT_WIN_CORE_DESKTOP_DESKTOP_H_

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/desktop/conversation.h"
#include "core/desktop/files/saved_state.h"
#include "core/desktop/files/settings.h"
#include "core/desktop/files/sheet_cache.h"
#include "core/desktop/outbox.h"
#include "core/desktop/silhouettes.h"
#include "core/desktop/toasts.h"
#include "core/motion/simulation.h"
#include "core/relay/arrivals.h"
#include "core/relay/departures.h"
#include "core/relay/gallery_fetches.h"
#include "core/relay/moderation.h"
#include "core/relay/poller.h"
#include "core/relay/relay_link.h"
#include "core/relay/release.h"
#include "core/relay/request_budget.h"
#include "core/relay/sayings.h"
#include "core/relay/stages/peek.h"
#include "core/relay/stages/stage_posts.h"
#include "core/relay/stages/stage_switch.h"
#include "core/relay/uploads.h"
#include "core/scene/dust.h"
#include "core/scene/own_sheets.h"
#include "core/scene/pane.h"
#include "core/scene/scene.h"
#include "core/screen/peek_gesture.h"
#include "core/text/texts.h"

namespace sprites {

constexpr int64_t kSaveMs = 10'000;         // between two saves of where the sprites are
constexpr int64_t kUpdateFirstMs = 60'000;  // from a join to the first question for a newer version
constexpr int64_t kUpdateMs = 86'400'000;   // between two questions for a newer version: a day
constexpr int kUnreachableFailures = 2;     // after so many failures in a row, a bubble says so
constexpr int64_t kKeysHintMs = 10'000;     // the bubble says what the keys do; then only the name
constexpr double kIdleMsMax = 250;          // the longest a shell may sleep between two ticks
constexpr double kUnseenIdleMs = 100;       // between two ticks while no sprite can be seen
constexpr int64_t kNetworkMs = 1'000;       // from a change of the network until the relay is asked
constexpr int64_t kSleptMs = 20'000;  // between two ticks: the machine slept, and connections died
// How long the end of the program waits for verdicts on what was thrown: three tries, or a relay
// that first asks another one. After that the question is saved, and asked at the next start.
constexpr int64_t kVerdictsMsMax = 2'000;
constexpr int64_t kFarewellMsMax = 2'000;  // then, for the responses to giving up the seat
// Of both. Windows ends a program that takes 5 s.
constexpr int64_t kLeaveMsMax = kVerdictsMsMax + kFarewellMsMax;

// Keys as the core knows them.
enum class Key : uint8_t { kLeft, kRight, kUp, kDown, kSpace };

// What the person is doing, as the system tells it.
enum class Presence : uint8_t {
  kFree,
  kBusy,        // a full-screen program runs, or the screen is locked: no sounds, no toasts
  kPresenting,  // others look at the screen: the sprites are hidden too
};

// Where the person finds the menu of the program; some texts name the place.
enum class MenuPlace : uint8_t {
  kTray,    // the icon by the clock
  kSprite,  // a right click on any sprite
};

// What became of the line that the person wants to say.
struct Speech {
  bool is_pending = false;  // the relay has not answered
  std::string unsaid;       // the line, while it is not accepted
  std::string note;         // a sentence about the last line; empty for none
  uint64_t accepted = 0;    // lines, since the program started

  // Whether `note` says why the line was not accepted.
  bool IsRefused() const { return !unsaid.empty() && !is_pending; }
  bool operator==(const Speech&) const = default;
};

class Desktop {
 public:
  Desktop(const Settings& settings, Random random);

  // Continues from a saved state; call it before any tick. What is wrong in it is left out.
  // `may_reuse_seat`: the seat may still be this desktop's, because the program ended less than a
  // lease ago.
  void Restore(std::string_view saved_state, bool may_reuse_seat);

  // -- What the shell reports. It happens at the time of the last tick: after a pause, tick first.
  void SetSettings(const Settings& settings);
  void SetMonitors(std::span<const Monitor> monitors);
  void SetWindows(std::span<const WindowArea> front_to_back);
  // Adds a character that comes with the program, or that was dropped here.
  void AddToShelf(const SheetPointer& sheet);
  // Lets a character of the shelf fall in at `place`, or at a random one. Returns kNobody, and
  // shows a toast, when the desktop is full.
  SpriteId DropIn(const std::string& file, std::optional<Point> place);
  // Removes a sprite that came from the shelf. False for any other: it belongs to somebody else.
  bool PutAway(SpriteId id);
  void Grab(SpriteId id, Point point, double ms);
  void Drag(Point point, double ms);
  void Release(double ms);
  // The pointer has moved since the last tick, and holds no sprite.
  void MovePointer(Point point) { simulation_.MovePointer(point); }
  // The local time in hours, 0 … 24: sprites are tired in the evening.
  void SetHour(double hour) { simulation_.SetHour(hour); }
  void Select(SpriteId id);  // kNobody for none
  // Likewise, by a menu or a key: a bubble says which sprite it is, and what the keys do.
  void SelectByKeys(SpriteId id);
  void DismissKeysHint() { keys_hint_ms_.reset(); }
  // The sprite after selected(), or the one before it, in the order in which they came. The first
  // one follows the last one. Sprites that can't be seen are skipped. kNobody when there is none.
  SpriteId NextSprite(bool is_backwards) const;
  // Steers the selected sprite; an arrow `with_control` throws it over that edge.
  void Press(Key key, bool is_down, bool with_control = false);
  void ThrowTo(SpriteId id, Edge edge);
  void Pause(bool is_paused);
  // The machine saves power: sprites do not wander, and half of the frames are enough.
  void SetSavingPower(bool is_saving);
  // The person has told the system that things should move less: sprites do not wander.
  void SetReducedMotion(bool is_reduced);
  // Whether the program shows what lies on the ground, Scene::ground. At first it does not, and
  // nothing is computed for it.
  void SetGroundShown(bool is_shown);
  // Draws a picture as a parcel from now on, after each start too, or shows it again.
  void HidePicture(const std::string& file, bool is_hidden);
  bool IsHidden(const std::string& file) const;
  // Tells the operator of the relay about a picture. A toast says what came of it.
  void ReportPicture(const PictureReport& report);
  void Mute(const Neighbour& neighbour, bool is_muted);
  // Says a line to those around; speech() tells what becomes of it. Nothing happens while one is
  // pending.
  void Speak(const std::string& text);
  // Clears the note about a line that was accepted: the person opens the window to type another.
  void ClearSpeechNote();
  // The pointer is here at `now_ms`, before the next tick; call it several times a second.
  // `is_busy`: one of its buttons is down.
  void SetPointer(Point point, bool is_busy, int64_t now_ms);
  // Looks over this edge until the next choice; without an edge, stops looking.
  void PeekOver(std::optional<Edge> edge);
  // Allows or forbids neighbours who peek to see the sprites here.
  void ShowStageToNeighbours(bool is_shown);
  // Goes where the link leads: settings() change, and the outbox asks to save them. A link to a
  // picture of a gallery fetches that, and leads to its relay only if no relay is chosen yet. The
  // picture falls in as a sprite of the shelf, and is kept; a notice says so if it does not come.
  void Open(const RelayLink& link);
  void SetPresence(Presence presence) { presence_ = presence; }
  // The language of the system; the settings may name another one.
  void SetSystemLanguage(Language language) { system_language_ = language; }
  // kTray at first.
  void SetMenuPlace(MenuPlace place) { menu_place_ = place; }
  // The first sprite has said hello.
  void MarkGreeted();
  // Whether to ask the relay once a day for a newer version of this program; it does at first.
  void SetAsksForUpdates(bool asks) { asks_for_updates_ = asks; }
  // Asks the relay for a newer version of this program, because the person wants to know.
  void CheckForUpdate();
  // Downloads update(). REQUIRES: update().
  void FetchUpdate();
  // A text for the person, from the shell.
  void ShowNotice(const std::string& title, const std::string& text);
  // The network has changed, or the machine woke up. A second later, when it has settled, the poll
  // is ended and asked again.
  void NetworkIsBack();
  void HandleResponse(const Response& response);
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

  const Simulation& simulation() const { return simulation_; }
  const Settings& settings() const { return settings_; }
  Link link() const { return poller_.link(); }
  const std::optional<Seat>& seat() const { return poller_.seat(); }
  const std::optional<Neighbours>& neighbours() const { return neighbours_; }
  // The link that seats a friend beside this desktop; empty while there is none.
  std::string InvitationLink() const;
  // Whether the link leads to another relay than that of the settings. One to a picture does not.
  bool LeadsAway(const RelayLink& link) const;
  // Who sent a sprite; null for an own one, or if it came before the program started.
  const Neighbour* SenderOf(SpriteId id) const;
  // A report of a sprite's picture, still without a reason.
  PictureReport ReportOf(const Sprite& sprite) const;
  const Speech& speech() const { return speech_; }
  const Conversation& conversation() const { return conversation_; }
  bool IsMuted(const Neighbour& neighbour) const;
  // Whether the relay knows peeks, as far as is known.
  bool CanPeek() const;
  // The other desktop beyond an edge; null when there is none, or the relay is not connected.
  const Neighbour* NeighbourBeyond(Edge edge) const;
  // The edge that was chosen with PeekOver.
  std::optional<Edge> chosen_peek() const { return gesture_.chosen(); }
  // The edge that the person looks over now.
  std::optional<Edge> peek() const { return peek_.wanted(); }
  // Whether neighbours who peek see the sprites here.
  bool IsStageShown() const;
  // The edges through which somebody watches this desktop.
  const std::vector<Edge>& watched() const { return stage_posts_.edges(); }
  // The time of the last tick.
  int64_t now_ms() const { return now_ms_; }
  // Whether the relay has not answered for some time.
  bool IsUnreachable() const { return unanswered_ >= kUnreachableFailures; }
  // Whether the only neighbour is this desktop itself.
  bool IsAlone() const;
  Language language() const;
  MenuPlace menu_place() const { return menu_place_; }
  // The problem code of the last refused join; empty once a join was granted.
  const std::string& refusal() const { return join_refused_; }
  // The newest version that the relay offers, if it is later than this one.
  const std::optional<ProgramRelease>& update() const { return update_; }
  SpriteId selected() const { return selected_; }
  // What a bubble at the selected sprite says; empty if it was not selected by keys.
  std::string KeysHint() const;
  bool is_paused() const { return is_paused_; }
  bool is_saving_power() const { return is_saving_power_; }
  // Whether toasts and sounds are off now: while presenting, or while a program covers a monitor.
  bool IsQuiet() const;
  const std::vector<SheetPointer>& shelf() const { return sheets_.shelf(); }
  // Sprites that the relay has not decided about, and sprites without room.
  size_t on_the_way() const { return departures_.pending().size(); }
  size_t waiting() const { return arrivals_.waiting().size(); }

 private:
  // -- The relay.
  void ForgetRelayState();
  JoinOptions JoinOptionsNow() const;
  void SendDueRequests();
  void SendPollerRequest();
  const Seat* ConnectedSeat() const;
  void SendDepartures();
  void FetchSheets();
  void AskForUpdate();
  void SendMutes();
  void RetryAfterNetworkChange(int64_t passed_ms);
  void HandleNews(const News& news);
  void HandleBatch(const Batch& batch);
  void HandleVerdict(const Verdict& verdict);
  void HandleUpload(const Uploads::Result& result);
  void CountUnanswered(const Response& response);
  bool HandleUpdate(const Response& response);
  void HandleInvitationEnded();
  void FetchFromGallery(const RelayLink& link);
  void HandleGalleryFetch(const GalleryFetches::Result& result);

  // -- The end of a seat, and of the program (desktop_leaving.cc).
  enum class Leaving : uint8_t {
    kNot,
    kAsking,  // for the verdicts on what was thrown
    kGoing,   // the seat is given up
    kDone,
  };
  void Rejoin();
  void BounceUploads();
  void RemoveSprites(const std::vector<SpriteId>& ids);
  void TakeBack(const News& news);
  void GoOnLeaving();
  void EndFormerSeat();
  std::optional<News> HandleEnding(const Response& response, Poller* poller, RequestId* leave);
  bool HandleFormer(const Response& response);
  void HandleResponseLeaving(const Response& response);

  // -- What is said (desktop_sayings.cc).
  void SendSaying();
  void HandleSayings(const Batch& batch);
  void HandleSayingVerdict(const SayingVerdict& verdict);
  void GiveUpSaying();
  const Sprite* SpeakingSprite(const HeardBubble& bubble) const;
  std::optional<Edge> SpeakersEdge(const HeardBubble& bubble) const;
  void DrawBubbles();

  // -- Peeking, both ways (desktop_peeking.cc).
  void UpdatePeek();
  void SendPeeking();
  std::optional<bool> ChosenStage() const;
  void HandleStages(const Batch& batch);
  bool HandlePeekingResponse(const Response& response);
  void ForgetPeeking();
  void DrawBeyond();
  std::optional<DrawnSprite> DrawSilhouette(const Silhouette& silhouette, Edge edge);
  int64_t NextPeekingMs() const;

  // -- Sprites that come and go.
  bool IsFull() const;
  bool MakeRoom();
  void RemovePicture(const std::string& file);
  void Admit(const Arrival& arrival);
  void AdmitWaiting();
  std::optional<Text> WhyEdgesBounce() const;
  void Depart(const Departure& departure);
  void BounceBack(const Departure& departure, const std::string& why);

  // -- What they look like.
  bool ShowsOthers() const;
  void UpdateAllNatures();
  Nature NatureFor(const std::string& file, double scale);
  void UpdateNatures(const std::string& file);
  bool IsCalm() const { return settings_.calm || is_saving_power_ || is_motion_reduced_; }
  void ApplyCalm();
  void ApplyScreen();
  void ApplyWindows();
  void DrawScene();
  bool IsVisible(const Sprite& sprite) const;
  void DrawShadowOf(const Sprite& sprite, std::vector<DrawnSprite>* ground);
  void RaiseDust(const Sprite& sprite, double reach);
  double IdleMs() const;

  std::string StateToSave(bool with_seat) const;
  void SaveIfDue();
  std::string Said(Text text, std::initializer_list<std::string_view> values = {}) const;

  Settings settings_;
  Random random_;
  Simulation simulation_;
  Poller poller_;
  Arrivals arrivals_;
  Departures departures_;
  Uploads uploads_;
  Moderation moderation_;
  GalleryFetches gallery_fetches_;
  Sayings sayings_;
  Speech speech_;
  Conversation conversation_;
  PeekGesture gesture_;
  Peek peek_;
  Silhouettes silhouettes_;
  StagePosts stage_posts_;
  StageSwitch stage_switch_;
  std::vector<Pane> panes_;     // along the edge that was last looked over
  bool follows_stage_ = false;  // the last batch had a stage that this desktop asked for
  int64_t stage_poll_ms_ = 0;   // when the next poll after such a batch may be sent
  SheetCache sheets_;
  Toasts toasts_;
  OwnSheets shadows_;
  Dust dust_;
  bool is_ground_shown_ = false;
  Scene scene_;
  Outbox outbox_;
  std::optional<Neighbours> neighbours_;
  InvitedTo invited_;  // by the last invitation that the relay accepted
  std::vector<Monitor> monitors_;
  std::vector<WindowArea> windows_;
  std::vector<bool> covered_;  // by index of monitor: a full-screen program covers it
  std::map<SpriteId, Neighbour> senders_;
  std::optional<ProgramRelease> update_;
  RequestId update_request_ = 0;        // of ReleaseRequest
  RequestId installer_request_ = 0;     // of InstallerRequest
  int64_t update_ms_ = kUpdateFirstMs;  // when the next question is due
  bool asks_for_updates_ = true;
  bool is_update_asked_ = false;  // by the person
  int unanswered_ = 0;            // requests of the poller in a row
  Presence presence_ = Presence::kFree;
  Language system_language_ = Language::kEnglish;
  MenuPlace menu_place_ = MenuPlace::kTray;
  RequestBudget budget_;
  size_t first_kind_ = 0;  // of the requests: it is served first when the budget is short
  RequestId next_request_ = 1;
  std::optional<int64_t> network_retry_ms_;  // when to ask the relay again
  std::string join_refused_;                 // the code of the last refusal that was shown
  SpriteId selected_ = kNobody;
  std::optional<int64_t> keys_hint_ms_;  // when a sprite was selected by keys
  bool is_paused_ = false;
  bool is_saving_power_ = false;
  bool is_motion_reduced_ = false;
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
  bool saves_now_ = false;
  std::string saved_;         // the state saved last
  std::string saved_cursor_;  // the cursor in it
  int64_t saved_ms_ = 0;
  int64_t now_ms_ = 0;
  double simulation_ms_ = 0;  // the simulation's clock: it stops while paused
  double drawn_ms_ = 0;       // the simulation's time of the last scene
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_DESKTOP_H_
