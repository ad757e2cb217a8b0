#include "core/scene/frame_atlas.h"

#include <doctest/doctest.h>

#include <random>

namespace sprites {
namespace {

// Counts the surfaces that exist, as Windows counts GDI handles.
struct Memory {
  class CountedSurface : public Surface {
   public:
    CountedSurface(Memory* memory, int width, int height)
        : memory_(memory), pixels_(size_t(width) * size_t(height)) {
      memory_->bytes += 4 * pixels_.size();
      memory_->bytes_most = std::max(memory_->bytes_most, memory_->bytes);
      memory_->surfaces_most = std::max(memory_->surfaces_most, ++memory_->surfaces);
    }
    ~CountedSurface() override {
      memory_->bytes -= 4 * pixels_.size();
      memory_->surfaces--;
    }
    uint32_t* Pixels() override {
      memory_->drawn++;
      return pixels_.data();
    }

   private:
    Memory* memory_;
    std::vector<uint32_t> pixels_;
  };

  FrameAtlas::MakeSurface Maker() {
    return [this](int width, int height) -> std::unique_ptr<Surface> {
      return is_short ? nullptr : std::make_unique<CountedSurface>(this, width, height);
    };
  }

  bool is_short = false;
  size_t surfaces = 0;
  size_t surfaces_most = 0;
  size_t bytes = 0;
  size_t bytes_most = 0;
  int drawn = 0;
};

// A sheet of `cells` cells side by side; the pixels of cell n are of the colour n.
SheetPointer SheetOf(int cells, int side) {
  auto sheet = std::make_shared<Sheet>();
  sheet->description.frame_width = sheet->description.frame_height = side;
  sheet->width = cells * side;
  sheet->height = side;
  sheet->rgba.resize(size_t{4} * sheet->width * side);
  for (int y = 0; y < side; y++) {
    for (int x = 0; x < sheet->width; x++) {
      uint8_t* pixel = &sheet->rgba[size_t{4} * (size_t(y) * sheet->width + x)];
      pixel[0] = static_cast<uint8_t>(x / side);
      pixel[1] = static_cast<uint8_t>(x / side >> 8);
      pixel[2] = static_cast<uint8_t>(x % side);
      pixel[3] = 255;
    }
  }
  return sheet;
}

DrawnSprite Drawn(const SheetPointer& sheet, int cell, int side, bool mirrored = false) {
  return {1, sheet, cell, 0, 0, side, side, mirrored, true};
}

uint32_t FirstPixel(const FrameAtlas::Frame& frame, int side) {
  return frame.surface->Pixels()[size_t(frame.top) * size_t(side)];
}

TEST_CASE("frame atlas › has one surface for many frames, and draws each frame once") {
  Memory memory;
  FrameAtlas atlas(memory.Maker());
  const SheetPointer sheet = SheetOf(512, 2);
  for (int round = 0; round < 3; round++) {
    for (int cell = 0; cell < 512; cell++) {
      REQUIRE(atlas.Find(Drawn(sheet, cell, 4)).surface != nullptr);
    }
  }
  CHECK(memory.drawn == 512);
  CHECK(memory.surfaces == 1);
  for (const int cell : {0, 1, 300, 511}) {
    const uint32_t expected = 0xFF000000 | static_cast<uint32_t>(cell & 0xFF) << 16 |
                              static_cast<uint32_t>(cell >> 8) << 8;
    CHECK(FirstPixel(atlas.Find(Drawn(sheet, cell, 4)), 4) == expected);
    CHECK(FirstPixel(atlas.Find(Drawn(sheet, cell, 4, true)), 4) == (expected | 1));
  }
  CHECK(memory.surfaces == 2);
}

TEST_CASE("frame atlas › stays within its limits with 20 hostile sheets of 512 frames") {
  Memory memory;
  FrameAtlas atlas(memory.Maker());
  std::vector<SheetPointer> sheets;
  for (int i = 0; i < 20; i++) {
    sheets.push_back(SheetOf(512, 1));
  }
  std::mt19937 engine(1);
  for (int i = 0; i < 8'000; i++) {
    // From 16 to 1024 px: what a frame can be on screens of any scale. Large ones are slow to draw.
    const int side = engine() % 64 == 0 ? 1024 : 16 << engine() % 4;
    const auto& sheet = sheets[engine() % sheets.size()];
    const auto frame = atlas.Find(Drawn(sheet, static_cast<int>(engine() % 512), side));
    REQUIRE(frame.surface != nullptr);
  }
  CHECK(memory.surfaces_most <= kSurfacesMax);
  CHECK(memory.bytes_most <= kSurfaceBytesMax);
  CHECK(memory.bytes == atlas.bytes());
  CHECK(memory.surfaces == atlas.surfaces());
}

TEST_CASE("frame atlas › has at most so many surfaces, and drops the least recently used") {
  Memory memory;
  FrameAtlas atlas(memory.Maker());
  std::vector<SheetPointer> sheets;
  for (size_t i = 0; i <= kSurfacesMax; i++) {
    sheets.push_back(SheetOf(1, 1));
  }
  for (size_t i = 0; i < kSurfacesMax; i++) {
    atlas.Find(Drawn(sheets[i], 0, 2));
  }
  CHECK(memory.surfaces == kSurfacesMax);
  atlas.Find(Drawn(sheets[0], 0, 2));
  atlas.Find(Drawn(sheets[kSurfacesMax], 0, 2));
  CHECK(memory.surfaces == kSurfacesMax);
  const int drawn = memory.drawn;
  atlas.Find(Drawn(sheets[0], 0, 2));
  CHECK(memory.drawn == drawn);
  atlas.Find(Drawn(sheets[1], 0, 2));
  CHECK(memory.drawn == drawn + 1);
}

TEST_CASE("frame atlas › shows a frame that alone is larger than the limit") {
  Memory memory;
  FrameAtlas atlas(memory.Maker());
  const SheetPointer sheet = SheetOf(2, 1);
  atlas.Find(Drawn(sheet, 0, 64));
  const int side = 4'200;
  static_assert(size_t{4} * 4'200 * 4'200 > kSurfaceBytesMax);
  for (const int cell : {0, 1}) {
    CHECK(atlas.Find(Drawn(sheet, cell, side)).surface != nullptr);
    CHECK(memory.surfaces == 1);
  }
}

TEST_CASE("frame atlas › does not keep a sheet in memory, nor frames of one that has gone") {
  Memory memory;
  FrameAtlas atlas(memory.Maker());
  SheetPointer sheet = SheetOf(4, 8);
  const SheetPointer other = SheetOf(4, 8);
  atlas.Find(Drawn(sheet, 0, 8));
  atlas.Find(Drawn(other, 0, 8));
  const std::weak_ptr<const Sheet> watched = sheet;
  sheet.reset();
  CHECK(watched.expired());
  atlas.DropUnused();
  CHECK(memory.surfaces == 1);
  const int drawn = memory.drawn;
  atlas.Find(Drawn(other, 0, 8));
  CHECK(memory.drawn == drawn);
}

TEST_CASE(
    "frame atlas › returns nothing while memory is short, and the frame when it no longer is") {
  Memory memory;
  memory.is_short = true;
  FrameAtlas atlas(memory.Maker());
  const SheetPointer sheet = SheetOf(4, 8);
  CHECK(atlas.Find(Drawn(sheet, 0, 8)).surface == nullptr);
  CHECK(atlas.bytes() == 0);
  memory.is_short = false;
  CHECK(atlas.Find(Drawn(sheet, 0, 8)).surface != nullptr);
  CHECK(atlas.Find(Drawn(sheet, 4, 8)).surface == nullptr);  // a cell that the sheet does not have
}

TEST_CASE("frame atlas › keeps a silhouette apart from the picture") {
  Memory memory;
  FrameAtlas atlas(memory.Maker());
  const SheetPointer sheet = SheetOf(4, 1);
  DrawnSprite drawn = Drawn(sheet, 0, 8);
  Surface* picture = atlas.Find(drawn).surface;
  drawn.is_silhouette = true;
  CHECK(atlas.Find(drawn).surface != picture);
  drawn.crop = Crop{1, 1, 2, 2};  // the frame stays whole
  const int drawn_before = memory.drawn;
  CHECK(atlas.Find(drawn).surface != picture);
  CHECK(memory.drawn == drawn_before);
}

TEST_CASE("frame atlas › draws a frame with each opacity, all its parts times that") {
  const SheetPointer sheet = SheetOf(4, 1);
  DrawnSprite drawn = Drawn(sheet, 0, 8);
  std::vector<uint32_t> opaque(64);
  std::vector<uint32_t> pixels(64);
  DrawFrame(drawn, opaque.data());
  for (const int opacity : {0, 30, 99}) {
    drawn.opacity = opacity;
    DrawFrame(drawn, pixels.data());
    for (size_t i = 0; i < pixels.size(); i++) {
      for (int shift = 0; shift < 32; shift += 8) {
        const double part = (opaque[i] >> shift & 255) * opacity / 100.0;
        CHECK(std::abs((pixels[i] >> shift & 255) - part) <= 1.5);  // it is rounded twice
      }
    }
  }
  Memory memory;
  FrameAtlas atlas(memory.Maker());
  Surface* faint = atlas.Find(drawn).surface;
  drawn.opacity = kOpacityMax;
  CHECK(atlas.Find(drawn).surface != faint);
}

}  // namespace
}  // namespace sprites
