#include "core/picture/cutout.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "core/picture/gif.h"
#include "core/picture/png.h"

namespace sprites {

namespace {

// How much is removed. A photograph has noise, and soft edges.
struct Cut {
  double tolerance;  // of the distance of black and white
  int rim;           // pixels of what stays, where colours of the background shine through
};
constexpr Cut kPhotoCut{0.14, 1};
constexpr Cut kDrawnCut{0.06, 0};

constexpr double kEdgeShareMin = 0.06;  // of the edge: more than a foot that touches it
constexpr size_t kEdgeColoursMax = 8;   // a plain wall has one, a gradient some
constexpr uint8_t kSeeThrough = 8;      // alpha up to which a pixel counts as transparent
constexpr double kFarthest = 764.8;     // the distance of black and white

using Colour = std::array<double, 3>;

const uint8_t* PixelAt(const Picture& picture, size_t at) {
  return picture.frames[0].rgba.data() + at * kChannels;
}

bool HasTransparency(const Picture& picture) {
  for (const PictureFrame& frame : picture.frames) {
    for (size_t alpha = kChannels - 1; alpha < frame.rgba.size(); alpha += kChannels) {
      if (frame.rgba[alpha] <= kSeeThrough) {
        return true;
      }
    }
  }
  return false;
}

// The squared distance of two colours as people see it, in the "redmean" approximation.
double Distance(const uint8_t* pixel, const Colour& colour) {
  const double mean = (pixel[0] + colour[0]) / 2;
  const double red = pixel[0] - colour[0];
  const double green = pixel[1] - colour[1];
  const double blue = pixel[2] - colour[2];
  return (2 + mean / 256) * (red * red) + 4 * (green * green) +
         (2 + (255 - mean) / 256) * (blue * blue);
}

// The pixels along the four edges. One at two edges of a single line is there twice.
std::vector<size_t> EdgePixels(const Picture& picture) {
  const auto width = static_cast<size_t>(picture.width);
  const auto height = static_cast<size_t>(picture.height);
  std::vector<size_t> edge;
  edge.reserve(2 * (width + height));
  for (size_t x = 0; x < width; x++) {
    edge.push_back(x);
    edge.push_back((height - 1) * width + x);
  }
  for (size_t y = 1; y + 1 < height; y++) {
    edge.push_back(y * width);
    edge.push_back(y * width + width - 1);
  }
  return edge;
}

// The usual colours of the edge: the means of its commonest groups of like colours.
std::vector<Colour> EdgeColours(const Picture& picture, const std::vector<size_t>& edge) {
  struct Group {
    int key;
    int count;
    std::array<int64_t, 3> sum;
  };
  std::vector<Group> groups;  // in the order in which they come
  for (const size_t at : edge) {
    const uint8_t* pixel = PixelAt(picture, at);
    const int key = (pixel[0] >> 4) << 8 | (pixel[1] >> 4) << 4 | pixel[2] >> 4;
    auto group = std::ranges::find(groups, key, &Group::key);
    if (group == groups.end()) {
      groups.push_back({key, 0, {}});
      group = groups.end() - 1;
    }
    group->count++;
    for (size_t channel = 0; channel < 3; channel++) {
      group->sum[channel] += pixel[channel];
    }
  }
  const double least = static_cast<double>(edge.size()) * kEdgeShareMin;
  std::erase_if(groups, [least](const Group& group) { return group.count < least; });
  std::ranges::stable_sort(groups, std::ranges::greater{}, &Group::count);
  std::vector<Colour> colours;
  for (const Group& group : groups) {
    if (colours.size() < kEdgeColoursMax) {
      const double count = group.count;
      colours.push_back({static_cast<double>(group.sum[0]) / count,
                         static_cast<double>(group.sum[1]) / count,
                         static_cast<double>(group.sum[2]) / count});
    }
  }
  return colours;
}

// Calls `visit` with the neighbours of a pixel: those beside it, above it and below it.
template <class Visit>
void ForNeighbours(const Picture& picture, size_t at, Visit visit) {
  const auto width = static_cast<size_t>(picture.width);
  const size_t x = at % width;
  if (x > 0) {
    visit(at - 1);
  }
  if (x + 1 < width) {
    visit(at + 1);
  }
  if (at >= width) {
    visit(at - width);
  }
  if (at + width < width * static_cast<size_t>(picture.height)) {
    visit(at + width);
  }
}

// Which pixels are connected with the edge and have about one of its colours.
std::vector<bool> BackgroundOf(const Picture& picture, double tolerance) {
  const std::vector<size_t> edge = EdgePixels(picture);
  const std::vector<Colour> colours = EdgeColours(picture, edge);
  const double limit = (tolerance * kFarthest) * (tolerance * kFarthest);
  const size_t count = static_cast<size_t>(picture.width) * static_cast<size_t>(picture.height);
  std::vector<bool> seen(count);
  std::vector<bool> removed(count);
  std::vector<size_t> waiting;
  const auto visit = [&](size_t at) {
    if (seen[at]) {
      return;
    }
    seen[at] = true;
    const uint8_t* pixel = PixelAt(picture, at);
    if (std::ranges::any_of(
            colours, [&](const Colour& colour) { return Distance(pixel, colour) <= limit; })) {
      removed[at] = true;
      waiting.push_back(at);
    }
  };
  std::ranges::for_each(edge, visit);
  while (!waiting.empty()) {
    const size_t at = waiting.back();
    waiting.pop_back();
    ForNeighbours(picture, at, visit);
  }
  return removed;
}

// Marks the pixels beside those that are marked. The picture's edge is not a rim: a body that is
// cut off there stays whole.
void Grow(const Picture& picture, std::vector<bool>* removed) {
  const std::vector<bool> before = *removed;
  for (size_t at = 0; at < before.size(); at++) {
    ForNeighbours(picture, at, [&](size_t beside) {
      if (before[beside]) {
        (*removed)[at] = true;
      }
    });
  }
}

}  // namespace

bool IsPhoto(std::span<const uint8_t> file, const Picture& picture) {
  const bool may_be_drawn = IsGif(file) || AsText(file).starts_with(kPngSignature);
  return picture.frames.size() == 1 &&
         (!may_be_drawn || int64_t{picture.width} * picture.height > kDrawnPixelsMax);
}

std::optional<Picture> WithoutBackground(const Picture& picture, bool is_photo) {
  if (picture.frames.size() != 1 || HasTransparency(picture)) {
    return std::nullopt;
  }
  const Cut& cut = is_photo ? kPhotoCut : kDrawnCut;
  std::vector<bool> removed = BackgroundOf(picture, cut.tolerance);
  for (int step = 0; step < cut.rim; step++) {
    Grow(picture, &removed);
  }
  const auto count = std::ranges::count(removed, true);
  if (count == 0 || count == std::ssize(removed)) {
    return std::nullopt;
  }
  Picture rest = picture;
  for (size_t at = 0; at < removed.size(); at++) {
    if (removed[at]) {
      rest.frames[0].rgba[at * kChannels + 3] = 0;
    }
  }
  return rest;
}

std::optional<Box> ContentBox(const Picture& picture) {
  int left = picture.width;
  int top = picture.height;
  int right = 0;
  int bottom = 0;
  for (const PictureFrame& frame : picture.frames) {
    for (int y = 0; y < picture.height; y++) {
      const uint8_t* alpha = frame.rgba.data() + size_t(y) * picture.width * kChannels + 3;
      for (int x = 0; x < picture.width; x++, alpha += kChannels) {
        if (*alpha > 0) {
          left = std::min(left, x);
          right = std::max(right, x + 1);
          top = std::min(top, y);
          bottom = std::max(bottom, y + 1);
        }
      }
    }
  }
  return right == 0 ? std::nullopt : std::optional<Box>({left, top, right - left, bottom - top});
}

Picture Trimmed(const Picture& picture) {
  const Box box = ContentBox(picture).value_or(Box{0, 0, picture.width, picture.height});
  Picture trimmed{box.width, box.height, {}};
  for (const PictureFrame& frame : picture.frames) {
    Bytes rgba;
    rgba.reserve(size_t(box.width) * box.height * kChannels);
    for (int y = box.top; y < box.top + box.height; y++) {
      const auto row = frame.rgba.begin() + (ptrdiff_t{y} * picture.width + box.left) * kChannels;
      rgba.insert(rgba.end(), row, row + ptrdiff_t{box.width} * kChannels);
    }
    trimmed.frames.push_back({std::move(rgba), frame.delay_ms});
  }
  return trimmed;
}

}  // namespace sprites
