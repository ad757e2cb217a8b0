// libFuzzer target: any file is read as a .spr or rejected, within the limits, and every sheet that
// is read can be drawn without a check. The CRCs are corrected first; else most inputs would fail
// there.
#include <algorithm>
#include <cstdlib>

#include "core/motion/behaviour.h"
#include "core/picture/png.h"
#include "core/picture/sheet.h"

namespace {

void Require(bool condition) {
  if (!condition) {
    abort();
  }
}

// The file with correct CRCs, as far as its chunks are complete.
sprites::Bytes WithRightCrcs(const uint8_t* bytes, size_t size) {
  sprites::Bytes file(bytes, bytes + size);
  for (size_t at = 8; at + 12 <= size;) {
    const size_t length =
        size_t{file[at]} << 24 | file[at + 1] << 16 | file[at + 2] << 8 | file[at + 3];
    if (length > size - at - 12) {
      break;
    }
    const uint32_t crc = sprites::Crc32(std::span(file).subspan(at + 4, 4 + length));
    for (int i = 0; i < 4; i++) {
      file[at + 8 + length + i] = static_cast<uint8_t>(crc >> (24 - 8 * i));
    }
    at += 12 + length;
  }
  return file;
}

void Draw(const sprites::Sheet& sheet) {
  const auto& description = sheet.description;
  Require(sheet.rgba.size() == static_cast<size_t>(sheet.width) * sheet.height * 4);
  Require(sheet.width % description.frame_width == 0);
  const int cells = sheet.Columns() * (sheet.height / description.frame_height);
  for (const sprites::AnimationRules& rules : sprites::AnimationTable()) {
    for (const double elapsed : {0.0, 333.0, 1e12}) {
      const int cell = sprites::CellOf(description, rules.name, elapsed);
      Require(cell >= 0 && cell < cells);
    }
  }
  const sprites::Nature nature = sprites::NatureOf(description, 1e9);
  Require(nature.width > 0 && nature.width <= sprites::kShownSideMax);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const sprites::Bytes file = WithRightCrcs(bytes, size);
  try {
    Draw(*sprites::ReadSheet(file));
  } catch (const sprites::SprRefused& refused) {
    Require(!refused.part().empty());
  }
  return 0;
}
