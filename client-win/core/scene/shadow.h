// The soft shadow of a sprite on what it stands on: large and dark below its feet, smaller and
// fainter while it hops, and gone when it flies.
//
// A shadow is a picture with kShadowSteps cells, so a sprite that rests or walks changes none.
// Cost: a look-up and some arithmetic; O(pixels) for the first shadow of a width.
#ifndef CLIENT_WIN_CORE_SCENE_SHADOW_H_
#define CLIENT_WIN_CORE_SCENE_SHADOW_H_

#include <optional>

#include "core/motion/sprite.h"
#include "core/scene/own_sheets.h"
#include "core/scene/scene.h"
#include "core/screen/geometry.h"

namespace sprites {

// A page lets shadows reach 420 px. Here each is a window, and one that follows a sprite in its
// flight would cost as much as the sprite.
constexpr double kShadowReach = 64;           // dip above the ground without a shadow; a hop has 49
constexpr int kShadowSteps = 8;               // pictures, from the feet on the ground to the reach
constexpr int kShadowDrawnPixelsMax = 1'024;  // of its width: a wider one is drawn so wide, scaled

// The shadow of a sprite on `ground` below it; nothing when it has none there. The shadow does not
// reach beyond the ends of the ground, nor beyond the monitor.
std::optional<DrawnSprite> DrawShadow(const Sprite& sprite, const Ledge& ground,
                                      const Monitor& monitor, OwnSheets* sheets);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCENE_SHADOW_H_
