// libFuzzer target: any dropped file becomes a sprite that can be read back, or is rejected with a
// sentence. The limit of pixels is lower than in the program, so that many files run each second.
#include <cstdlib>
#include <string_view>

#include "core/picture/orientation.h"
#include "core/picture/picture.h"
#include "core/picture/sheet.h"

namespace {

constexpr size_t kPixelsMax = 65'536;
constexpr size_t kPackedPixelsMax = 256;

void Require(bool condition) {
  if (!condition) {
    abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const int orientation = sprites::OrientationOf({bytes, size});
  Require(orientation >= 1 && orientation <= 8);
  try {
    const sprites::Picture picture = sprites::DecodePicture({bytes, size}, kPixelsMax);
    Require(!picture.frames.empty() && picture.frames.size() <= sprites::kPictureFramesMax);
    size_t pixels = 0;
    for (const sprites::PictureFrame& frame : picture.frames) {
      pixels += frame.rgba.size() / 4;
      Require(frame.rgba.size() == size_t{4} * picture.width * picture.height);
      Require(frame.delay_ms >= 0);
    }
    Require(pixels <= kPixelsMax);
    if (pixels <= kPackedPixelsMax) {
      const sprites::DroppedSpr dropped = sprites::SprOfFile({bytes, size}, "fuzz");
      sprites::ReadSheet(dropped.spr);
      Require(!dropped.is_cut || !dropped.other.empty());
      if (!dropped.other.empty()) {
        sprites::ReadSheet(dropped.other);
      }
    }
  } catch (const sprites::PictureRefused& refused) {
    Require(std::string_view(refused.what()).ends_with('.'));
  }
  return 0;
}
