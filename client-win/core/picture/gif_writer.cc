#include "core/picture/gif_writer.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sprites {

namespace {

constexpr std::array<int, 3> kChannelShifts = {10, 5, 0};  // in the number of a bucket
constexpr int kClearCode = 256;
constexpr int kEndCode = 257;
constexpr int kCodesMax = 4'096;
constexpr size_t kBlockBytesMax = 255;
constexpr int kCsMs = 10;  // ms: a GIF counts hundredths of a second

uint16_t BucketOf(uint32_t pixel) {
  return static_cast<uint16_t>((pixel >> 19 & 31) << 10 | (pixel >> 11 & 31) << 5 |
                               (pixel >> 3 & 31));
}

// Buckets, and where the longest side of the box around them is halved.
struct ColourBox {
  std::vector<uint16_t> buckets;
  int shift = 0;
  int side = -1;
  int middle = 0;

  explicit ColourBox(std::vector<uint16_t> some) : buckets(std::move(some)) {
    for (const int of_channel : kChannelShifts) {
      int low = 31;
      int high = 0;
      for (const uint16_t bucket : buckets) {
        low = std::min(low, bucket >> of_channel & 31);
        high = std::max(high, bucket >> of_channel & 31);
      }
      if (high - low > side) {
        shift = of_channel;
        side = high - low;
        middle = (low + high) >> 1;
      }
    }
  }
};

// Writes pixels with LZW codes of 9 to 12 bits, the lowest bit first (GIF89a, appendix F), in
// blocks at the end of `bytes`.
class LzwWriter {
 public:
  LzwWriter(std::vector<uint16_t>* codes, Bytes* bytes)
      : codes_(*codes), bytes_(*bytes), block_(bytes->size()) {
    bytes_.push_back(0);
    Clear();
  }

  void Add(uint8_t index) {
    const uint16_t known = prefix_ < 0 ? index : codes_[KeyOf(index)];
    if (prefix_ < 0 || known != 0) {
      prefix_ = known;
      return;
    }
    PutCode(prefix_);
    if (next_ < kCodesMax) {
      AddCode(KeyOf(index));
    } else {
      Clear();
    }
    prefix_ = index;
  }

  void End() {
    PutCode(prefix_);
    if (next_ < kCodesMax) {
      AddCode(0);  // as the reader does
    }
    PutCode(kEndCode);
    while (bits_ > 0) {
      PutByte();
    }
    bytes_[block_] = static_cast<uint8_t>(bytes_.size() - block_ - 1);
    if (bytes_[block_] > 0) {
      bytes_.push_back(0);
    }
  }

 private:
  size_t KeyOf(uint8_t index) const { return static_cast<size_t>(prefix_) << 8 | index; }

  void Clear() {
    PutCode(kClearCode);
    std::ranges::fill(codes_, uint16_t{0});
    code_bits_ = 9;
    next_ = kEndCode + 1;
  }

  void AddCode(size_t key) {
    if (next_ == 1 << code_bits_) {
      code_bits_++;
    }
    codes_[key] = static_cast<uint16_t>(next_++);
  }

  void PutCode(int code) {
    held_ |= static_cast<uint32_t>(code) << bits_;
    bits_ += code_bits_;
    while (bits_ >= 8) {
      PutByte();
    }
  }

  void PutByte() {
    bytes_.push_back(static_cast<uint8_t>(held_));
    held_ >>= 8;
    bits_ -= 8;
    if (bytes_.size() - block_ > kBlockBytesMax) {
      bytes_[block_] = kBlockBytesMax;
      block_ = bytes_.size();
      bytes_.push_back(0);
    }
  }

  std::vector<uint16_t>& codes_;
  Bytes& bytes_;
  size_t block_;  // where the length of the block is
  int code_bits_ = 9;
  int next_ = kEndCode + 1;
  uint32_t held_ = 0;
  int bits_ = 0;
  int prefix_ = -1;
};

}  // namespace

void Palette::Count(std::span<const uint32_t> pixels) {
  for (const uint32_t pixel : pixels) {
    Sums& sums = sums_[BucketOf(pixel)];
    sums.channels[0] += pixel >> 16 & 255;
    sums.channels[1] += pixel >> 8 & 255;
    sums.channels[2] += pixel & 255;
    sums.count++;
  }
}

