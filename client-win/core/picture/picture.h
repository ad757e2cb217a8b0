// Makes a sprite of any picture: a still one is animated by squash and stretch, an animated one
// plays its frames. BEHAVIOUR.md (Dropped pictures) has the rules.
//
// These are the person's own files; files from others go through sheet.h alone. The core decodes
// PNG, BMP (still.h) and GIF (gif.h) itself; a shell with more codecs (JPEG, WebP …) passes decoded
// frames. Cost: at most kPicturePixelsMax pixels of four bytes in all frames, and about twice that
// while a still picture is decoded; each is then scaled down to at most 128 pixels a side.
#ifndef CLIENT_WIN_CORE_PICTURE_PICTURE_H_
#define CLIENT_WIN_CORE_PICTURE_PICTURE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/picture/sheet.h"
#include "core/text/refused.h"

namespace sprites {

constexpr size_t kPictureBytesMax = 33'554'432;     // bytes of a file: a large photograph
constexpr uint32_t kPictureSidePixelsMax = 16'384;  // pixels a side
constexpr size_t kPicturePixelsMax = 67'108'864;    // pixels, all frames kept: 256 MiB decoded
constexpr size_t kPictureFramesMax = 64;  // frames of an animation; of a longer one every nth

// Why a picture can't become a sprite.
class PictureRefused : public Refused {
 public:
  using Refused::Refused;
};

// The core does not know the kind of file; a shell may.
class PictureUnknown : public PictureRefused {
 public:
  using PictureRefused::PictureRefused;
};

struct PictureFrame {
  Bytes rgba;  // straight alpha; the size of the picture
  int delay_ms = 0;
};

struct Picture {
  int width = 0;
  int height = 0;
  std::vector<PictureFrame> frames;  // one, or those of an animation, each complete
};

struct Box {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;

  bool operator==(const Box&) const = default;
};

// Decodes a picture of at most `pixels_max` pixels in all the frames it keeps. Throws
// PictureUnknown when the core does not know the kind of file, else PictureRefused.
Picture DecodePicture(std::span<const uint8_t> bytes, size_t pixels_max = kPicturePixelsMax);

// Throws PictureRefused when a side or the number of pixels is over its limit. REQUIRES: frames
// ≥ 1.
void CheckPictureSize(int64_t width, int64_t height, size_t frames, size_t pixels_max);

// The checked bytes of a .spr that shows the picture, at most kSprBytesMax. `file_name` is UTF-8
// and gives the sprite its name. Throws PictureRefused when the picture fits at no size.
Bytes SprOfPicture(const Picture& picture, std::string_view file_name);

// Each frame of an animation for its share of the time, in steps of the shortest one. REQUIRES: a
// delay.
Animation StepsOf(std::span<const int> delays_ms);

// Likewise the .spr of a picture whose frames these animations play, with its body in the box.
Bytes SprOfFrames(const Picture& picture, const std::map<std::string, Animation>& animations,
                  const Box& body, std::string_view file_name);

// What was made of a dropped file.
struct DroppedSpr {
  Bytes spr{};
  // The other version of a still picture with a background: with it, or without. Empty when there
  // is none.
  Bytes other{};
  bool is_cut = false;  // `spr` is the one without
};

// Decodes a kind of picture that the core does not know. Throws PictureRefused.
using DecodeOther = std::function<Picture(std::span<const uint8_t> bytes)>;

// A .spr stays as it is. A photograph is cut out of its background; any other picture keeps it.
// Without `decode`, kinds that the core does not know are refused. Throws SprRefused or
// PictureRefused.
DroppedSpr SprOfFile(std::span<const uint8_t> bytes, std::string_view file_name,
                     const DecodeOther& decode = {});

// The PNG of a picture with straight alpha. Throws SprRefused when memory is short.
Bytes WritePicture(int width, int height, std::span<const uint8_t> rgba);

// The PNG of a sheet, with `json` as its description. Throws SprRefused.
Bytes WriteSheet(int width, int height, std::span<const uint8_t> rgba, std::string_view json);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_PICTURE_H_
