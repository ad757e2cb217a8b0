// libFuzzer target: any bytes are read as an archive, and as the actions of a pack, or are rejected
// with a sentence.
#include <cstdlib>
#include <string_view>

#include "core/picture/packs/pack.h"
#include "core/picture/png.h"

namespace {

void Require(bool condition) {
  if (!condition) {
    abort();
  }
}

template <class Act>
void Try(Act act) {
  try {
    act();
  } catch (const sprites::PictureRefused& refused) {
    Require(std::string_view(refused.what()).ends_with('.'));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span bytes(data, size);
  Try([&] {
    const sprites::PackFiles files = sprites::FilesOfZip(bytes);
    for (const auto& [path, read] : files) {
      Try([&, &file = read] {
        Require(file(sprites::kPackPictureBytesMax).size() <= sprites::kPackPictureBytesMax);
      });
    }
    const sprites::PackSprite sprite = sprites::ReadPack(files);
    Require(!sprite.picture.frames.empty());
    sprites::ReadSheet(sprites::SprOfPack(sprite, "fuzz.zip"));
  });
  Try([&] {
    const std::string paths[] = {"img/shime1.png", "img/shime2.png"};
    const sprites::PackPlan plan = sprites::PlanOf(sprites::AsText(bytes), paths);
    for (const auto& [name, animation] : plan.animations) {
      Require(!animation.frames.empty() && animation.frames.size() <= sprites::kFramesMax);
      for (const uint16_t frame : animation.frames) {
        Require(frame < plan.cells.size());
      }
    }
  });
  return 0;
}
