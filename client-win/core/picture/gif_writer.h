// Writes an animated GIF (GIF89a), the one animation that every program shows which gets it from
// somebody.
//
// All frames share one palette: colours are sorted into buckets of 5 bits a channel, and boxes of
// buckets are halved until there is one box a colour. A frame only has what has changed since the
// one before. gif.vectors.json has its bytes; server/web/pictures/gif.ts writes the same ones.
// Pixels are 0xRRGGBB; what is above that is not read.
// Cost: O(pixels) a frame; 2 MiB for the codes, and the file.
#ifndef CLIENT_WIN_CORE_PICTURE_GIF_WRITER_H_
#define CLIENT_WIN_CORE_PICTURE_GIF_WRITER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "core/picture/picture.h"

namespace sprites {

// The colours of an animation: of each pixel of each frame.
class Palette {
 public:
  static constexpr size_t kColoursMax = 255;  // and 0 is what has not changed

  // Counts the pixels of a frame.
  void Count(std::span<const uint32_t> pixels);
  // Chooses the colours, when all frames are counted.
  void Choose();

  // The colour of a pixel that was counted.
  uint8_t IndexOf(uint32_t pixel) const;
  // Red, green and blue of each colour.
  const std::array<uint8_t, 3 * (kColoursMax + 1)>& colours() const { return colours_; }

 private:
  struct Sums {
    std::array<uint64_t, 3> channels{};
    uint64_t count = 0;
  };

  void Set(uint8_t colour, std::span<const uint16_t> buckets);

  static constexpr size_t kBuckets = 32'768;
  std::vector<Sums> sums_ = std::vector<Sums>(kBuckets);
  std::vector<uint8_t> colour_of_ = std::vector<uint8_t>(kBuckets);
  std::array<uint8_t, 3 * (kColoursMax + 1)> colours_{};
};

class GifWriter {
 public:
  // An animation that repeats for ever, of at most `bytes_max` bytes. `palette` lives longer.
  GifWriter(int width, int height, const Palette* palette, size_t bytes_max);

  // Adds a frame that is shown for `ms`. One like the frame before makes that longer. Returns false
  // when the file is full.
  bool Add(std::span<const uint32_t> pixels, int ms);
  // The whole file.
  Bytes End();

 private:
  Box Changed(const std::vector<uint8_t>& indices) const;
  void Put(std::initializer_list<int> bytes);
  void PutWord(int value);

  int width_;
  int height_;
  const Palette* palette_;
  size_t bytes_max_;
  Bytes bytes_;
  std::vector<uint16_t> codes_;
  std::vector<uint8_t> shown_;  // empty before the first frame
  size_t delay_at_ = 0;         // of the last frame, in the file
  int late_ms_ = 0;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_GIF_WRITER_H_
