// One running desktop: a world, its seat at the relay, and the pictures of everybody in it.
//
// A function of what the shell tells it and the time. Invariant: a sprite is in the world, on its
// way out, waiting for room, or with the relay; what this desktop is answerable for is handed out
// to be kept before the relay is told so. Threads: all calls on one. Cost: a tick is the world's
// steps and one DrawnSprite a sprite.
#ifndef CLIENT_WIN_CORE_DESKTOP_H_
#define CLIENT_WIN_CORE_DESKTOP_H_

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/motion/world.h"
#include "core/relay/crossing.h"
#include "core/relay/poller.h"
#include "core/seams.h"
#include "core/settings.h"

namespace sprites {

constexpr size_t kWaitingMax =
    64;  // sprites without room; beyond it the relay is asked for no more
constexpr size_t kOnTheWayMax = 64;  // sprites the relay has not decided about; then edges bounce
// sprites without room at the most: a batch on top, and all those who were to be passed on
constexpr size_t kWaitingMost = 2 * kWaitingMax + kOnTheWayMax;
constexpr size_t kDecodedPixelsMax = 50'331'648;  // pixels of all sheets: three of the largest
constexpr int64_t kKeepMs = 10'000;               // between two writings of where everybody is
constexpr size_t kLooksMax = 512;  // pictures known at once: more than sprites and who waits
constexpr size_t kFetchesMax = 4;  // files on their way here at once
constexpr size_t kMetMax = 1024;   // neighbours remembered
constexpr size_t kAtRelayMax =
    1024;  // files known to be there; one forgotten is asked about once more
constexpr int64_t kToastMsMin = 4'000;       // between two toasts of a kind: a flood is one
constexpr size_t kKeptBytesMax = 1'048'576;  // bytes of what is kept
constexpr double kIdleMsMax = 250;           // the longest a shell may sleep between two ticks

// Keys as the core knows them.
enum class Key : uint8_t { kLeft, kRight, kUp, kDown, kSpace };

class Desktop {
 public:
  Desktop(const Settings& settings, Random random);

  // Goes on from what was kept. Before anything else; whatever is wrong with it is left out.
  // `reseat`: its seat may still be ours (the program ended less than a lease ago).
  void Restore(std::string_view kept, bool reseat);

  // -- What the shell says. It happens at the time of the last tick: after a pause, tick first.
  void SetSettings(const Settings& settings);
  void SetMonitors(std::span<const Monitor> monitors);
  void SetWindows(std::span<const WindowArea> front_to_back);
  // A character that comes with the program, or was dropped here: it goes onto the shelf.
  void AddToShelf(const SheetPointer& sheet);
  // Lets one of the shelf fall in, at a point or anywhere; kNobody, and a toast, when it is full.
  SpriteId DropIn(const std::string& file, std::optional<Point> place);
  // Puts one away that is from the shelf; others stay, for they belong to somebody.
  bool PutAway(SpriteId id);
  void Grab(SpriteId id, Point point, double ms);
  void Drag(Point point, double ms);
  void Release(double ms);
  void Select(SpriteId id);  // kNobody: none
  void Press(Key key, bool is_down);
  void ThrowTo(SpriteId id, Edge edge);
  void Pause(bool is_paused);
  void Mute(const Neighbour& neighbour, bool is_muted);
  void NetworkIsBack();  // or the machine woke up
  void Answered(const Answer& answer);
  // The program ends: says good-bye to the relay. What is kept is in the outbox.
  void Leave();

  // -- What the core says.
  // Moves on to `now_ms` of a clock that never goes back.
  const Scene& Tick(int64_t now_ms);
  Outbox TakeOutbox();

  const World& world() const { return world_; }
  const Settings& settings() const { return settings_; }
  Link link() const { return poller_.link(); }
  const std::optional<Seat>& seat() const { return poller_.seat(); }
  const std::optional<Neighbours>& neighbours() const { return neighbours_; }
  SpriteId selected() const { return selected_; }
  bool is_paused() const { return paused_; }
  const std::vector<SheetPointer>& shelf() const { return shelf_; }
  size_t on_the_way() const { return departures_.leaving().size(); }
  size_t waiting() const { return waiting_.size(); }

