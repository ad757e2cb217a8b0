// What a person has chosen, and its form as a JSON file.
//
// Invariant: every value is inside its limits, whatever the file said; a file that can't be read is
// the defaults, and fields this version does not know are kept when it is written again.
// Cost: O(file) ≤ kSettingsBytesMax.
#ifndef CLIENT_WIN_CORE_DESKTOP_SETTINGS_H_
#define CLIENT_WIN_CORE_DESKTOP_SETTINGS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sprites {

// Whose pictures are shown; others travel as parcels, and nobody is kept out.
enum class Accept : uint8_t {
  kBundled,  // only those that come with the program, and one's own
  kFriends,  // anybody's in a private world; in the one everybody is in, as above
  kEverybody,
};

constexpr size_t kSettingsBytesMax = 65'536;  // bytes of the file
constexpr int kSpriteLimitMin = 1;
constexpr int kSpriteLimitDefault = 64;
constexpr int kSpriteLimitMax = 300;  // sprites: as many windows as still move smoothly, with room
constexpr double kUserScaleMin = 0.5;
constexpr double kUserScaleMax = 4;
constexpr size_t kMutedMax = 256;  // names
constexpr int kCacheMiBMin = 1;
constexpr int kCacheMiBDefault = 64;
constexpr int kCacheMiBMax = 4096;
constexpr char kRelayDefault[] = "http://localhost:8080";

struct Settings {
  std::string relay = kRelayDefault;
  std::string name;
  std::string world;   // empty: the one everybody is in
  std::string beside;  // a friend's desktop to sit next to, once
  Accept accept = Accept::kEverybody;
  double scale = 1;  // of everybody, besides the monitor's
  bool sound = true;
  int sprite_limit = kSpriteLimitDefault;
  bool all_monitors = true;  // false: the primary one only
  bool hide_in_full_screen = true;
  bool calm = false;  // nobody wanders by itself
  bool start_with_system = false;
  bool ask_before_closing = false;
  bool restore_windows = false;  // after a full-screen program changed a monitor's resolution
  bool toasts = true;
  int cache_mib = kCacheMiBDefault;
  std::vector<std::string> muted;  // names of neighbours, or desktops of those without
  std::string unknown;             // JSON of fields this version does not know

  bool operator==(const Settings&) const = default;
};

// Never throws. `complaint`, when given, is a sentence about what was left out; empty when all was
// well.
Settings ReadSettings(std::string_view json, std::string* complaint = nullptr);
std::string SettingsJson(const Settings& settings);
// Each value brought into its limits.
Settings WithinLimits(Settings settings);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_SETTINGS_H_
