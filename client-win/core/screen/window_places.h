// Remembers the positions of other programs' windows for each layout of the monitors, and says
// which windows to put back when a layout that was lost (to a full-screen program, or by unplugging
// a cable) comes back, and at once those on monitors that the change has only moved: while a game
// runs on one monitor, the windows of the others are where they were.
//
// A function of what it is shown and the time. A position counts once a window has kept it for
// kHeldMs. Nothing is learnt while a full-screen program is in front, or before a layout has
// settled. No window goes back to a monitor that a full-screen program covers. A window that moves
// while another layout is active was moved by its user, and keeps its new position. A window that
// has been maximised or restored meanwhile is left alone. A minimised window stays minimised, but
// will come up in its old position. Memory: kLayoutsMax × kPlacesMax positions. Cost: O(windows) a
// call.
#ifndef CLIENT_WIN_CORE_SCREEN_WINDOW_PLACES_H_
#define CLIENT_WIN_CORE_SCREEN_WINDOW_PLACES_H_

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/screen/geometry.h"

namespace sprites {

constexpr int64_t kLayoutSettleMs =
    2'000;                            // until Windows and slow programs have moved their windows
constexpr int64_t kHeldMs = 1'000;    // longer than the pauses of a window that is being dragged
constexpr size_t kLayoutsMax = 8;     // layouts: more docks and screens than people use
constexpr size_t kPlacesMax = 1'024;  // windows of a layout: more than people open
constexpr int kPutBackTries = 2;      // the second fixes the size if the first changed the scale

enum class WindowState : uint8_t { kNormal, kMinimised, kMaximised };

// A top-level window of another program.
struct OpenWindow {
  uint64_t id = 0;     // chosen by the shell; a window keeps it
  uint64_t owner = 0;  // its process: the same id with another owner is another window
  WindowState state = WindowState::kNormal;
  Rect shown;   // px: where it is on the screen; meaningless while it is minimised
  Rect normal;  // where it is when neither minimised nor maximised, in the shell's own units

  bool operator==(const OpenWindow&) const = default;
};

// A window to put back: a normal one to `shown`, a minimised one to `normal`, and a maximised one
// to the monitor of `shown`.
struct PutBack {
  uint64_t id = 0;
  WindowState state = WindowState::kNormal;  // as it is, and stays
  Rect shown;                                // empty when only `normal` is known
  Rect normal;

  bool operator==(const PutBack&) const = default;
};

class WindowPlaces {
 public:
  // There are these monitors now. Call it as soon as they have changed: a layout that is never seen
  // can't be told from its user having moved the windows.
  void SeeMonitors(std::span<const Monitor> monitors, int64_t now_ms);
  // Call it a few times a second with the monitors and windows of one moment. `covered`: the bounds
  // of the monitors that a full-screen program covers. Returns the windows to put back now, usually
  // none.
  std::vector<PutBack> Update(std::span<const Monitor> monitors,
                              std::span<const OpenWindow> windows, std::span<const Rect> covered,
                              int64_t now_ms);

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
  // A window in the present layout.
  struct Watched {
    OpenWindow now;
    OpenWindow held;  // its last position that it kept for kHeldMs
    bool is_held = false;
    int64_t since_ms = 0;  // when it came to where it is
    int tries = 0;         // how often it was put back without having arrived yet
    int64_t tried_ms = 0;
  };

  void EnterLayout(Shape shape, int64_t now_ms);
  bool KeepSteadyPlaces(const Layout& before);
  void Watch(std::span<const OpenWindow> windows, int64_t now_ms);
  void Hold(Watched* watched);
  std::vector<PutBack> PutAllBack(std::span<const Rect> covered, int64_t now_ms);
  std::vector<PutBack> Retry(std::span<const Rect> covered, int64_t now_ms);
  void Learn();
  Layout& Present() { return layouts_.back(); }

  std::vector<Layout> layouts_;  // the present one last, the longest unseen first
  std::unordered_map<uint64_t, Watched> watched_;
  int64_t entered_ms_ = 0;
  bool is_settled_ = false;
  bool puts_all_back_ = false;  // the layout has changed, and its windows have not been put back
  // The monitors whose windows were not put back, because a full-screen program covered them.
  std::vector<Rect> left_out_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCREEN_WINDOW_PLACES_H_
