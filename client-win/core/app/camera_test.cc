#include "core/app/camera.h"

#include <doctest/doctest.h>

#include <condition_variable>
#include <fstream>
#include <random>

#include "core/picture/picture.h"
#include "test/core/test_spr.h"

namespace sprites {
namespace {

constexpr WallClock kNoon{1'795'867'200, 1'795'867'200 + 3'600};  // 2026-11-28 12:00 in Greenwich

// A camera that saves into a folder of its own.
struct Studio {
  Studio() {
    scene.sprites.push_back(Draw({}, ReadSheet(TestSpr(1)), {{}, {}, 1, true}, 1, false, 0));
  }
  ~Studio() { std::filesystem::remove_all(folder.parent_path()); }

  SavedPicture Await() {
    std::unique_lock lock(mutex);
    woken.wait(lock, [this] { return is_woken; });
    is_woken = false;
    const auto saved = camera.PopSaved();
    REQUIRE(saved);
    CHECK(!camera.is_busy());
    return *saved;
  }
  SavedPicture Photograph() {
    camera.Photograph(scene, {}, kNoon);
    CHECK(camera.is_busy());
    return Await();
  }
  Picture Animation() {
    camera.Animate({}, kNoon);
    std::ifstream file(Await().file, std::ios::binary);
    return DecodePicture(Bytes(std::istreambuf_iterator<char>(file), {}));
  }
  // The sprite is somewhere else from `ms` on.
  void Move(int64_t ms) {
    scene.sprites[0].x += 10;
    camera.Watch(scene, ms);
  }

  std::filesystem::path folder = std::filesystem::temp_directory_path() /
                                 ("sprites-" + std::to_string(std::random_device{}())) / "Pictures";
  std::mutex mutex;
  std::condition_variable woken;
  bool is_woken = false;
  bool can_write = true;
  Scene scene;
  Camera camera{folder,
                [this](const std::filesystem::path& path, std::string_view bytes) {
                  return can_write && (std::ofstream(path, std::ios::binary) << bytes).good();
                },
                [this] {
                  const std::lock_guard lock(mutex);
                  is_woken = true;
                  woken.notify_all();
                }};
};

TEST_CASE("camera › a file is named by the time on the wall, and replaces none") {
  Studio studio;
  CHECK(studio.Photograph().file == studio.folder / "Sprites 2026-11-28 13.00.00.png");
  CHECK(studio.Photograph().file == studio.folder / "Sprites 2026-11-28 13.00.00 (2).png");
  for (int number = 3; number <= kSameNamesMax; number++) {
    std::ofstream(studio.folder /
                  ("Sprites 2026-11-28 13.00.00 (" + std::to_string(number) + ").png"));
  }
  const SavedPicture none = studio.Photograph();
  REQUIRE(none.error);
  CHECK(none.error->text == Text::kPhotographNotWritten);
}

TEST_CASE("camera › says why there is no picture") {
  Studio studio;
  studio.can_write = false;
  const SavedPicture unsaved = studio.Photograph();
  REQUIRE(unsaved.error);
  CHECK(unsaved.error->text == Text::kPhotographNotWritten);
  CHECK(unsaved.error->values == std::vector<std::string>{studio.folder.string()});
  studio.scene.sprites.clear();
  const SavedPicture unseen = studio.Photograph();
  REQUIRE(unseen.error);
  CHECK(unseen.error->text == Text::kPhotographNothing);
}

TEST_CASE("camera › an animation ends where the menu opened, and the next one where it is chosen") {
  Studio studio;
  studio.Move(0);
  studio.Move(50);
  studio.camera.Focus();
  studio.Move(100);
  studio.Move(150);
  CHECK(studio.Animation().frames.size() == 2);
  CHECK(studio.Animation().frames.size() == 4);
}

TEST_CASE("camera › forgets a menu that has been closed without a choice") {
  for (const int64_t more : {-1, 0, 1}) {
    Studio studio;
    studio.Move(0);
    studio.camera.Focus();
    studio.camera.Watch(studio.scene, 1'000);
    studio.Move(kFocusMs - 50);
    studio.camera.Watch(studio.scene, kFocusMs + more);
    CHECK(studio.Animation().frames.size() == (more > 0 ? 2 : 1));
  }
}

}  // namespace
}  // namespace sprites
