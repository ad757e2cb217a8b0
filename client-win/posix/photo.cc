#include "posix/photo.h"

#include <turbojpeg.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "core/picture/orientation.h"
#include "core/picture/png.h"

namespace sprites {

namespace {

constexpr std::string_view kSignature = "\xFF\xD8\xFF";
constexpr int kPartMax =
    8;  // libjpeg-turbo reads 1/8 of each side at the cost of one value a block

struct DecoderEnded {
  void operator()(void* decoder) const { tjDestroy(decoder); }
};

[[noreturn]] void RefuseDamaged() { throw PictureRefused(Text::kPictureDamagedJpeg); }

// How much of each side to read.
tjscalingfactor PartOf(int width, int height) {
  tjscalingfactor part{1, 1};
  while (part.denom < kPartMax && std::max(width, height) / (2 * part.denom) >= kPhotoSideMin) {
    part.denom *= 2;
  }
  return part;
}

}  // namespace

Picture DecodePhoto(std::span<const uint8_t> bytes, size_t pixels_max) {
  if (!AsText(bytes).starts_with(kSignature)) {
    throw PictureUnknown(Text::kPictureKindLinux);
  }
  const std::unique_ptr<void, DecoderEnded> decoder(tjInitDecompress());
  int width = 0;
  int height = 0;
  int sampling = 0;
  int colours = 0;
  if (decoder == nullptr || tjDecompressHeader3(decoder.get(), bytes.data(), bytes.size(), &width,
                                                &height, &sampling, &colours) != 0) {
    RefuseDamaged();
  }
  CheckPictureSize(width, height, 1, pixels_max);
  if (colours == TJCS_CMYK || colours == TJCS_YCCK) {
    throw PictureRefused(Text::kPictureCmyk);
  }
  const tjscalingfactor part = PartOf(width, height);
  Picture picture{TJSCALED(width, part), TJSCALED(height, part), {}};
  Bytes rgba(static_cast<size_t>(picture.width) * picture.height * kChannels);
  const int failed =
      tjDecompress2(decoder.get(), bytes.data(), bytes.size(), rgba.data(), picture.width, 0,
                    picture.height, TJPF_RGBA, TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS);
  // After a warning there are pixels: other programs show such pictures too.
  if (failed != 0 && tjGetErrorCode(decoder.get()) == TJERR_FATAL) {
    RefuseDamaged();
  }
  picture.frames.push_back({std::move(rgba), 0});
  return Upright(std::move(picture), OrientationOf(bytes));
}

}  // namespace sprites
