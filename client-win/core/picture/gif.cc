#include "core/picture/gif.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/picture/png.h"

namespace sprites {

namespace {

constexpr size_t kScreenBytes = 13;      // signature, version and logical screen descriptor
constexpr size_t kImageBytes = 10;       // image descriptor with its separator
constexpr size_t kControlBytes = 8;      // graphic control extension, introducer to terminator
constexpr size_t kColourBytes = 3;       // red, green and blue
constexpr int kDelayMsIgnored = 10;      // ms: a delay up to this counts as none
constexpr int kDelayMsDefault = 100;     // ms of a frame without a delay
constexpr int kGifDelayMsMax = 655'350;  // ms: the largest delay that a frame can have
constexpr int kCodeBitsMax = 12;         // of LZW
constexpr int kColourBitsMax = 8;        // of LZW's first codes
constexpr int kCodes = 1 << kCodeBitsMax;
constexpr int kNoCode = -1;

enum class Disposal { kLeave, kClear, kRestore };

struct Area {
  int left;
  int top;
  int width;
  int height;
};

struct Frame {
  Area area;  // as in the file; it may extend beyond the screen
  bool is_interlaced;
  std::span<const uint8_t> colours;  // a view of the file; empty when there are none
  int colour_bits;                   // of LZW's first codes
  size_t packed_at;                  // offset of its first sub-block
  int delay_ms = kDelayMsDefault;
  Disposal disposal = Disposal::kLeave;
  std::optional<uint8_t> transparent;  // the colour that is not drawn
};

int LittleEndian16(std::span<const uint8_t> bytes, size_t at) {
  return bytes[at] | bytes[at + 1] << 8;
}

// Walks a file's blocks from frame to frame. REQUIRES: a whole logical screen descriptor.
class Blocks {
 public:
  explicit Blocks(std::span<const uint8_t> file) : file_(file), at_(kScreenBytes) {
    colours_ = ReadColours(file[kScreenBytes - 3]);
  }

