#include "core/picture/picture_versions.h"

#include <doctest/doctest.h>

namespace sprites {
namespace {

DroppedSpr Dropped(size_t number) {
  const auto low = static_cast<uint8_t>(number);
  return {Bytes{1, low}, Bytes{2, low}, true};
}

TEST_CASE("picture versions › each is the other of its other one") {
  PictureVersions versions;
  versions.Add({Bytes{7}});  // without another version
  CHECK(versions.OtherOf(Sha256Hex(Bytes{7})) == nullptr);
  versions.Add(Dropped(1));
  const std::string cut = Sha256Hex(Bytes{1, 1});
  const auto* kept = versions.OtherOf(cut);
  REQUIRE(kept != nullptr);
  CHECK(kept->spr == Bytes{2, 1});
  CHECK(!kept->is_cut);
  const auto* back = versions.OtherOf(kept->file);
  REQUIRE(back != nullptr);
  CHECK(back->file == cut);
  CHECK(back->is_cut);
}

TEST_CASE("picture versions › pictures: one less than the limit, the limit, one more") {
  for (const size_t count : {kVersionsMax - 1, kVersionsMax, kVersionsMax + 1}) {
    PictureVersions versions;
    for (size_t i = 0; i < count; i++) {
      versions.Add(Dropped(i));
      versions.Add(Dropped(i));  // dropped again
    }
    CHECK((versions.OtherOf(Sha256Hex(Bytes{1, 0})) == nullptr) == (count > kVersionsMax));
    CHECK(versions.OtherOf(Sha256Hex(Bytes{1, 1})) != nullptr);
  }
}

}  // namespace
}  // namespace sprites
