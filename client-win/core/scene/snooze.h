// The "z z z" above a sprite that sleeps: a picture that stands still, so that it costs nothing.
#ifndef CLIENT_WIN_CORE_SCENE_SNOOZE_H_
#define CLIENT_WIN_CORE_SCENE_SNOOZE_H_

#include "core/motion/sprite.h"
#include "core/scene/dust.h"
#include "core/scene/own_sheets.h"
#include "core/scene/scene.h"

namespace sprites {

constexpr SpriteId kFirstSnooze = kFirstPuff + 0x1000;  // ids: above those of puffs, below panes'

// Cost: a look-up; O(pixels) for the first one on a monitor of this scale.
DrawnSprite DrawSnooze(const Sprite& sprite, const Monitor& monitor, OwnSheets* sheets);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCENE_SNOOZE_H_
