#include "core/picture/picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <numeric>
#include <optional>
#include <utility>

#include "core/picture/cutout.h"
#include "core/picture/gif.h"
#include "core/picture/png.h"
#include "core/picture/stb.h"
#include "core/picture/still.h"
#include "core/text/json.h"
#include "core/text/text.h"
#include "wire/rules.h"

namespace sprites {

namespace {

constexpr int kSides[] = {128, 96, 64, 48, 32, 24, 16};  // pixels of the longer side, tried in turn
constexpr double kPictureShownSide = 96;                 // dip of the longer side on screen
constexpr double kMargin = 1.3;                          // of the picture's size: room to stretch
constexpr size_t kCreatedNameBytesMax = 24;              // bytes of a name made from a file name
constexpr int kDelayMsMin = 20;     // ms: browsers show shorter ones slower than this
constexpr int kDelayMsMax = 5'000;  // ms: longer, and the sprite looks like a still picture
constexpr size_t kStepsMax = 256;   // entries of an animation's list of frames

// How a cell shows the picture: stretched, turned about the middle of its foot, and lifted.
struct Pose {
  double wide;  // times its width
  double high;  // times its height
  double turn;  // radians
  double lift;  // times its height
};

// The same poses as in server/web/pictures/dropped.ts.
constexpr Pose kStillPoses[] = {
    {1, 1, 0, 0},          {1.03, 0.97, 0, 0},    {1.06, 0.94, 0, 0}, {1.06, 0.92, -0.05, 0},
    {0.96, 1.05, 0, 0.06}, {1.06, 0.92, 0.05, 0}, {0.86, 1.16, 0, 0}, {0.9, 1.1, 0.07, 0},
    {0.9, 1.1, -0.07, 0},  {1.25, 0.7, 0, 0},     {0.94, 1.08, 0, 0}, {1.1, 0.84, 0, 0},
    {1.12, 0.8, 0, 0}};
constexpr Pose kLandingPoses[] = {{1.25, 0.7, 0, 0}, {0.94, 1.08, 0, 0}};

struct Cell {
  size_t frame;
  Pose pose;
};

struct Cast {
  std::vector<Cell> cells;
  Json animations;
  Box body;                 // in the picture
  double margin = kMargin;  // room for the poses, times the picture's size
};

struct Canvas {
  int width;
  int height;
  Bytes rgba;
};

// A frame scaled smoothly to this size, without fringes at transparent parts. Throws
// std::bad_alloc.
Canvas Scaled(const Picture& picture, const PictureFrame& frame, int width, int height) {
  if (width == picture.width && height == picture.height) {
    return {width, height, frame.rgba};
  }
  Canvas scaled{width, height, Bytes(static_cast<size_t>(width) * height * kChannels)};
  if (stbir_resize_uint8_srgb(frame.rgba.data(), picture.width, picture.height, 0,
                              scaled.rgba.data(), width, height, 0, kChannels, 3, 0) == 0) {
    throw std::bad_alloc();
  }
  return scaled;
}

// The colour at a point of the picture, in pixels from its left top corner; transparent outside.
std::array<double, 4> SampleAt(const Canvas& picture, double x, double y, bool smooth) {
  std::array<double, 4> sum{};  // red, green and blue times alpha; alpha
  const auto add = [&](int column, int row, double weight) {
    if (column < 0 || row < 0 || column >= picture.width || row >= picture.height || weight <= 0) {
      return;
    }
    const uint8_t* pixel =
        &picture.rgba[(static_cast<size_t>(row) * picture.width + column) * kChannels];
    const double alpha = weight * pixel[3];
    for (int channel = 0; channel < 3; channel++) {
      sum[channel] += alpha * pixel[channel];
    }
    sum[3] += alpha;
  };
  if (!smooth) {
    add(static_cast<int>(std::floor(x)), static_cast<int>(std::floor(y)), 1);
    return sum;
  }
  const double left = std::floor(x - 0.5);
  const double top = std::floor(y - 0.5);
  const double right_part = x - 0.5 - left;
  const double lower_part = y - 0.5 - top;
  const auto column = static_cast<int>(left);
  const auto row = static_cast<int>(top);
  add(column, row, (1 - right_part) * (1 - lower_part));
  add(column + 1, row, right_part * (1 - lower_part));
  add(column, row + 1, (1 - right_part) * lower_part);
  add(column + 1, row + 1, right_part * lower_part);
  return sum;
}

// Draws a picture in a pose into the cell with this left top corner.
void DrawPosed(const Canvas& picture, const Pose& pose, int left, int top, int width, int height,
               bool smooth, Canvas* sheet) {
  const double cosine = std::cos(pose.turn);
  const double sine = std::sin(pose.turn);
  for (int row = 0; row < height; row++) {
    for (int column = 0; column < width; column++) {
      // The point of the picture that is shown here: turn and stretch undone about its foot.
      const double dx = column + 0.5 - width / 2.0;
      const double dy = row + 0.5 - (height - pose.lift * picture.height);
      const double x = (dx * cosine + dy * sine) / pose.wide + picture.width / 2.0;
      const double y = (dy * cosine - dx * sine) / pose.high + picture.height;
      const auto colour = SampleAt(picture, x, y, smooth);
      if (colour[3] <= 0) {
        continue;
      }
      uint8_t* pixel =
          &sheet->rgba[(static_cast<size_t>(top + row) * sheet->width + left + column) * kChannels];
      for (int channel = 0; channel < 3; channel++) {
        pixel[channel] = static_cast<uint8_t>(std::lround(colour[channel] / colour[3]));
      }
      pixel[3] = static_cast<uint8_t>(std::lround(std::min(255.0, colour[3])));
    }
  }
}

Box WholeOf(const Picture& picture) { return {0, 0, picture.width, picture.height}; }

Cast StillCast(const Picture& picture) {
  Cast cast{{}, {}, WholeOf(picture)};
  for (const Pose& pose : kStillPoses) {
    cast.cells.push_back({0, pose});
  }
  cast.animations = {{"idle", {{"frames", {0, 1, 2, 1}}, {"fps", 4}}},
                     {"walk", {{"frames", {3, 4, 5, 4}}, {"fps", 8}}},
                     {"fall", {{"frames", {6}}, {"fps", 1}}},
                     {"drag", {{"frames", {7, 0, 8, 0}}, {"fps", 7}}},
                     {"land", {{"frames", {9, 10, 0}}, {"fps", 10}}},
                     {"climb", {{"frames", {4, 0}}, {"fps", 5}}},
                     {"sleep", {{"frames", {11, 12}}, {"fps", 1}}}};
  return cast;
}

// The cells and animations of an animated picture. Animations have one speed, so each frame is
// repeated in proportion to its delay, in steps of the shortest one.
Cast MovingCast(const Picture& picture) {
  Cast cast{{}, {}, WholeOf(picture)};
  std::vector<int> delays;
  for (size_t i = 0; i < picture.frames.size(); i++) {
    cast.cells.push_back({i, {1, 1, 0, 0}});
    delays.push_back(std::clamp(picture.frames[i].delay_ms, kDelayMsMin, kDelayMsMax));
  }
  const auto [steps, fps] = StepsOf(delays);
  const size_t landing = cast.cells.size();
  for (const Pose& pose : kLandingPoses) {
    cast.cells.push_back({0, pose});
  }
  for (const char* mode : {"idle", "walk", "fall", "drag", "climb"}) {
    cast.animations[mode] = {{"frames", steps}, {"fps", fps}};
  }
  cast.animations["sleep"] = {{"frames", steps}, {"fps", fps / 3}};
  cast.animations["land"] = {{"frames", {landing, landing + 1, 0}}, {"fps", 10}};
  return cast;
}

// The plain characters of a file's name, without its folder and extension.
std::string NameOf(std::string_view file_name) {
  const size_t slash = file_name.find_last_of("/\\");
  std::string_view bare = file_name.substr(slash == std::string_view::npos ? 0 : slash + 1);
  bare = bare.substr(0, bare.find_last_of('.'));
  const std::string name = PlainText(bare, kCreatedNameBytesMax);
  return name.find_first_not_of(' ') == std::string::npos ? "Picture" : name;
}

// The size of a picture that is scaled down until its longer side is at most `side`.
std::pair<int, int> SizeWithin(int side, const Picture& picture) {
  const double factor =
      std::min(1.0, side / static_cast<double>(std::max(picture.width, picture.height)));
  return {std::max(1, static_cast<int>(std::lround(picture.width * factor))),
          std::max(1, static_cast<int>(std::lround(picture.height * factor)))};
}

// The .spr with the picture at this size, in pixels of its longer side; nothing when it is too
// large.
std::optional<Bytes> SprAtSize(const Picture& picture, const Cast& cast, int side,
                               const std::string& name) {
  const auto [width, height] = SizeWithin(side, picture);
  const int cell_width = static_cast<int>(std::ceil(width * cast.margin));
  const int cell_height = static_cast<int>(std::ceil(height * cast.margin));
  const auto cells = static_cast<int>(cast.cells.size());
  const int columns = std::min(cells, static_cast<int>(kSheetSidePixelsMax) / cell_width);
  const int rows = (cells + columns - 1) / columns;
  if (rows * cell_height > static_cast<int>(kSheetSidePixelsMax)) {
    return std::nullopt;
  }
  // Small pictures are pixel art and stay crisp; photographs are scaled down smoothly.
  const bool smooth = std::max(picture.width, picture.height) > kSides[0];
  Canvas sheet{columns * cell_width, rows * cell_height, {}};
  sheet.rgba.resize(static_cast<size_t>(sheet.width) * sheet.height * kChannels);
  std::vector<Canvas> scaled;
  for (const PictureFrame& frame : picture.frames) {
    scaled.push_back(Scaled(picture, frame, width, height));
  }
  for (int i = 0; i < cells; i++) {
    const Cell& cell = cast.cells[static_cast<size_t>(i)];
    DrawPosed(scaled[cell.frame], cell.pose, i % columns * cell_width, i / columns * cell_height,
              cell_width, cell_height, smooth, &sheet);
  }
  const auto across = [&, width = width](int pixels) {
    return static_cast<int>(std::lround(1.0 * pixels * width / picture.width));
  };
  const auto down = [&, height = height](int pixels) {
    return static_cast<int>(std::lround(1.0 * pixels * height / picture.height));
  };
  const int body_side = std::max({across(cast.body.width), down(cast.body.height), 1});
  const double scale =
      std::clamp(kPictureShownSide / body_side, rules::kScaleMin, rules::kScaleMax);
  const int left = (cell_width - width) / 2 + std::min(across(cast.body.left), width - 1);
  const int top = cell_height - height + std::min(down(cast.body.top), height - 1);
  const Json description = {{"format", "spr/1"},
                            {"name", name},
                            {"frame", {{"width", cell_width}, {"height", cell_height}}},
                            {"hitbox",
                             {left, top, std::clamp(across(cast.body.width), 1, cell_width - left),
                              std::clamp(down(cast.body.height), 1, cell_height - top)}},
                            {"scale", scale},
                            {"animations", cast.animations}};
  Bytes bytes = WriteSheet(sheet.width, sheet.height, sheet.rgba, WriteJson(description));
  if (bytes.size() > kSprBytesMax) {
    return std::nullopt;
  }
  ReadDescription(bytes);
  return bytes;
}

// The .spr at the first size at which it fits. Throws PictureRefused when it fits at none.
Bytes LargestSpr(const Picture& picture, const Cast& cast, std::string_view file_name) {
  const std::string name = NameOf(file_name);
  for (const int side : kSides) {
    if (auto bytes = SprAtSize(picture, cast, side, name)) {
      return *std::move(bytes);
    }
  }
  throw PictureRefused(Text::kPictureUnfit);
}

// Throws PictureRefused unless all frames have the size of the picture, within the limits.
void CheckFrames(const Picture& picture) {
  const size_t expected = static_cast<size_t>(picture.width) * picture.height * kChannels;
  const auto is_whole = [&](const PictureFrame& frame) { return frame.rgba.size() == expected; };
  if (picture.frames.empty() || picture.frames.size() > kPictureFramesMax ||
      !std::ranges::all_of(picture.frames, is_whole)) {
    throw PictureRefused(Text::kPictureFrames);
  }
  CheckPictureSize(picture.width, picture.height, picture.frames.size(), kPicturePixelsMax);
}

// A still picture in that size.
Picture Shrunk(int side, const Picture& picture) {
  const auto [width, height] = SizeWithin(side, picture);
  return {width, height, {{Scaled(picture, picture.frames[0], width, height).rgba, 0}}};
}

Picture Decoded(std::span<const uint8_t> bytes, const DecodeOther& decode) {
  try {
    return DecodePicture(bytes);
  } catch (const PictureUnknown&) {
    if (!decode) {
      throw;
    }
  }
  return decode(bytes);
}

}  // namespace

void CheckPictureSize(int64_t width, int64_t height, size_t frames, size_t pixels_max) {
  if (width < 1 || height < 1) {
    throw PictureRefused(Text::kPictureNoPixels, {std::to_string(width), std::to_string(height)});
  }
  if (width > kPictureSidePixelsMax || height > kPictureSidePixelsMax ||
      static_cast<uint64_t>(width) * static_cast<uint64_t>(height) * frames > pixels_max) {
    throw PictureRefused(frames > 1 ? Text::kPictureTooLargeFrames : Text::kPictureTooLarge,
                         {std::to_string(width), std::to_string(height), std::to_string(frames)});
  }
}

Picture DecodePicture(std::span<const uint8_t> bytes, size_t pixels_max) {
  if (bytes.size() > kPictureBytesMax) {
    throw PictureRefused(Text::kPictureFileTooLarge, {std::to_string(kPictureBytesMax >> 20)});
  }
  return IsGif(bytes) ? DecodeGif(bytes, pixels_max) : DecodeStill(bytes, pixels_max);
}

Animation StepsOf(std::span<const int> delays_ms) {
  const double whole = std::accumulate(delays_ms.begin(), delays_ms.end(), 0.0);
  const double step = std::max({static_cast<double>(*std::ranges::min_element(delays_ms)),
                                whole / kStepsMax, 1000 / kFpsMax});
  Animation steps{{}, 1000 / step};
  for (size_t i = 0; i < delays_ms.size(); i++) {
    const auto times = std::max<long>(1, std::lround(delays_ms[i] / step));
    for (long n = 0; n < times && steps.frames.size() < size_t{kFramesMax}; n++) {
      steps.frames.push_back(static_cast<uint16_t>(i));
    }
  }
  return steps;
}

Bytes SprOfPicture(const Picture& picture, std::string_view file_name) {
  CheckFrames(picture);
  if (!ContentBox(picture)) {
    throw PictureRefused(Text::kPictureTransparent);
  }
  const Picture trimmed = Trimmed(picture);
  return LargestSpr(trimmed, trimmed.frames.size() == 1 ? StillCast(trimmed) : MovingCast(trimmed),
                    file_name);
}

Bytes SprOfFrames(const Picture& picture, const std::map<std::string, Animation>& animations,
                  const Box& body, std::string_view file_name) {
  Cast cast{{}, {}, body, 1};
  for (size_t i = 0; i < picture.frames.size(); i++) {
    cast.cells.push_back({i, {1, 1, 0, 0}});
  }
  for (const auto& [name, animation] : animations) {
    cast.animations[name] = {{"frames", animation.frames}, {"fps", animation.fps}};
  }
  return LargestSpr(picture, cast, file_name);
}

DroppedSpr SprOfFile(std::span<const uint8_t> bytes, std::string_view file_name,
                     const DecodeOther& decode) {
  if (LooksLikeSpr(bytes)) {
    ReadSheet(bytes);
    return {Bytes(bytes.begin(), bytes.end())};
  }
  Picture picture = Decoded(bytes, decode);
  CheckFrames(picture);
  const bool is_photo = IsPhoto(bytes, picture);
  if (is_photo) {
    picture = Shrunk(kPhotoSide, picture);
  }
  DroppedSpr dropped{SprOfPicture(picture, file_name)};
  if (const auto cut = WithoutBackground(picture, is_photo)) {
    dropped.other = SprOfPicture(*cut, file_name);
    dropped.is_cut = is_photo;
  }
  if (dropped.is_cut) {
    std::swap(dropped.spr, dropped.other);
  }
  return dropped;
}

Bytes WritePicture(int width, int height, std::span<const uint8_t> rgba) {
  Bytes png;
  const auto append = [](void* bytes, void* more, int size) {
    const auto* first = static_cast<uint8_t*>(more);
    static_cast<Bytes*>(bytes)->insert(static_cast<Bytes*>(bytes)->end(), first, first + size);
  };
  if (stbi_write_png_to_func(append, &png, width, height, kChannels, rgba.data(),
                             width * kChannels) == 0) {
    throw SprRefused("file", Text::kSheetNoMemory);
  }
  return png;
}

Bytes WriteSheet(int width, int height, std::span<const uint8_t> rgba, std::string_view json) {
  const Bytes png = WritePicture(width, height, rgba);
  Png container = ReadPng(png);
  std::string text("sprite\0\0\0\0\0", 11);
  text += json;
  container.chunks.insert(container.chunks.begin() + 1, {"iTXt", AsBytes(text)});
  return WritePng(container.chunks);
}

}  // namespace sprites
