// What the actions of a Shimeji pack, a mascot's `actions.xml`, become: animations of a sprite.
//
// In English, or in Japanese as the first program had it. The file may be anybody's; a picture is
// looked for among the paths in the pack only. BEHAVIOUR.md has the rules;
// server/web/make/shimeji.ts is the same, and packs.vectors.json is played with both.
#ifndef CLIENT_WIN_CORE_PICTURE_PACKS_ACTIONS_H_
#define CLIENT_WIN_CORE_PICTURE_PACKS_ACTIONS_H_

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/picture/sheet.h"

namespace sprites {

constexpr size_t kActionsBytesMax = 1'048'576;  // bytes: 1 MiB, twenty times the usual file
constexpr size_t kActionsDepthMax = 16;         // nested elements: those that are read have five
constexpr size_t kPosesMax = 48;    // poses of an animation: those after it are left out
constexpr size_t kLeftOutMax = 64;  // names of actions: a person reads no more

// A picture, and the pixel of it that is where the sprite stands, or holds on when it hangs; if it
// looks to the right, from its right side.
struct PackCell {
  std::string image;  // its path in the pack
  int x = 0;
  int y = 0;
  bool looks_right = false;
  bool hangs = false;

  bool operator==(const PackCell&) const = default;
};

struct PackPlan {
  std::vector<PackCell> cells;
  std::map<std::string, Animation> animations;
  // The names of actions with pictures that have no counterpart.
  std::vector<std::string> left_out;
};

// Throws PictureRefused.
PackPlan PlanOf(std::string_view xml, std::span<const std::string> paths);

// The path of the actions that are least deep in the pack; empty when there are none.
std::string ActionsIn(std::span<const std::string> paths);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_PACKS_ACTIONS_H_