  // The next frame; nothing at the end, or where the file is cut off or damaged.
  std::optional<Frame> Next() {
    Frame frame{};
    while (at_ < file_.size()) {
      const uint8_t kind = file_[at_];
      if (kind == kExtension) {
        ReadExtension(&frame);
      } else if (kind == kImage) {
        return ReadImage(&frame) ? std::optional(frame) : std::nullopt;
      } else {
        break;
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr uint8_t kExtension = 0x21;
  static constexpr uint8_t kControl = 0xf9;
  static constexpr uint8_t kImage = 0x2c;

  bool Has(size_t bytes) const { return at_ <= file_.size() && bytes <= file_.size() - at_; }

  // The colour table after a descriptor with these flags; shorter if the file is cut off.
  std::span<const uint8_t> ReadColours(uint8_t flags) {
    if ((flags & 0x80) == 0 || at_ >= file_.size()) {
      return {};
    }
    const size_t size = kColourBytes << ((flags & 7) + 1);
    const auto table = file_.subspan(at_, std::min(size, file_.size() - at_));
    at_ += size;
    return table;
  }

  void ReadExtension(Frame* frame) {
    if (Has(kControlBytes) && file_[at_ + 1] == kControl && file_[at_ + 2] == 4) {
      const uint8_t flags = file_[at_ + 3];
      const int delay_ms = 10 * LittleEndian16(file_, at_ + 4);
      const int disposal = flags >> 2 & 7;
      frame->delay_ms = delay_ms <= kDelayMsIgnored ? kDelayMsDefault : delay_ms;
      frame->disposal = disposal == 2                    ? Disposal::kClear
                        : disposal == 3 || disposal == 4 ? Disposal::kRestore
                                                         : Disposal::kLeave;
      frame->transparent = (flags & 1) != 0 ? std::optional(file_[at_ + 6]) : std::nullopt;
    }
    at_ += 2;
    SkipSubBlocks();
  }

  bool ReadImage(Frame* frame) {
    if (!Has(kImageBytes)) {
      return false;
    }
    const auto number = [&](size_t offset) { return LittleEndian16(file_, at_ + offset); };
    frame->area = {number(1), number(3), number(5), number(7)};
    const uint8_t flags = file_[at_ + 9];
    frame->is_interlaced = (flags & 0x40) != 0;
    at_ += kImageBytes;
    const auto own_colours = ReadColours(flags);
    frame->colours = own_colours.empty() ? colours_ : own_colours;
    if (!Has(1)) {
      return false;
    }
    frame->colour_bits = file_[at_++];
    frame->packed_at = at_;
    SkipSubBlocks();
    return frame->colour_bits >= 1 && frame->colour_bits <= kColourBitsMax;
  }

  void SkipSubBlocks() {
    while (at_ < file_.size() && file_[at_] != 0) {
      at_ += size_t{file_[at_]} + 1;
    }
    at_++;
  }

  std::span<const uint8_t> file_;
  size_t at_;
  std::span<const uint8_t> colours_;
};

// Reads the codes of a frame: numbers of some bits each, lowest bit first, packed into sub-blocks.
class Codes {
 public:
  Codes(std::span<const uint8_t> file, size_t at) : file_(file), at_(at) {}

  // The next code, of at most kCodeBitsMax bits; nothing at the end.
  std::optional<int> Next(int bits) {
    while (held_bits_ < bits) {
      if (block_left_ == 0) {
        block_left_ = at_ < file_.size() ? file_[at_++] : 0;
      }
      if (block_left_ == 0 || at_ >= file_.size()) {
        return std::nullopt;
      }
      held_ |= uint32_t{file_[at_++]} << held_bits_;
      held_bits_ += 8;
      block_left_--;
    }
    const auto code = static_cast<int>(held_ & ((1U << bits) - 1));
    held_ >>= bits;
    held_bits_ -= bits;
    return code;
  }

 private:
  std::span<const uint8_t> file_;
  size_t at_;
  int block_left_ = 0;  // bytes of the sub-block
  uint32_t held_ = 0;
  int held_bits_ = 0;
};

// Draws the pixels of a frame in the file's order, and drops those outside the screen.
class Brush {
 public:
  Brush(const Frame& frame, int width, int height, Bytes* rgba)
      : frame_(frame), width_(width), height_(height), rgba_(rgba) {}

  // False when the frame is full.
  bool Put(uint8_t colour) {
    if (row_ >= frame_.area.height || frame_.area.width == 0) {
      return false;
    }
    const int x = frame_.area.left + column_;
    const int y = frame_.area.top + row_;
    const size_t at = kColourBytes * colour;
    if (x < width_ && y < height_ && colour != frame_.transparent &&
        at + kColourBytes <= frame_.colours.size()) {
      uint8_t* pixel = &(*rgba_)[(static_cast<size_t>(y) * width_ + x) * kChannels];
      std::copy_n(&frame_.colours[at], kColourBytes, pixel);
      pixel[3] = 255;
    }
    if (++column_ == frame_.area.width) {
      column_ = 0;
      NextRow();
    }
    return true;
  }

 private:
  void NextRow() {
    static constexpr int kFirst[] = {0, 4, 2, 1};
    static constexpr int kStep[] = {8, 8, 4, 2};
    if (!frame_.is_interlaced) {
      row_++;
      return;
    }
    row_ += kStep[pass_];
    while (row_ >= frame_.area.height && pass_ < 3) {
      row_ = kFirst[++pass_];
    }
  }

  const Frame& frame_;
  int width_;
  int height_;
  Bytes* rgba_;
  int column_ = 0;
  int row_ = 0;
  int pass_ = 0;
};

// Unpacks a frame (LZW, appendix F): a code stands for the string of an earlier code and one more
// colour. Returns when the frame is full, or at the end of the codes or the first invalid one.
void Draw(std::span<const uint8_t> file, const Frame& frame, Brush brush) {
  const int clear = 1 << frame.colour_bits;
  const int end = clear + 1;
  std::array<uint16_t, kCodes> before;   // the code that each code's string starts with
  std::array<uint8_t, kCodes> last;      // the colour that it ends with
  std::array<uint8_t, kCodes> reversed;  // one string, its last colour first
  Codes codes(file, frame.packed_at);
  int bits = frame.colour_bits + 1;
  int next = end + 1;      // the code that is defined next
  int previous = kNoCode;  // the code that came before this one
  uint8_t first = 0;       // the first colour of its string
  while (const auto code = codes.Next(bits)) {
    if (*code == clear) {
      bits = frame.colour_bits + 1;
      next = end + 1;
      previous = kNoCode;
      continue;
    }
    if (*code == end || *code > (previous == kNoCode ? end : next)) {
      return;
    }
    int rest = *code;
    size_t length = 0;
    if (rest == next) {  // the code being defined now: it ends with the colour it starts with
      reversed[length++] = first;
      rest = previous;
    }
    for (; rest > end; rest = before[rest]) {
      reversed[length++] = last[rest];
    }
    first = static_cast<uint8_t>(rest);
    reversed[length++] = first;
    while (length > 0) {
      if (!brush.Put(reversed[--length])) {
        return;
      }
    }
    if (previous != kNoCode && next < kCodes) {
      before[next] = static_cast<uint16_t>(previous);
      last[next] = first;
      next++;
    }
    if (next == 1 << bits && bits < kCodeBitsMax) {
      bits++;
    }
    previous = *code;
  }
}

// The part of an area that is on the screen; empty when there is none.
Area Clipped(const Area& area, int width, int height) {
  if (area.left >= width || area.top >= height) {
    return {};
  }
  return {area.left, area.top, std::min(width - area.left, area.width),
          std::min(height - area.top, area.height)};
}

// The pixels of an area that is on the screen, row by row.
Bytes PixelsOf(const Bytes& rgba, int width, const Area& area) {
  Bytes pixels;
  const size_t row_bytes = size_t{1} * area.width * kChannels;
  pixels.reserve(row_bytes * area.height);
  for (int row = 0; row < area.height; row++) {
    const auto from =
        rgba.begin() + (int64_t{1} * (area.top + row) * width + area.left) * kChannels;
    pixels.insert(pixels.end(), from, from + static_cast<int64_t>(row_bytes));
  }
  return pixels;
}

// Puts pixels back into such an area; clears it when `pixels` is empty.
void PutBack(const Bytes& pixels, int width, const Area& area, Bytes* rgba) {
  const int64_t row_bytes = int64_t{1} * area.width * kChannels;
  for (int row = 0; row < area.height; row++) {
    const auto to = rgba->begin() + (int64_t{1} * (area.top + row) * width + area.left) * kChannels;
    if (pixels.empty()) {
      std::fill_n(to, row_bytes, uint8_t{0});
    } else {
      std::copy_n(pixels.begin() + row * row_bytes, row_bytes, to);
    }
  }
}

// The number of frames. Throws PictureRefused when they draw more than `drawn_max` pixels.
size_t CountFrames(std::span<const uint8_t> bytes, size_t drawn_max) {
  Blocks blocks(bytes);
  size_t frames = 0;
  uint64_t drawn = 0;
  while (const auto frame = blocks.Next()) {
    frames++;
    drawn += uint64_t{1} * frame->area.width * frame->area.height;
    if (drawn > drawn_max) {
      throw PictureRefused(Text::kPictureGifDraws, {std::to_string(drawn_max)});
    }
  }
  return frames;
}

}  // namespace

bool IsGif(std::span<const uint8_t> bytes) {
  const std::string_view head = AsText(bytes.first(std::min<size_t>(bytes.size(), 6)));
  return head == "GIF87a" || head == "GIF89a";
}

Picture DecodeGif(std::span<const uint8_t> bytes, size_t pixels_max) {
  if (bytes.size() < kScreenBytes) {
    throw PictureRefused(Text::kPictureGifCutOff);
  }
  const int width = LittleEndian16(bytes, 6);
  const int height = LittleEndian16(bytes, 8);
  const size_t frames = CountFrames(bytes, kGifDrawnMax * pixels_max);
  if (frames == 0) {
    throw PictureRefused(Text::kPictureGifEmpty);
  }
  CheckPictureSize(width, height, std::min(frames, kPictureFramesMax), pixels_max);
  const size_t every = (frames + kPictureFramesMax - 1) / kPictureFramesMax;
  Picture picture{width, height, {}};
  Bytes screen(static_cast<size_t>(width) * height * kChannels, 0);
  Blocks blocks(bytes);
  for (size_t i = 0; const auto frame = blocks.Next(); i++) {
    const Area area = Clipped(frame->area, width, height);
    const bool is_restored = frame->disposal == Disposal::kRestore;
    const Bytes hidden = is_restored ? PixelsOf(screen, width, area) : Bytes{};
    Draw(bytes, *frame, Brush(*frame, width, height, &screen));
    if (i % every == 0) {
      picture.frames.push_back({screen, frame->delay_ms});
    } else {
      int& delay_ms = picture.frames.back().delay_ms;
      delay_ms = std::min(delay_ms + frame->delay_ms, kGifDelayMsMax);
    }
    if (frame->disposal != Disposal::kLeave) {
      PutBack(hidden, width, area, &screen);
    }
  }
  return picture;
}

}  // namespace sprites
