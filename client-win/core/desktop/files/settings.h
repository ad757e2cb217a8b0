// What the person has chosen, and its form as a JSON file.
//
// Invariant: every value is within its limits, whatever the file says. A file that can't be read
// gives the defaults. Fields that this version does not know are kept when the file is written
// again. Cost: O(file) ≤ kSettingsBytesMax.
#ifndef CLIENT_WIN_CORE_DESKTOP_FILES_SETTINGS_H_
#define CLIENT_WIN_CORE_DESKTOP_FILES_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/relay/batch.h"
#include "core/scene/scene.h"
#include "core/text/refused.h"

namespace sprites {

// Whose pictures are shown. A sprite with another picture is shown as a parcel; none is kept out.
enum class Accept : uint8_t {
  kBundled,  // those that come with the program, and the person's own
  kFriends,  // in a private world everybody's, in the default world as kBundled
  kEverybody,
};

constexpr size_t kSettingsBytesMax = 131'072;  // bytes of the file
constexpr int kSpriteLimitMin = 1;
constexpr int kSpriteLimitDefault = 150;  // sprites: a tick of the core takes 0.1 ms with as many
constexpr int kSpriteLimitMax =
    300;  // sprites: below the number of windows that still move smoothly
constexpr double kUserScaleMin = 0.5;
constexpr double kUserScaleMax = 4;
constexpr int kOpacityMin = 30;     // percent: one that is hardly seen would still take clicks
constexpr size_t kMutedMax = 256;   // desktops: above it, those muted first are heard again
constexpr size_t kHiddenMax = 512;  // pictures: above it, those hidden first are shown again
constexpr int kVolumeMin = 0;       // percent: silent
constexpr int kVolumeDefault = 50;
constexpr int kVolumeMax = 100;
constexpr int kCacheMiBMin = 1;
constexpr int kCacheMiBDefault = 64;
constexpr int kCacheMiBMax = 4096;
constexpr char kRelayDefault[] = "http://localhost:8080";  // of a relay on this machine

// Whether neighbours who peek see the sprites here.
enum class ShowStage : uint8_t {
  kAsWorld,  // in a private world yes, in the default world no
  kShow,     // in this world; in another one as that world says
  kHide,
};

// The language of the texts.
enum class LanguageChoice : uint8_t { kSystem, kEnglish, kGerman };

struct Settings {
  std::string relay;  // empty until the person has chosen one
  std::string name;
  std::string world;   // empty for the default world
  std::string beside;  // the invitation of a friend to join next to
  Accept accept = Accept::kEverybody;
  double scale = 1;           // of all sprites, on top of the monitor's
  int opacity = kOpacityMax;  // percent, of all sprites
  bool sound = true;
  int volume = kVolumeDefault;  // percent, of the sounds
  int sprite_limit = kSpriteLimitDefault;
  bool all_monitors = true;  // false: the primary one only
  bool hide_in_full_screen = true;
  bool quiet = true;                   // while presenting, and while a program covers a monitor
  bool whole_pixels = true;            // a pixel of a sheet is a whole number of the screen's
  bool out_of_shared_screens = false;  // and of screenshots, where the system can do that
  bool click_through = false;          // the pointer reaches what is below the sprites
  bool calm = false;                   // sprites do not wander by themselves
  bool start_with_system = false;
  bool ask_before_closing = true;  // until the person ticks "Don't ask again"
  bool restore_windows = false;    // after a full-screen program changed a monitor's resolution
  bool toasts = true;
  bool bubbles = true;        // what others say is shown
  bool signs = true;          // the own name is in the journeys of what is thrown
  bool peek_at_edges = true;  // a pointer that rests at an edge looks over it
  ShowStage show_stage = ShowStage::kAsWorld;
  bool greeted = false;  // the first sprite has said hello
  LanguageChoice language = LanguageChoice::kSystem;
  int cache_mib = kCacheMiBDefault;
  std::vector<Neighbour> muted;     // Mutes says which desktops they stand for
  std::vector<std::string> hidden;  // hashes of pictures that the person does not want to see
  std::string unknown;              // JSON of fields this version does not know

  bool operator==(const Settings&) const = default;
};

// What is on or off, by its name in the file.
struct SwitchField {
  const char* name;
  bool Settings::*member;
};
inline constexpr SwitchField kSwitchFields[] = {
    {"sound", &Settings::sound},
    {"allMonitors", &Settings::all_monitors},
    {"hideInFullScreen", &Settings::hide_in_full_screen},
    {"quiet", &Settings::quiet},
    {"wholePixels", &Settings::whole_pixels},
    {"outOfSharedScreens", &Settings::out_of_shared_screens},
    {"clickThrough", &Settings::click_through},
    {"calm", &Settings::calm},
    {"startWithSystem", &Settings::start_with_system},
    {"askBeforeClosing", &Settings::ask_before_closing},
    {"restoreWindows", &Settings::restore_windows},
    {"toasts", &Settings::toasts},
    {"bubbles", &Settings::bubbles},
    {"signs", &Settings::signs},
    {"peekAtEdges", &Settings::peek_at_edges},
    {"greeted", &Settings::greeted}};

// Never throws. Sets `complaint`, if given, to what was left out and why, or to nothing.
Settings ReadSettings(std::string_view json, std::optional<Reason>* complaint = nullptr);
std::string SettingsJson(const Settings& settings);
// `settings` with each value within its limits.
Settings WithinLimits(Settings settings);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_FILES_SETTINGS_H_
