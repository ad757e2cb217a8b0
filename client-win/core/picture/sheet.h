// A .spr as a file: a PNG whose one iTXt chunk `sprite` describes its frames.
//
// The files come from untrusted sources, so every limit is checked before memory is allocated: the
// container is walked without a copy, sizes are checked before pixels are inflated, and inflating
// stops at the byte that the header promises. The rules are those of the relay
// (server/wire/files/sheet.ts, description.ts, png.ts, spr.ts).
// Invariant: every number in a Sheet is within its limits and needs no further check.
// Cost: O(raw bytes); the largest sheet takes 64 MiB of pixels, and twice that while it is read.
#ifndef CLIENT_WIN_CORE_PICTURE_SHEET_H_
#define CLIENT_WIN_CORE_PICTURE_SHEET_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/motion/sprite.h"
#include "core/text/refused.h"
#include "wire/rules.h"

namespace sprites {

using Bytes = std::vector<uint8_t>;

using rules::kNameBytesMax;
using rules::kSprBytesMax;
constexpr uint32_t kSheetSidePixelsMax = 4096;  // pixels: every graphics card supports it
constexpr size_t kChunksMax = 1024;             // chunks: 1 MiB in IDATs of 8 KiB needs 130
constexpr size_t kJsonBytesMax = 65'536;        // bytes of the description
constexpr int kJsonDepthMax = 8;                // nested values, in fields that nobody knows too
constexpr int kFramesMax = 512;                 // cells of the grid; bounds every list of frames
constexpr size_t kAnimationsMax = 64;           // names
constexpr size_t kCreditBytesMax = 400;         // bytes of UTF-8 for author and for licence
constexpr double kFpsMax = 60;                  // frames a second
constexpr double kWalkSpeedMax = 2000;          // dip/s
constexpr double kJumpSpeedMax = 5000;          // dip/s
constexpr double kGravityMax = 20'000;          // dip/s²
constexpr double kBounceMax = 0.95;  // fraction of the speed: above it no sprite comes to rest
constexpr int kChannels = 4;         // bytes a pixel: red, green, blue, alpha
constexpr size_t kRawBytesMax =      // bytes inflated: the largest sheet, four bytes a pixel
    size_t{kSheetSidePixelsMax} * (1 + 4 * size_t{kSheetSidePixelsMax});
constexpr double kShownSideMax = 320;  // dip of a frame's longer side: must not cover the desktop
constexpr double kShownSideMin = 16;   // dip of it: large enough for a pointer to grab

// Why a file is rejected. part() is the chunk (or `file`, `json`) at fault.
class SprRefused : public Refused {
 public:
  SprRefused(std::string part, Text text, std::vector<std::string> values = {})
      : Refused(text, std::move(values)), part_(std::move(part)) {}
  const std::string& part() const { return part_; }

 private:
  std::string part_;
};

struct Animation {
  std::vector<uint16_t> frames;  // cells of the grid, row by row from 0; never empty
  double fps = 1;                // 0 < fps ≤ kFpsMax
};

struct Behaviour {
  double walk_speed = 60;
  double jump_speed = 420;
  double gravity = 1800;
  double bounce = 0.3;
  double hop_chance = 0.12;
};

struct Description {
  std::string name;
  std::string author;
  std::string licence;
  int frame_width = 1;  // pixels of the sheet
  int frame_height = 1;
  double scale = 2;             // dip a pixel of the sheet
  std::array<int, 4> hitbox{};  // x, y, width, height in pixels of the frame
  std::map<std::string, Animation, std::less<>> animations;  // always has `idle`
  Behaviour behaviour;
};

// A checked .spr with its pixels. It is immutable, so threads may share it.
struct Sheet {
  std::string file;  // SHA-256 of the file, 64 lowercase hex digits
  Description description;
  int width = 0;  // pixels; a whole number of frames
  int height = 0;
  Bytes rgba;  // straight alpha, row by row from the top

  int Columns() const { return width / description.frame_width; }
};
using SheetPointer = std::shared_ptr<const Sheet>;

// The sheet in `bytes`. Throws SprRefused: which chunk or field, and why.
SheetPointer ReadSheet(std::span<const uint8_t> bytes);

// Likewise without pixels and hash: every check of the relay except that of the pixels.
Description ReadDescription(std::span<const uint8_t> bytes);

// Whether this is a PNG with a description, so that it must be read, or rejected, as a .spr.
bool LooksLikeSpr(std::span<const uint8_t> bytes);

// The sheet that stands in for a picture that is not here. Its `file` is empty.
SheetPointer Parcel();

// The scale that a sprite is shown at: its own, limited so that it neither covers the screen nor is
// too small to grab.
double ShownScale(const Description& description, double scale);
// The nature of a sprite with this description, at its own scale.
Nature NatureOf(const Description& description, double scale);

// The animation that is played for `wanted`: the one of this name, or the first one that stands in
// for it and that the description has.
const Animation& PlayedFor(const Description& description, std::string_view wanted);
// The cell of an animation, `elapsed_ms` after it began; then the one for a mode.
int CellOf(const Description& description, std::string_view animation, double elapsed_ms);
int CellOf(const Description& description, Mode mode, double elapsed_ms);

// SHA-256 in 64 lowercase hex digits. Each shell implements it with its platform's library.
std::string Sha256Hex(std::span<const uint8_t> bytes);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_SHEET_H_
