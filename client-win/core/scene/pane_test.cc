#include "core/scene/pane.h"

#include <doctest/doctest.h>

#include "core/scene/frame_atlas.h"
#include "test/core/test_spr.h"

namespace sprites {
namespace {

constexpr Rect kWork{0, 0, 1000, 560};

Screen OneMonitor(double scale = 1) {
  return Screen(std::vector<Monitor>{{{0, 0, 1000, 600}, kWork, scale, true}});
}

TEST_CASE("panes › lie along the edge of the work area, as deep as one sees") {
  const auto rect = [](Edge edge, double scale) {
    const auto panes = PanesAlong(edge, OneMonitor(scale));
    REQUIRE(panes.size() == 1);
    return panes[0].rect;
  };
  CHECK(rect(Edge::kLeft, 1) == Rect{0, 0, 320, 560});
  CHECK(rect(Edge::kRight, 1) == Rect{680, 0, 1000, 560});
  CHECK(rect(Edge::kTop, 1) == Rect{0, 0, 1000, 240});
  CHECK(rect(Edge::kBottom, 1) == Rect{0, 320, 1000, 560});
  CHECK(rect(Edge::kLeft, 2) == Rect{0, 0, 400, 560});  // 200 dip
}

TEST_CASE("panes › are on the monitors that end at the edge") {
  const Rect left{0, 0, 1000, 600};
  const Rect right{1000, 0, 2000, 800};
  const Screen screen(std::vector<Monitor>{{left, left, 1, true}, {right, right, 1, false}});
  REQUIRE(PanesAlong(Edge::kLeft, screen).size() == 1);
  CHECK(PanesAlong(Edge::kLeft, screen)[0].monitor == 0);
  REQUIRE(PanesAlong(Edge::kRight, screen).size() == 1);
  CHECK(PanesAlong(Edge::kRight, screen)[0].monitor == 1);
  CHECK(PanesAlong(Edge::kTop, screen).size() == 2);
  CHECK(PanesAlong(Edge::kBottom, screen).size() == 2);  // one higher than the other
}

TEST_CASE("panes › are translucent, with a line where the neighbour's desktop begins") {
  const Pane left = PanesAlong(Edge::kLeft, OneMonitor())[0];
  DrawnSprite drawn = Draw(left, 7);
  CHECK(drawn.id == 7);
  CHECK(drawn.width == 320);
  CHECK(drawn.height == 560);
  std::vector<uint32_t> pixels(320 * 560);
  DrawFrame(drawn, pixels.data());
  CHECK((pixels[319] >> 24) == 255);
  CHECK((pixels[318] >> 24) == 255);
  CHECK((pixels[317] >> 24) < 200);
  CHECK((pixels[0] >> 24) > (pixels[317] >> 24));
  CHECK((pixels[0] >> 24) < 255);
  CHECK(pixels[320 * 559] == pixels[0]);
  const Pane bottom = PanesAlong(Edge::kBottom, OneMonitor())[0];
  drawn = Draw(bottom, 7);
  pixels.resize(1000 * 240);
  DrawFrame(drawn, pixels.data());
  CHECK((pixels[999] >> 24) == 255);
  CHECK((pixels[3 * 1000] >> 24) < 200);
}

TEST_CASE("panes › show only the part of a sprite that is in them") {
  const Pane pane = PanesAlong(Edge::kLeft, OneMonitor())[0];
  DrawnSprite drawn;
  drawn.sheet = ReadSheet(TestSpr(0));
  drawn.y = 100;
  drawn.width = drawn.height = 64;
  drawn.x = 200;
  CHECK(!InPane(drawn, pane)->crop);
  drawn.x = 300;
  auto shown = InPane(drawn, pane);
  REQUIRE(shown);
  CHECK(shown->crop == Crop{0, 0, 20, 64});
  CHECK(shown->Left() == 300);
  drawn.x = -63;
  drawn.y = 559;
  shown = InPane(drawn, pane);
  REQUIRE(shown);
  CHECK(shown->crop == Crop{63, 0, 1, 1});
  CHECK(shown->Left() == 0);
  CHECK(shown->Top() == 559);
  drawn.x = 320;
  CHECK(!InPane(drawn, pane));
  drawn.x = -64;
  CHECK(!InPane(drawn, pane));
  drawn.x = 0;
  drawn.y = 560;
  CHECK(!InPane(drawn, pane));
}

TEST_CASE("panes › of the same places are the same, whatever their pictures") {
  CHECK(IsSamePlace(PanesAlong(Edge::kLeft, OneMonitor()), PanesAlong(Edge::kLeft, OneMonitor())));
  CHECK(!IsSamePlace(PanesAlong(Edge::kLeft, OneMonitor()), PanesAlong(Edge::kTop, OneMonitor())));
  CHECK(
      !IsSamePlace(PanesAlong(Edge::kLeft, OneMonitor()), PanesAlong(Edge::kLeft, OneMonitor(2))));
}

TEST_CASE("silhouettes › have one colour and the shape of the picture") {
  DrawnSprite drawn;
  drawn.sheet = ReadSheet(TestSpr(0));
  drawn.width = drawn.sheet->description.frame_width;
  drawn.height = drawn.sheet->description.frame_height;
  const auto size = static_cast<size_t>(drawn.width) * static_cast<size_t>(drawn.height);
  std::vector<uint32_t> whole(size);
  DrawFrame(drawn, whole.data());
  drawn.is_silhouette = true;
  std::vector<uint32_t> dark(size);
  DrawFrame(drawn, dark.data());
  for (size_t i = 0; i < size; i++) {
    const uint32_t alpha = whole[i] >> 24;
    const auto expected = static_cast<uint32_t>(alpha * kSilhouetteAlpha + 0.5);
    CHECK((dark[i] >> 24) == expected);
    CHECK(((dark[i] >> 16) & 255) == (kSilhouetteColour[0] * expected + 127) / 255);
  }
}

}  // namespace
}  // namespace sprites
