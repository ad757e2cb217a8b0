#include "core/picture/packs/pack.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/picture/cutout.h"
#include "core/picture/png.h"

namespace sprites {

namespace {

constexpr size_t kPngSizeEnd = 24;  // signature, length and type of IHDR, width, height

// The size that the header of a PNG gives.
std::pair<uint32_t, uint32_t> SizeOf(std::span<const uint8_t> bytes, const std::string& path) {
  if (!AsText(bytes).starts_with(kPngSignature) || bytes.size() < kPngSizeEnd) {
    throw PictureRefused(Text::kPicturePackNoPng, {path});
  }
  return {BigEndian(bytes, 16), BigEndian(bytes, 20)};
}

// Mascots look to the left, unless a pose has a picture for the right as well, and sprites to the
// right. REQUIRES: the picture lies on the canvas.
PictureFrame FrameOf(const Picture& picture, bool looks_right, std::pair<int, int> place,
                     const PackLayout& canvas) {
  PictureFrame frame{Bytes(size_t{4} * canvas.width * canvas.height)};
  const auto pixel_at = [](int width, int column, int row) {
    return (static_cast<size_t>(row) * width + column) * kChannels;
  };
  for (int row = 0; row < picture.height; row++) {
    for (int column = 0; column < picture.width; column++) {
      const auto* from = &picture.frames[0].rgba[pixel_at(picture.width, column, row)];
      std::copy(from, from + kChannels,
                &frame.rgba[pixel_at(
                    canvas.width, place.first + (looks_right ? column : picture.width - 1 - column),
                    place.second + row)]);
    }
  }
  return frame;
}

std::vector<std::string> PathsOf(const PackFiles& files) {
  std::vector<std::string> paths;
  for (const auto& [path, read] : files) {
    paths.push_back(path);
  }
  return paths;
}

}  // namespace

PackLayout LayOutCells(std::span<const PackBox> boxes) {
  int64_t left = INT64_MAX;
  int64_t top = INT64_MAX;
  int64_t right = INT64_MIN;
  int64_t bottom = INT64_MIN;
  for (const PackBox& box : boxes) {
    left = std::min(left, box.x - box.width);
    right = std::max<int64_t>(right, box.x);
    top = std::min<int64_t>(top, -box.y);
    bottom = std::max(bottom, box.height - box.y);
  }
  const int64_t width = right - left;
  const int64_t height = bottom - top;
  if (width > kPackPixelsMax || height > kPackPixelsMax ||
      width * height * std::ssize(boxes) > kPackPixelsMax) {
    throw PictureRefused(Text::kPicturePackTooLarge, {std::to_string(kPackPixelsMax)});
  }
  PackLayout layout{static_cast<int>(width), static_cast<int>(height), {}};
  for (const PackBox& box : boxes) {
    layout.places.emplace_back(static_cast<int>(box.x - box.width - left),
                               static_cast<int>(-box.y - top));
  }
  return layout;
}

PackSprite ReadPack(const PackFiles& files) {
  const std::vector<std::string> paths = PathsOf(files);
  const std::string actions = ActionsIn(paths);
  if (actions.empty()) {
    throw PictureRefused(Text::kPicturePackNoActions);
  }
  Bytes xml;
  try {
    xml = files.at(actions)(kActionsBytesMax);
  } catch (const PictureRefused&) {
    throw PictureRefused(Text::kPicturePackBroken);
  }
  const PackPlan plan = PlanOf(AsText(xml), paths);
  std::map<std::string, Bytes> pictures;
  std::vector<PackBox> boxes;
  for (const PackCell& cell : plan.cells) {
    const auto [picture, is_new] = pictures.try_emplace(cell.image);
    if (is_new) {
      picture->second = files.at(cell.image)(kPackPictureBytesMax);
    }
    const auto [width, height] = SizeOf(picture->second, cell.image);
    boxes.push_back({cell.x, cell.y, width, height});
  }
  LayOutCells(boxes);  // refuses what is too large to be decoded
  const auto decoded = [&](const PackCell& cell) {
    return DecodePicture(pictures[cell.image], size_t{kPackPixelsMax});
  };
  const auto standing = ContentBox(decoded(plan.cells[0]));
  if (!standing) {
    throw PictureRefused(Text::kPicturePackNoStand);
  }
  for (size_t i = 0; i < boxes.size(); i++) {
    boxes[i].y += plan.cells[i].hangs ? plan.cells[0].y - standing->top : 0;
  }
  const PackLayout layout = LayOutCells(boxes);
  PackSprite sprite{{layout.width, layout.height, {}}, {}, plan.animations, plan.left_out};
  for (size_t i = 0; i < plan.cells.size(); i++) {
    sprite.picture.frames.push_back(
        FrameOf(decoded(plan.cells[i]), plan.cells[i].looks_right, layout.places[i], layout));
  }
  sprite.body = *ContentBox({layout.width, layout.height, {sprite.picture.frames[0]}});
  return sprite;
}

}  // namespace sprites
