// Measures a tick: ms of CPU for 150 sprites that all move, and for 150 that all rest, with 40
// windows and two monitors. Prints one line each; `--sprites N` sets another number.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "core/desktop/desktop.h"
#include "core/picture/picture.h"

namespace sprites {
namespace {

constexpr int kFrames = 6'000;  // a hundred seconds at 60 a second
constexpr int kWarmUpFrames = 300;
constexpr double kFrameMs = 1000.0 / 60;

double CpuMs() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& time) { return time.tv_sec * 1e3 + time.tv_usec / 1e3; };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

SheetPointer SomeSheet() {
  const Bytes rgba(size_t{4} * 32 * 32, 255);
  return ReadSheet(WriteSheet(
      32, 32, rgba,
      R"({"format":"spr/1","name":"Bench","frame":{"width":32,"height":32},"animations":{"idle":{"frames":[0],"fps":4}}})"));
}

void Measure(const char* what, int sprites, bool moving) {
  std::mt19937 engine(1);
  const Random random = [&] { return std::uniform_real_distribution<double>(0, 1)(engine); };
  Settings settings;
  settings.sprite_limit = sprites;
  settings.calm = !moving;
  Desktop desktop(settings, random);
  desktop.look().SetGroundShown(true);
  const Rect left{0, 0, 1920, 1080};
  const Rect right{1920, 0, 3840, 1080};
  desktop.look().SetMonitors(std::vector<Monitor>{{left, left, 1, true}, {right, right, 1, false}});
  std::vector<WindowArea> windows;
  for (uint64_t i = 0; i < 40; i++) {
    const double x = random() * 3000;
    const double y = 100 + random() * 800;
    windows.push_back({i + 1, {x, y, x + 500, y + 400}});
  }
  desktop.look().SetWindows(windows);
  const SheetPointer sheet = SomeSheet();
  desktop.look().AddToShelf(sheet);
  for (int i = 0; i < sprites; i++) {
    desktop.sprites().DropIn(sheet->file, Point{random() * 3800, 100 + random() * 800});
  }
  double start = 0;
  for (int frame = -kWarmUpFrames; frame < kFrames; frame++) {
    if (frame == 0) {
      start = CpuMs();
    }
    if (moving && frame % 30 == 0) {
      // There is no connection, so every throw bounces and all sprites stay in the air.
      for (const Sprite& sprite : std::vector<Sprite>(desktop.simulation().sprites())) {
        desktop.sprites().ThrowTo(sprite.id, static_cast<Edge>(engine() % 3));
      }
    }
    desktop.Tick(static_cast<int64_t>((frame + kWarmUpFrames) * kFrameMs));
    desktop.PopOutbox();
  }
  printf("%d sprites, %s: %.4f ms of CPU a tick\n", sprites, what, (CpuMs() - start) / kFrames);
}

}  // namespace
}  // namespace sprites

int main(int count, char** words) {
  const bool is_given = count == 3 && strcmp(words[1], "--sprites") == 0;
  const int sprites = is_given ? std::atoi(words[2]) : 150;
  if ((count != 1 && !is_given) || sprites < 1 || sprites > sprites::kSpriteLimitMax) {
    fprintf(stderr, "Usage: ticks-bench [--sprites 1…%d]\n", sprites::kSpriteLimitMax);
    return 2;
  }
  sprites::Measure("all thrown about", sprites, true);
  sprites::Measure("at rest", sprites, false);
}
