// A sprite and its shadow as one picture, for a shell that shows both in one window: two windows
// would have an order to keep.
//
// Cost: O(pixels of the window) for each picture; no allocation.
#ifndef CLIENT_WIN_CORE_SCENE_COMPOSITION_H_
#define CLIENT_WIN_CORE_SCENE_COMPOSITION_H_

#include <cstdint>
#include <vector>

#include "core/scene/frame_atlas.h"
#include "core/scene/scene.h"

namespace sprites {

// What a scene shows on a desktop, in windows that each have a sprite with its shadow.
struct Composition {
  std::vector<DrawnSprite> sprites;  // lowest first
  std::vector<DrawnSprite> dust;
};

// Puts each shadow of the scene under its sprite. `composition` keeps its memory.
void Compose(const Scene& scene, Composition* composition);

// Draws what the window of a sprite shows, DrawnSprite::Covered(), with premultiplied alpha, into
// rows of `pitch` pixels. False if memory is short.
bool DrawComposed(const DrawnSprite& sprite, FrameAtlas* atlas, uint32_t* pixels, int pitch);

// A pixel over another one; both are premultiplied.
uint32_t Over(uint32_t above, uint32_t below);

// Whether the sprite, and not only its shadow, is seen at a point of the screen, in px.
bool IsOnSprite(const DrawnSprite& sprite, int x, int y, FrameAtlas* atlas);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCENE_COMPOSITION_H_
