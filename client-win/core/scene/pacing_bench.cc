// Counts the frames that a desktop drops on this machine: N sprites, all thrown about, drawn into
// memory in step with the refreshes of a pretend screen. Time, the timer and the work are real, the
// screen and its compositor are not.
//   pacing-bench [--sprites N] [--seconds S]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <random>
#include <vector>

#include "core/desktop/desktop.h"
#include "core/picture/picture.h"
#include "core/scene/frame_atlas.h"
#include "core/scene/frame_clock.h"
#include "core/scene/window_planner.h"
#include "test/core/pretend_display.h"

namespace sprites {
namespace {

constexpr double kRatesHz[] = {60, 75, 120, 144, 165};
constexpr int kThrowFrames = 30;  // between two throws of all sprites
constexpr int kSecondsMax = 600;

double NowMs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

void SleepUntil(double ms) {
  const auto ns = static_cast<int64_t>(ms * 1e6);
  const timespec until{ns / 1'000'000'000, ns % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
  }
}

class MemorySurface : public Surface {
 public:
  MemorySurface(int width, int height) : pixels_(size_t(width) * size_t(height)) {}
  uint32_t* Pixels() override { return pixels_.data(); }

 private:
  std::vector<uint32_t> pixels_;
};

SheetPointer BenchSheet() {
  const Bytes rgba(size_t{4} * 128 * 32, 255);
  return ReadSheet(WriteSheet(
      128, 32, rgba,
      R"({"format":"spr/1","name":"Bench","frame":{"width":32,"height":32},"animations":{"idle":{"frames":[0,1],"fps":4},"fall":{"frames":[2,3],"fps":8}}})"));
}

void Measure(double hz, int sprites, int seconds) {
  std::mt19937 engine(1);
  const Random random = [&] { return std::uniform_real_distribution<double>(0, 1)(engine); };
  Settings settings;
  settings.sprite_limit = sprites;
  Desktop desktop(settings, random);
  const Rect screen{0, 0, 1920, 1080};
  desktop.look().SetGroundShown(true);
  desktop.look().SetMonitors(std::vector<Monitor>{{screen, screen, 1, true}});
  const SheetPointer sheet = BenchSheet();
  desktop.look().AddToShelf(sheet);
  for (int i = 0; i < sprites; i++) {
    desktop.sprites().DropIn(sheet->file, Point{random() * 1920, 100 + random() * 900});
  }
  WindowPlanner planner;
  WindowPlanner ground_planner;
  FrameAtlas atlas(
      [](int width, int height) { return std::make_unique<MemorySurface>(width, height); });
  FrameClock clock;
  const double start = NowMs();
  PretendDisplay display(hz, start);
  double longest = 0;
  double busy = 0;
  int frames = 0;
  while (NowMs() < start + 1000.0 * seconds) {
    const double began = NowMs();
    clock.BeginTurn(began, display.refresh());
    if (frames++ % kThrowFrames == 0) {
      for (const Sprite& sprite : std::vector<Sprite>(desktop.simulation().sprites())) {
        desktop.sprites().ThrowTo(sprite.id, static_cast<Edge>(engine() % 3));
      }
    }
    const Scene& scene = desktop.Tick(static_cast<int64_t>(began - start));
    desktop.PopOutbox();
    for (const size_t index : planner.Plan(scene.sprites).painted) {
      atlas.Find(scene.sprites[index]);
    }
    for (const size_t index : ground_planner.Plan(scene.ground).painted) {
      atlas.Find(scene.ground[index]);
    }
    const double ended = NowMs();
    display.Complete(ended);
    busy += ended - began;
    longest = std::max(longest, ended - began);
    SleepUntil(clock.EndTurn(ended, scene.idle_ms));
  }
  const double wanted = 1000.0 * seconds / clock.FrameMs();
  const double shown = static_cast<double>(display.shown());
  printf(
      "%d sprites on a screen of %.0f Hz: %.1f frames a second of %.1f; dropped %.0f of %.0f; a "
      "turn takes %.2f ms, the longest %.2f ms\n",
      sprites, hz, shown / seconds, 1000 / clock.FrameMs(), std::max(0.0, wanted - shown), wanted,
      busy / frames, longest);
  fflush(stdout);
}

}  // namespace
}  // namespace sprites

int main(int count, char** words) {
  int sprites = 150;
  int seconds = 5;
  bool is_valid = count % 2 == 1;
  for (int i = 1; is_valid && i < count; i += 2) {
    int* option = strcmp(words[i], "--sprites") == 0   ? &sprites
                  : strcmp(words[i], "--seconds") == 0 ? &seconds
                                                       : nullptr;
    is_valid = option != nullptr;
    if (is_valid) {
      *option = std::atoi(words[i + 1]);
    }
  }
  if (!is_valid || sprites < 1 || sprites > sprites::kSpriteLimitMax || seconds < 1 ||
      seconds > sprites::kSecondsMax) {
    fprintf(stderr, "Usage: pacing-bench [--sprites 1…%d] [--seconds 1…%d]\n",
            sprites::kSpriteLimitMax, sprites::kSecondsMax);
    return 2;
  }
  for (const double hz : sprites::kRatesHz) {
    sprites::Measure(hz, sprites, seconds);
  }
  return 0;
}
