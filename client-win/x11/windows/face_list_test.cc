#include "x11/windows/face_list.h"

#include <doctest/doctest.h>

namespace sprites {
namespace {

TEST_CASE("face list › faces: one less than the limit, the limit; one more is not opened") {
  FaceList<const int*> faces;
  const int face = 0;
  size_t opened = 0;
  const auto open = [&] {
    opened++;
    return &face;
  };
  for (size_t number = 0; number <= kFacesMax; number++) {
    CHECK((faces.Find(number, open) != nullptr) == (number < kFacesMax));
    CHECK(opened == std::min(number + 1, kFacesMax));
  }
  CHECK(faces.Find(0, open) == &face);  // those that are open stay
  CHECK(opened == kFacesMax);
  size_t closed = 0;
  faces.CloseAll([&](const int*) { closed++; });
  CHECK(closed == kFacesMax);
}

TEST_CASE("face list › a face that can't be opened takes no room") {
  FaceList<const int*> faces;
  const int face = 0;
  for (size_t number = 0; number <= kFacesMax; number++) {
    CHECK(faces.Find(number, []() -> const int* { return nullptr; }) == nullptr);
  }
  CHECK(faces.Find(0, [&] { return &face; }) == &face);
}

}  // namespace
}  // namespace sprites
