// Any picture becomes a sprite: a still one comes alive by squash and stretch, an animated one
// plays its frames.
//
// These are the person's own files; what strangers send goes through sheet.h alone. The core
// decodes PNG, BMP (still.h) and GIF (gif.h) itself; a shell that has more codecs (JPEG, WebP …)
// hands in decoded frames. Cost: kPicturePixelsMax pixels of four bytes, all frames together, and
// about twice that while a still picture is decoded; then each scaled down to at most 128 a side.
#ifndef CLIENT_WIN_CORE_PICTURE_PICTURE_H_
#define CLIENT_WIN_CORE_PICTURE_PICTURE_H_

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/picture/sheet.h"

namespace sprites {

constexpr size_t kPictureBytesMax = 33'554'432;     // bytes of a file: a large photograph
constexpr uint32_t kPictureSidePixelsMax = 16'384;  // pixels a side
constexpr size_t kPicturePixelsMax = 67'108'864;    // pixels, all frames kept: 256 MiB decoded
constexpr size_t kPictureFramesMax = 64;            // frames of an animation; every nth of longer

// Why a picture can't become a sprite: a sentence for the person who dropped it.
class PictureRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// It is of no kind the core knows; a shell may know more.
class PictureUnknown : public PictureRefused {
 public:
  using PictureRefused::PictureRefused;
};

struct PictureFrame {
  Bytes rgba;  // straight alpha; all frames of a picture have its size
  int delay_ms = 0;
};

struct Picture {
  int width = 0;
  int height = 0;
  std::vector<PictureFrame> frames;  // one, or those of an animation, each whole
};

// A picture of a kind the core knows, of at most so many pixels in all frames that are kept. Throws
// PictureUnknown when it is of another kind, else PictureRefused.
Picture DecodePicture(std::span<const uint8_t> bytes, size_t pixels_max = kPicturePixelsMax);

// Throws PictureRefused unless sides and pixels are within the limits. REQUIRES: frames ≥ 1.
void CheckPictureSize(int64_t width, int64_t height, size_t frames, size_t pixels_max);

// The .spr of a picture, as bytes: checked, of at most kSprBytesMax. `file_name` is UTF-8 and gives
// the sprite its name. Throws PictureRefused when no size of it fits.
Bytes SprOfPicture(const Picture& picture, std::string_view file_name);

// A dropped file, whatever it is: a .spr as it is, any picture as a new one. Throws SprRefused or
// PictureRefused.
Bytes SprOfFile(std::span<const uint8_t> bytes, std::string_view file_name);

// The PNG of a sheet with its description put in; for tests and tools. Throws SprRefused.
Bytes WriteSheet(int width, int height, std::span<const uint8_t> rgba, std::string_view json);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_PICTURE_H_
