// Where the windows of other programs belong, for each layout of the monitors; and which of them
// to put back once a layout is here again that a full-screen program, or a cable, took away.
//
// A function of what it is shown and the time. Rules: a place counts once it was kept for kHeldMs;
// nothing is learnt while a full-screen program is in front, nor before a layout has settled. Who
// is moved while another layout is here was moved by its user, and stays where it is then. Who is
// maximised or not, other than it was, is left alone too; who is minimised stays so, but will come
// up in its old place. Memory: kLayoutsMax × kPlacesMax places. Cost: O(windows) a look.
#ifndef CLIENT_WIN_CORE_SCREEN_WINDOW_PLACES_H_
#define CLIENT_WIN_CORE_SCREEN_WINDOW_PLACES_H_

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/screen/geometry.h"

namespace sprites {

constexpr int64_t kLayoutSettleMs = 2'000;  // until Windows and slow programs have moved theirs
constexpr int64_t kHeldMs = 1'000;          // a window that is dragged pauses for less
constexpr size_t kLayoutsMax = 8;           // layouts of monitors: docks and screens of usual days
constexpr size_t kPlacesMax = 1'024;        // windows a layout: more than anybody has
constexpr int kPutBackTries = 2;  // the second sets its size too, where the first changed its scale

enum class Standing : uint8_t { kNormal, kMinimised, kMaximised };

// A top-level window of another program.
struct OpenWindow {
  uint64_t id = 0;     // of the shell's choosing; the same window keeps it
  uint64_t owner = 0;  // its process: an id that comes again with another one is another window
  Standing standing = Standing::kNormal;
  Rect shown;   // px: where it is on the screen; means nothing when it is minimised
  Rect normal;  // where it is when it is neither minimised nor maximised; in the shell's own units

  bool operator==(const OpenWindow&) const = default;
};

// A window to put back: to `shown` when it stands normally, to `normal` when it is minimised, and
// when it is maximised so that it is on the monitor of `shown` again.
struct PutBack {
  uint64_t id = 0;
  Standing standing = Standing::kNormal;  // as it is and shall stay
  Rect shown;                             // empty when only `normal` is known
  Rect normal;

  bool operator==(const PutBack&) const = default;
};

class WindowPlaces {
 public:
  // A look at monitors and windows of the same moment, a few times a second; `is_full_screen`: a
  // program in front covers a monitor. Who is to be put back now, usually nobody.
  std::vector<PutBack> Look(std::span<const Monitor> monitors, std::span<const OpenWindow> windows,
                            bool is_full_screen, int64_t now_ms);

 private:
  struct MonitorShape {
    Rect bounds;
    double scale;

    bool operator==(const MonitorShape&) const = default;
  };
  using Shape = std::vector<MonitorShape>;
  using Places = std::unordered_map<uint64_t, OpenWindow>;
  struct Layout {
    Shape shape;
    Places places;
  };
  // A window in the layout that is here.
  struct Watched {
    OpenWindow now;
    OpenWindow held;  // where it was for kHeldMs, last
    bool is_held = false;
    int64_t since_ms = 0;  // it has been where it is
    int tries = 0;         // it was put back so many times, and we wait for it to be there
    int64_t tried_ms = 0;
  };

  void Arrive(Shape shape, int64_t now_ms);
  void Watch(std::span<const OpenWindow> windows, int64_t now_ms);
  void Hold(Watched* watched);
  std::vector<PutBack> PutAllBack(int64_t now_ms);
  std::vector<PutBack> TryAgain(int64_t now_ms);
  void Learn();
  Layout& Here() { return layouts_.back(); }

  std::vector<Layout> layouts_;  // the one that is here last, the longest unseen first
  std::unordered_map<uint64_t, Watched> watched_;
  int64_t arrived_ms_ = 0;
  bool is_settled_ = false;
  bool owes_ = false;  // who was here before has yet to be put back
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCREEN_WINDOW_PLACES_H_
