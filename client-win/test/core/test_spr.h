// Sprite files made for tests.
#ifndef CLIENT_WIN_TEST_CORE_TEST_SPR_H_
#define CLIENT_WIN_TEST_CORE_TEST_SPR_H_

#include <string>

#include "core/picture/picture.h"
#include "core/picture/png.h"
#include "core/picture/sheet.h"
#include "core/text/json.h"

namespace sprites {

inline Json UsualDescription(int frame_width, int frame_height) {
  return {{"format", "spr/1"},
          {"name", "Test"},
          {"frame", {{"width", frame_width}, {"height", frame_height}}},
          {"animations", {{"idle", {{"frames", {0}}, {"fps", 4}}}}}};
}

// A sheet of one colour. Files with different seeds have different hashes.
inline Bytes TestSpr(int width, int height, const Json& description, uint8_t seed = 0) {
  Bytes rgba(static_cast<size_t>(width) * height * 4, 255);
  rgba[0] = seed;
  return WriteSheet(width, height, rgba, WriteJson(description));
}

inline Bytes TestSpr(uint8_t seed = 0) { return TestSpr(8, 8, UsualDescription(8, 8), seed); }

}  // namespace sprites

#endif  // CLIENT_WIN_TEST_CORE_TEST_SPR_H_
