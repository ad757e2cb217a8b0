#include "core/scene/film.h"

#include <doctest/doctest.h>

#include "test/core/test_desktop.h"

namespace sprites {
namespace {

Scene SceneAt(int x, size_t sprites = 1) {
  Scene scene;
  DrawnSprite drawn;
  drawn.sheet = Parcel();
  drawn.x = x;
  scene.sprites.assign(sprites, drawn);
  return scene;
}

TEST_CASE("film › keeps what is seen: the ground below the sprites, nothing hidden or beyond") {
  Scene scene = SceneAt(5);
  scene.ground = SceneAt(4).sprites;
  scene.beyond = SceneAt(3).sprites;
  scene.sprites.push_back(SceneAt(6).sprites[0]);
  scene.sprites[1].visible = false;
  Film film;
  film.Keep(scene, 1'234);
  REQUIRE(film.moments().size() == 1);
  const Moment& moment = film.moments()[0];
  CHECK(moment.at_ms == 1'200);
  REQUIRE(moment.drawn.size() == 2);
  CHECK(moment.drawn[0].x == 4);
  CHECK(moment.drawn[1].x == 5);
}

TEST_CASE("film › a scene like the one before is not kept again") {
  Film film;
  for (int64_t ms = 0; ms <= 60'000; ms += 16) {
    film.Keep(SceneAt(1), ms);
  }
  CHECK(film.moments().size() == 1);
  CHECK(film.moments()[0].at_ms == 0);
  film.Keep(SceneAt(1, 2), 60'000);
  film.Keep(SceneAt(1), 60'050);
  CHECK(film.moments().size() == 3);
}

TEST_CASE("film › has twenty moments a second, each as it was last seen") {
  Film film;
  for (int ms = 0; ms < 1'000; ms++) {
    film.Keep(SceneAt(ms), ms);
  }
  REQUIRE(film.moments().size() == 20);
  CHECK(film.moments()[0].drawn[0].x == 49);
  CHECK(film.moments()[19].drawn[0].x == 999);
}

TEST_CASE("film › a moment goes when the next one has begun five seconds ago") {
  Film film;
  film.Keep(SceneAt(1), 0);
  film.Keep(SceneAt(2), 1'000);
  film.Keep(SceneAt(2), 1'000 + kFilmMs - 1);
  CHECK(film.moments().size() == 2);
  film.Keep(SceneAt(2), 1'000 + kFilmMs);
  CHECK(film.moments().size() == 1);
  CHECK(film.moments()[0].drawn[0].x == 2);
}

TEST_CASE("film › has no more bytes than it may, and drops the oldest moments") {
  constexpr size_t kMost = kFilmBytesMax / sizeof(DrawnSprite) / 2;
  for (const size_t more : {size_t{0}, size_t{1}, size_t{2}}) {
    Film film;
    film.Keep(SceneAt(1, kMost), 0);
    film.Keep(SceneAt(2, kMost - 1 + more), 50);
    CHECK(film.moments().size() == (more < 2 ? 2 : 1));
    CHECK(film.moments().back().drawn[0].x == 2);
  }
  Film film;
  film.Keep(SceneAt(1, 2 * kMost), 0);
  CHECK(film.moments().size() == 1);
  film.Keep(SceneAt(2, 2 * kMost + 1), 50);
  CHECK(film.moments().empty());
  film.Keep(SceneAt(3), 100);
  CHECK(film.moments().size() == 1);
}

TEST_CASE("film › takes nothing while the sprites of a desktop stand still") {
  TestDesktop test;
  test.desktop.look().SetGroundShown(true);
  test.DropInOwn();
  Film film;
  for (int64_t ms = 0; ms < 10'000; ms += 16) {
    film.Keep(test.desktop.Tick(ms), ms);
  }
  const size_t kept = film.moments().size();
  for (int64_t ms = 10'000; ms < 20'000; ms += 16) {
    film.Keep(test.desktop.Tick(ms), ms);
  }
  CHECK(kept == 1);
  CHECK(film.moments().size() == 1);
}

}  // namespace
}  // namespace sprites
