// What a frame costs on this machine: N sprites thrown about, then at rest, shown by real windows.
// Prints for each: elapsed ms a frame in the core's tick, and in showing, calls of Windows a frame.
//   frames-bench [N]
#include <windows.h>
// After windows.h.
#include <cstdio>
#include <cstdlib>
#include <random>

#include "core/desktop.h"
#include "core/picture.h"
#include "win32/monitors.h"
#include "win32/sprite_windows.h"

namespace sprites {

namespace {

constexpr int kFrames = 300;  // five seconds at 60 a second
constexpr int kWarmUpFrames = 120;
constexpr double kFrameMs = 1000.0 / 60;

class Nobody : public SpriteListener {
  void Grabbed(SpriteId, Point, double) override {}
  void Dragged(Point, double) override {}
  void Released(double) override {}
  void DoubleClicked(SpriteId) override {}
  void RightClicked(SpriteId, POINT) override {}
  void Pressed(Key, bool) override {}
  void KeysLost() override {}
  void Dropped(std::vector<std::wstring>) override {}
};

double NowMs() {
  LARGE_INTEGER now;
  LARGE_INTEGER frequency;
  QueryPerformanceCounter(&now);
  QueryPerformanceFrequency(&frequency);
  return 1000.0 * static_cast<double>(now.QuadPart) / static_cast<double>(frequency.QuadPart);
}

SheetPointer SomeSheet() {
  Bytes rgba(4 * 32 * 4 * 32);
  for (size_t i = 0; i < rgba.size(); i++) {
    rgba[i] = static_cast<uint8_t>(i * 37);
  }
  return ReadSheet(WriteSheet(
      128, 32, rgba,
      R"({"format":"spr/1","name":"Bench","frame":{"width":32,"height":32},"animations":{"idle":{"frames":[0,1],"fps":4},"fall":{"frames":[2,3],"fps":8}}})"));
}

void HandleMessages() {
  MSG message;
  while (PeekMessageW(&message, nullptr, 0, 0, PM_REMOVE)) {
    DispatchMessageW(&message);
  }
}

void Measure(const char* what, int sprites, bool moving) {
  std::mt19937 engine(1);
  const Random random = [&] { return std::uniform_real_distribution<double>(0, 1)(engine); };
  Settings settings;
  settings.sprites_most = sprites;
  settings.calm = !moving;
  Desktop desktop(settings, random);
  desktop.SetMonitors(MonitorsNow());
  const Rect screen = desktop.world().screen().bounds();
  const SheetPointer sheet = SomeSheet();
  desktop.AddToShelf(sheet);
  for (int i = 0; i < sprites; i++) {
    desktop.DropIn(sheet->file, Point{screen.left + random() * screen.Width(),
                                      screen.top + 100 + random() * (screen.Height() - 200)});
  }
  Nobody nobody;
  SpriteWindows windows(&nobody);
  double tick_ms = 0;
  double show_ms = 0;
  SpriteWindows::Cost before;
  for (int frame = -kWarmUpFrames; frame < kFrames; frame++) {
    if (frame == 0) {
      before = windows.cost();
      tick_ms = show_ms = 0;
    }
    if (moving && frame % 30 == 0) {
      for (const Sprite& sprite : std::vector<Sprite>(desktop.world().sprites())) {
        desktop.ThrowTo(sprite.id, static_cast<Edge>(engine() % 3));
      }
    }
    const double start = NowMs();
    const Scene& scene = desktop.Tick(static_cast<int64_t>((frame + kWarmUpFrames) * kFrameMs));
    desktop.TakeOutbox();
    const double ticked = NowMs();
    windows.Show(scene);
    show_ms += NowMs() - ticked;
    tick_ms += ticked - start;
    HandleMessages();
  }
  const SpriteWindows::Cost& cost = windows.cost();
  const auto each = [](uint64_t now, uint64_t then) {
    return static_cast<double>(now - then) / kFrames;
  };
  printf(
      "%d sprites, %s: a frame takes %.3f ms in the core and %.3f ms in showing;"
      " %.1f pictures, %.1f moves in %.2f batches, %.2f other calls\n",
      sprites, what, tick_ms / kFrames, show_ms / kFrames, each(cost.pictures, before.pictures),
      each(cost.moves, before.moves), each(cost.batches, before.batches),
      each(cost.others, before.others));
  fflush(stdout);
}

}  // namespace

}  // namespace sprites

int wmain(int count, wchar_t** words) {
  const int sprites = count > 1 ? _wtoi(words[1]) : 150;
  if (count > 2 || sprites < 1 || sprites > sprites::kSpritesMostMax) {
    fprintf(stderr, "Usage: frames-bench [1 … %d]\n", sprites::kSpritesMostMax);
    return 2;
  }
  sprites::Measure("all thrown about", sprites, true);
  sprites::Measure("at rest", sprites, false);
  return 0;
}
