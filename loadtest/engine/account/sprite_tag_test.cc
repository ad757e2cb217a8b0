#include "account/sprite_tag.h"

#include <doctest/doctest.h>

#include <string>

namespace swarm {

TEST_CASE("sprite tag: is read as it was written, at both ends of every field") {
  for (const bool high : {false, true}) {
    for (const Edge edge : {Edge::kLeft, Edge::kRight, Edge::kTop, Edge::kBottom}) {
      const SpriteTag tag = {high ? UINT32_MAX : 0,   high ? kSlicesMax : 0, high ? kNumberMax : 0,
                             high ? kDesktopsMax : 0, high ? INT64_MAX : 0,  edge};
      std::string name(kSpriteTagBytes, '?');
      WriteSpriteTag(tag, name.data());
      CHECK_EQ(name.find('?'), std::string::npos);
      SpriteTag read;
      CHECK(ReadSpriteTag(name + "padding", &read));
      CHECK_EQ(read.run, tag.run);
      CHECK_EQ(read.slice, tag.slice);
      CHECK_EQ(read.number, tag.number);
      CHECK_EQ(read.desktop, tag.desktop);
      CHECK_EQ(read.due_ns, tag.due_ns);
      CHECK(read.edge == tag.edge);
    }
  }
}

TEST_CASE("sprite tag: is not read from any other name") {
  SpriteTag tag;
  std::string name(kSpriteTagBytes, '?');
  WriteSpriteTag({1, 2, 3, 4, 5, Edge::kTop}, name.data());
  CHECK(!ReadSpriteTag("", &tag));
  CHECK(!ReadSpriteTag("Blob", &tag));
  CHECK(!ReadSpriteTag(name.substr(0, kSpriteTagBytes - 1), &tag));
  for (size_t i = 0; i < name.size(); ++i) {
    std::string other = name;
    other[i] = '!';
    CHECK(!ReadSpriteTag(other, &tag));
  }
}

TEST_CASE("sprite tag: a sprite that leaves by an edge enters by the opposite one") {
  CHECK(Opposite(Edge::kLeft) == Edge::kRight);
  CHECK(Opposite(Edge::kRight) == Edge::kLeft);
  CHECK(Opposite(Edge::kTop) == Edge::kBottom);
  CHECK(Opposite(Edge::kBottom) == Edge::kTop);
}

}  // namespace swarm
