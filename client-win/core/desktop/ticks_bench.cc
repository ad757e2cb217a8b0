// Measures a tick: ms of CPU for 150 sprites that all move, and for 150 that all rest, with 40
// windows and two monitors. Prints one line each; `--sprites N` sets another number.
//
// With `--calls` it counts instead what an idle desktop asks of Windows, in ten minutes that it
// simulates: how often a picture changes (UpdateLayeredWindow) and a window moves or is restacked
// (an entry of DeferWindowPos), for sprites that stand, walk, sleep and do something else. The same
// code gives the same numbers on every machine.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "core/desktop/desktop.h"
#include "core/picture/picture.h"
#include "core/scene/composition.h"
#include "core/scene/window_planner.h"

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

constexpr double kCallsMs = 600'000;  // counted, after a minute in which all have landed
constexpr double kLandingMs = 60'000;

enum class Doing : uint8_t { kStands, kWalks, kSleeps, kElse };
constexpr const char* kDoings[] = {"stands", "walks", "sleeps", "does something else"};

Doing DoingOf(const Sprite* sprite) {
  return sprite == nullptr              ? Doing::kElse
         : sprite->mode == Mode::kIdle  ? Doing::kStands
         : sprite->mode == Mode::kWalk  ? Doing::kWalks
         : sprite->mode == Mode::kSleep ? Doing::kSleeps
                                        : Doing::kElse;
}

struct Calls {
  double sprite_seconds = 0;
  int pictures = 0;
  int moves = 0;
};

// The characters of the program, in a row on the floor.
void DropInCharacters(int sprites, Desktop* desktop) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(SPRITES)) {
    if (entry.path().extension() == ".spr") {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    desktop->look().AddToShelf(ReadSheet(Bytes(std::istreambuf_iterator<char>(file), {})));
  }
  const auto& shelf = desktop->look().shelf();
  for (int i = 0; i < sprites; i++) {
    desktop->sprites().DropIn(shelf[static_cast<size_t>(i) % shelf.size()]->file,
                              Point{(i + 0.5) * 1920 / sprites, 900});
  }
}

void CountCalls(int sprites, bool calm) {
  std::mt19937 engine(1);
  const Random random = [&] { return std::uniform_real_distribution<double>(0, 1)(engine); };
  Settings settings;
  settings.sprite_limit = sprites;
  settings.calm = calm;
  Desktop desktop(settings, random);
  desktop.look().SetGroundShown(true);
  const Rect screen{0, 0, 1920, 1080};
  desktop.look().SetMonitors(std::vector<Monitor>{{screen, screen, 1, true}});
  DropInCharacters(sprites, &desktop);
  WindowPlanner planner;
  WindowPlanner dust_planner;
  Composition composition;
  std::array<Calls, std::size(kDoings)> calls{};
  int turns = 0;
  int dust = 0;
  for (double now_ms = 0, next_ms = 0; now_ms < kLandingMs + kCallsMs; now_ms = next_ms) {
    const Scene& scene = desktop.Tick(static_cast<int64_t>(now_ms));
    desktop.PopOutbox();
    next_ms = now_ms + std::clamp(scene.idle_ms, kFrameMs, 1'000.0);
    Compose(scene, &composition);
    const WindowPlan& plan = planner.Plan(composition.sprites);
    const WindowPlan& dust_plan = dust_planner.Plan(composition.dust);
    if (now_ms < kLandingMs) {
      continue;
    }
    turns++;
    dust += static_cast<int>(dust_plan.painted.size() + dust_plan.placements.size());
    const auto of = [&](SpriteId id) -> Calls& {
      return calls[static_cast<size_t>(DoingOf(desktop.simulation().Find(id)))];
    };
    for (const DrawnSprite& drawn : composition.sprites) {
      of(drawn.id).sprite_seconds += (next_ms - now_ms) / 1'000;
    }
    for (const size_t index : plan.painted) {
      of(composition.sprites[index].id).pictures++;
    }
    for (const Placement& placement : plan.placements) {
      of(placement.id).moves++;
    }
  }
  const double seconds = kCallsMs / 1'000;
  printf("%d sprites, %s: %.1f turns a second, %.1f calls for dust and letters\n", sprites,
         calm ? "calm" : "lively", turns / seconds, dust / seconds);
  for (size_t i = 0; i < calls.size(); i++) {
    const auto& [sprite_seconds, pictures, moves] = calls[i];
    if (sprite_seconds > 0) {
      printf("  %5.1f of them: each %s with %.2f pictures and %.2f moves a second\n",
             sprite_seconds / seconds, kDoings[i], pictures / sprite_seconds,
             moves / sprite_seconds);
    }
  }
}

}  // namespace
}  // namespace sprites

int main(int count, char** words) {
  if (count == 2 && strcmp(words[1], "--calls") == 0) {
    for (const int sprites : {5, 50, 150}) {
      sprites::CountCalls(sprites, true);
      sprites::CountCalls(sprites, false);
    }
    return 0;
  }
  const bool is_given = count == 3 && strcmp(words[1], "--sprites") == 0;
  const int sprites = is_given ? std::atoi(words[2]) : 150;
  if ((count != 1 && !is_given) || sprites < 1 || sprites > sprites::kSpriteLimitMax) {
    fprintf(stderr, "Usage: ticks-bench [--calls | --sprites 1…%d]\n", sprites::kSpriteLimitMax);
    return 2;
  }
  sprites::Measure("all thrown about", sprites, true);
  sprites::Measure("at rest", sprites, false);
}
