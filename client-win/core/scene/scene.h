// What a desktop shows: every sprite as a picture at a place.
#ifndef CLIENT_WIN_CORE_SCENE_SCENE_H_
#define CLIENT_WIN_CORE_SCENE_SCENE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/picture/sheet.h"
#include "core/scene/bubbles.h"
#include "core/screen/geometry.h"

namespace sprites {

constexpr int kOpacityMax = 100;  // percent

// A part of a drawn frame, in px from its left top corner.
struct Crop {
  int x = 0;
  int y = 0;
  int width = 0;  // at least 1
  int height = 0;

  bool operator==(const Crop&) const = default;
};

// A picture below a sprite in the same window: its shadow. Its place is relative to the left top
// corner of the sprite's frame.
struct Underlay {
  SheetPointer sheet;  // never null
  int cell = 0;
  int opacity = kOpacityMax;  // percent
  Crop frame;                 // the whole picture, scaled
  Crop shown;  // the only part that is shown, likewise relative to the sprite's frame

  bool operator==(const Underlay&) const = default;
};

// How to draw one sprite.
struct DrawnSprite {
  SpriteId id = kNobody;
  SheetPointer sheet;  // never null: a parcel while the picture is not here
  int cell = 0;        // of its grid, row by row from 0
  int x = 0;           // px of the virtual screen: the frame's left top corner
  int y = 0;
  int width = 0;  // px: the frame, scaled; at least 1
  int height = 0;
  bool mirrored = false;       // a sheet's frames look to the right
  bool visible = true;         // false behind a full-screen program
  bool is_silhouette = false;  // in one colour, translucent
  int opacity = kOpacityMax;   // percent
  std::optional<Crop> crop{};  // the only part that is shown; nothing for all of it
  std::optional<Underlay> under{};

  // The part of the frame that is shown.
  Crop Shown() const { return crop.value_or(Crop{0, 0, width, height}); }
  // What its window covers: the shown parts of the frame and of the picture below.
  Crop Covered() const;
  // The left top corner of its window.
  int Left() const { return x + Covered().x; }
  int Top() const { return y + Covered().y; }

  bool operator==(const DrawnSprite&) const = default;
};

// A speech bubble. The shell measures it, and PlaceBubbles says where it is.
struct DrawnBubble {
  uint64_t id = 0;   // one bubble keeps it
  std::string name;  // of the speaker; empty for what this desktop says
  std::string text;
  BubblePost post;
};

struct Scene {
  std::vector<DrawnSprite> sprites;  // lowest first
  // What lies on the ground below all sprites, lowest first: their shadows, each with the id of its
  // sprite, dust, and the letters above those that sleep. They take no clicks.
  std::vector<DrawnSprite> ground;
  std::vector<DrawnBubble> bubbles;  // newest first
  std::vector<Rect> obstacles;       // px: what no bubble may cover, such as a sprite that is held
  // What is seen beyond the edge that the person looks over, lowest first: panes along the edge,
  // then the silhouettes in them. An id may be that of one of `sprites` too. They take no clicks.
  std::vector<DrawnSprite> beyond;
  // How long the next frame may wait, unless an event comes first: nothing moves until then.
  double idle_ms = 0;
  bool saves_power = false;  // half the frame rate is enough
  bool takes_clicks = true;  // of `sprites`; otherwise the pointer reaches what is below them
};

// `scale`, in pixels of the screen for a pixel of a sheet. `whole`: rounded, so that all pixels of
// the sheet are of one size. Below 1 it is not rounded.
double PixelScale(double scale, bool whole);

// How to draw `sprite` with `sheet` on `monitor`; visible. `user_scale` is the person's own factor.
DrawnSprite Draw(const Sprite& sprite, const SheetPointer& sheet, const Monitor& monitor,
                 double user_scale, bool whole_pixels, double now_ms);

// How long `sprite` keeps showing the cell it shows now; the largest value when it never changes.
double NextCellMs(const Sheet& sheet, const Sprite& sprite, double now_ms);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SCENE_SCENE_H_