 private:
  enum class Coming : uint8_t { kWanted, kAsked, kHere, kMissing };
  // What is known of a picture.
  struct Look {
    SheetPointer sheet;  // null unless it is here
    Coming coming = Coming::kWanted;
    uint64_t used = 0;  // the tick it was last worn in
  };

  void Sit(bool anew);
  JoinWish Wish() const;
  void TakeNews(const News& news);
  void TakeBatch(const Batch& batch);
  void TakeVerdict(const Verdict& verdict);
  void TakeInAfterAll(const Departure& departure);
  void TakeFile(const Answer& answer, const std::string& file);
  void RememberAtRelay(const std::string& file);
  void TakeUpload(const Answer& answer, const std::string& file);
  SpriteId Admit(const Arrival& arrival);
  void TakeAwayLastBatch();
  void PassOn(const Arrival& arrival);
  void LetWaitingIn();
  bool MakeRoom();
  bool IsWayFull() const { return departures_.leaving().size() >= kOnTheWayMax; }
  // Null when a throw may go out.
  const char* WhyNobodyLeaves() const;
  void LeaveOver(const Departure& departure);
  void ComeBack(const Departure& departure, const std::string& why);
  void SeatIsGone();

  bool MayShow(const std::string& file) const;
  bool IsMuted(const Neighbour& neighbour) const;
  bool IsOnShelf(const std::string& file) const;
  const SheetPointer& SheetOf(const std::string& file);
  void AskForFiles();
  void AskForUpload(const std::string& file);
  bool ForgetSheets(size_t pixels);
  Nature NatureFor(const std::string& file, double scale);
  void Reshape(const std::string& file);

  void AskWhatIsDue();
  void KeepIfDue();
  void Draw();
  DrawnSprite Drawn(const Sprite& sprite);
  double IdleMs() const;
  void Say(ToastKind kind, const std::string& title, const std::string& text);
  void ApplyScreen();
  void ApplyWindows();
  std::string Kept() const;

  Settings settings_;
  Random random_;
  World world_;
  Poller poller_;
  Departures departures_;
  Scene scene_;
  Outbox outbox_;
  std::vector<Monitor> monitors_;
  std::vector<WindowArea> windows_;
  std::vector<bool> covered_;
  std::vector<SheetPointer> shelf_;
  std::unordered_map<std::string, Look> looks_;
  std::map<RequestId, std::string> fetches_;              // files on their way here
  std::map<RequestId, std::string> uploads_;              // files on their way to the relay
  std::map<std::string, std::vector<Departure>> unsent_;  // who waits for the upload of a file
  std::set<std::string> at_relay_;                        // files the relay has
  std::deque<Arrival> waiting_;                           // acknowledged, but without room yet
  std::vector<SpriteId> last_batch_;                      // who came in by it
  uint64_t last_batch_seq_ = 1;                           // of its first event
  std::set<std::string> met_;                             // neighbours somebody came from
  std::optional<Neighbours> neighbours_;
  std::array<int64_t, 3> said_ms_{};  // when a toast of each kind was last shown
  RequestId next_request_ = 1;
  SpriteId selected_ = kNobody;
  uint64_t seq_ = 0;  // of the newest event that was taken in; 0: none since the epoch began
  bool paused_ = false;
  bool left_ = false;
  bool keep_now_ = false;
  bool resume_ = false;  // the poller may go on once what it brought is kept
  int64_t now_ms_ = 0;
  int64_t kept_ms_ = 0;
  double world_ms_ = 0;        // the world's clock: it stands still while paused
  double drawn_world_ms_ = 0;  // its time of the last scene
  uint64_t ticks_ = 0;
  std::string kept_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_H_