void Palette::Choose() {
  std::vector<uint16_t> used;
  for (size_t bucket = 0; bucket < kBuckets; bucket++) {
    if (sums_[bucket].count > 0) {
      used.push_back(static_cast<uint16_t>(bucket));
    }
  }
  std::vector<ColourBox> boxes{ColourBox(std::move(used))};
  while (boxes.size() < kColoursMax) {
    const auto longest = std::ranges::max_element(boxes, {}, &ColourBox::side);
    if (longest->side <= 0) {
      break;
    }
    std::vector<uint16_t> low = std::move(longest->buckets);
    const auto rest = std::stable_partition(low.begin(), low.end(), [&](uint16_t bucket) {
      return (bucket >> longest->shift & 31) <= longest->middle;
    });
    ColourBox high(std::vector<uint16_t>(rest, low.end()));
    low.erase(rest, low.end());
    *longest = ColourBox(std::move(low));
    boxes.push_back(std::move(high));
  }
  for (size_t i = 0; i < boxes.size(); i++) {
    Set(static_cast<uint8_t>(i + 1), boxes[i].buckets);
  }
}

uint8_t Palette::IndexOf(uint32_t pixel) const { return colour_of_[BucketOf(pixel)]; }

// Gives buckets the mean of their pixels as their colour.
void Palette::Set(uint8_t colour, std::span<const uint16_t> buckets) {
  Sums total;
  for (const uint16_t bucket : buckets) {
    colour_of_[bucket] = colour;
    total.count += sums_[bucket].count;
    for (size_t i = 0; i < 3; i++) {
      total.channels[i] += sums_[bucket].channels[i];
    }
  }
  for (size_t i = 0; i < 3 && total.count > 0; i++) {
    colours_[3 * size_t{colour} + i] =
        static_cast<uint8_t>((2 * total.channels[i] + total.count) / (2 * total.count));
  }
}

GifWriter::GifWriter(int width, int height, const Palette* palette, size_t bytes_max)
    : width_(width),
      height_(height),
      palette_(palette),
      bytes_max_(bytes_max),
      codes_(size_t{kCodesMax} << 8) {
  constexpr std::string_view kSignature = "GIF89a";
  constexpr std::string_view kRepeats("\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", 19);
  bytes_.assign(kSignature.begin(), kSignature.end());
  PutWord(width);
  PutWord(height);
  Put({0xf7, 0, 0});
  bytes_.insert(bytes_.end(), palette->colours().begin(), palette->colours().end());
  bytes_.insert(bytes_.end(), kRepeats.begin(), kRepeats.end());
}

bool GifWriter::Add(std::span<const uint32_t> pixels, int ms) {
  const int delay = (ms + late_ms_ + kCsMs / 2) / kCsMs;
  late_ms_ += ms - delay * kCsMs;
  std::vector<uint8_t> indices(pixels.size());
  std::ranges::transform(pixels, indices.begin(),
                         [this](uint32_t pixel) { return palette_->IndexOf(pixel); });
  const Box box = Changed(indices);
  if (box.width <= 0) {
    const int longer = bytes_[delay_at_] + 256 * bytes_[delay_at_ + 1] + delay;
    bytes_[delay_at_] = static_cast<uint8_t>(longer);
    bytes_[delay_at_ + 1] = static_cast<uint8_t>(longer >> 8);
    return bytes_.size() < bytes_max_;
  }
  delay_at_ = bytes_.size() + 4;
  Put({0x21, 0xf9, 4, 0x05});  // what is drawn stays; 0 is transparent
  PutWord(delay);
  Put({0, 0, 0x2c});
  for (const int value : {box.left, box.top, box.width, box.height}) {
    PutWord(value);
  }
  Put({0, 8});
  LzwWriter lzw(&codes_, &bytes_);
  for (int y = box.top; y < box.top + box.height; y++) {
    for (int x = box.left; x < box.left + box.width; x++) {
      const size_t i = size_t(y) * size_t(width_) + size_t(x);
      lzw.Add(!shown_.empty() && shown_[i] == indices[i] ? 0 : indices[i]);
    }
  }
  lzw.End();
  shown_ = std::move(indices);
  return bytes_.size() < bytes_max_;
}

Bytes GifWriter::End() {
  Put({0x3b});
  return std::move(bytes_);
}

// The box of what has changed: all of the first frame. It has no width when nothing has.
Box GifWriter::Changed(const std::vector<uint8_t>& indices) const {
  if (shown_.empty()) {
    return {0, 0, width_, height_};
  }
  int left = width_;
  int right = -1;
  int top = height_;
  int bottom = -1;
  for (int y = 0; y < height_; y++) {
    for (int x = 0; x < width_; x++) {
      const size_t i = size_t(y) * size_t(width_) + size_t(x);
      if (indices[i] != shown_[i]) {
        left = std::min(left, x);
        right = std::max(right, x);
        top = std::min(top, y);
        bottom = y;
      }
    }
  }
  return {left, top, right - left + 1, bottom - top + 1};
}

void GifWriter::Put(std::initializer_list<int> bytes) {
  for (const int byte : bytes) {
    bytes_.push_back(static_cast<uint8_t>(byte));
  }
}

void GifWriter::PutWord(int value) { Put({value & 255, value >> 8}); }

}  // namespace sprites
