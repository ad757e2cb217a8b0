// Measures the cost of a frame on this machine: N sprites, thrown about or at rest, in real
// windows. Prints for each, per frame: ms of this process's CPU, elapsed ms in the core's tick and
// in showing the scene, and calls of Windows. Frames follow each other without a pause.
//   frames-bench [N [thrown|rest]]
#include <windows.h>
// After windows.h.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>

#include "core/desktop/desktop.h"
#include "core/picture/picture.h"
#include "core/scene/composition.h"
#include "win32/system/monitors.h"
#include "win32/windows/sprite_windows.h"

namespace sprites {

namespace {

constexpr int kFrames = 180;  // three seconds at 60 a second
constexpr int kWarmUpFrames = 60;
constexpr int kSettlingFrames = 6'000;  // until a heap of sprites has slid apart
constexpr double kFrameMs = 1000.0 / 60;

class IgnoringListener : public SpriteListener {
  void Grabbed(SpriteId, Point, double) override {}
  void Dragged(Point, double) override {}
  void Released(double) override {}
  void Clicked(SpriteId) override {}
  void DoubleClicked() override {}
  void RightClicked(SpriteId, Point) override {}
  void Pressed(Key, bool, bool) override {}
  void Stepped(bool) override {}
  void KeysLost() override {}
  void Dropped(std::vector<std::filesystem::path>) override {}
  void MonitorsChanged() override {}
};

double NowMs() {
  LARGE_INTEGER now;
  LARGE_INTEGER frequency;
  QueryPerformanceCounter(&now);
  QueryPerformanceFrequency(&frequency);
  return 1000.0 * static_cast<double>(now.QuadPart) / static_cast<double>(frequency.QuadPart);
}

// The CPU time of this process, user and kernel.
double CpuMs() {
  FILETIME start;
  FILETIME exit;
  FILETIME kernel;
  FILETIME user;
  GetProcessTimes(GetCurrentProcess(), &start, &exit, &kernel, &user);
  const auto ms = [](const FILETIME& time) {  // FILETIME is in units of 100 ns
    return static_cast<double>(uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime) / 1e4;
  };
  return ms(kernel) + ms(user);
}

// The sprites are narrow, so that 150 of them fit on the floor of a small screen.
SheetPointer BenchSheet() {
  Bytes rgba(4 * 32 * 4 * 32);
  for (size_t i = 0; i < rgba.size(); i++) {
    rgba[i] = static_cast<uint8_t>(i * 37);
  }
  return ReadSheet(WriteSheet(
      128, 32, rgba,
      R"({"format":"spr/1","name":"Bench","frame":{"width":32,"height":32},"hitbox":[12,0,8,32],"animations":{"idle":{"frames":[0,1],"fps":4},"fall":{"frames":[2,3],"fps":8}}})"));
}

void PumpMessages() {
  MSG message;
  while (PeekMessageW(&message, nullptr, 0, 0, PM_REMOVE)) {
    DispatchMessageW(&message);
  }
}

// Returns a desktop with sprites all over the screen.
std::unique_ptr<Desktop> MakeCrowd(int sprites, bool moving, const Random& random) {
  Settings settings;
  settings.sprite_limit = sprites;
  settings.calm = !moving;
  auto desktop = std::make_unique<Desktop>(settings, random);
  desktop->look().SetMonitors(MonitorsNow());
  desktop->look().SetGroundShown(true);
  const Rect screen = desktop->simulation().screen().bounds();
  const SheetPointer sheet = BenchSheet();
  desktop->look().AddToShelf(sheet);
  for (int i = 0; i < sprites; i++) {
    desktop->sprites().DropIn(sheet->file,
                              Point{screen.left + random() * screen.Width(),
                                    screen.top + 100 + random() * (screen.Height() - 200)});
  }
  return desktop;
}

void Measure(const char* what, int sprites, bool moving) {
  std::mt19937 engine(1);
  const Random random = [&] { return std::uniform_real_distribution<double>(0, 1)(engine); };
  const std::unique_ptr<Desktop> crowd = MakeCrowd(sprites, moving, random);
  Desktop& desktop = *crowd;
  double now_ms = 0;
  const auto tick = [&]() -> const Scene& {
    const Scene& scene = desktop.Tick(static_cast<int64_t>(now_ms += kFrameMs));
    desktop.PopOutbox();
    return scene;
  };
  for (int frame = 0; !moving && frame < kSettlingFrames; frame++) {
    tick();
  }
  IgnoringListener listener;
  Foreground foreground;
  const Sharing sharing;
  SpriteWindows windows(L"Sprite", &sharing, &listener, &foreground);
  Composition composition;
  double tick_ms = 0;
  double show_ms = 0;
  double cpu_ms = 0;
  SpriteWindows::Cost before;
  for (int frame = -kWarmUpFrames; frame < kFrames; frame++) {
    if (frame == 0) {
      before = windows.cost();
      tick_ms = show_ms = 0;
      cpu_ms = CpuMs();
    }
    if (moving && frame % 30 == 0) {
      // The desktop is not connected, so every throw bounces back and all sprites stay in the air.
      for (const Sprite& sprite : std::vector<Sprite>(desktop.simulation().sprites())) {
        desktop.sprites().ThrowTo(sprite.id, static_cast<Edge>(engine() % 3));
      }
    }
    const double start = NowMs();
    const Scene& scene = tick();
    const double ticked = NowMs();
    Compose(scene, &composition);
    windows.Show(composition.sprites);
    PumpMessages();
    show_ms += NowMs() - ticked;
    tick_ms += ticked - start;
  }
  cpu_ms = CpuMs() - cpu_ms;
  const SpriteWindows::Cost& cost = windows.cost();
  const auto each = [](uint64_t now, uint64_t then) {
    return static_cast<double>(now - then) / kFrames;
  };
  printf(
      "%d sprites, %s: %.2f ms of CPU a frame; %.3f ms elapse in the core and %.2f ms in showing,"
      " %.0f frames a second; calls a frame: %.2f pictures, %.2f placements in %.2f batches,"
      " %.2f windows\n",
      sprites, what, cpu_ms / kFrames, tick_ms / kFrames, show_ms / kFrames,
      1000 * kFrames / (tick_ms + show_ms), each(cost.pictures, before.pictures),
      each(cost.placements, before.placements), each(cost.batches, before.batches),
      each(cost.windows, before.windows));
  fflush(stdout);
}

}  // namespace

}  // namespace sprites

int wmain(int count, wchar_t** words) {
  const int sprites = count > 1 ? _wtoi(words[1]) : 150;
  const std::wstring what = count > 2 ? words[2] : L"";
  const bool is_known = what.empty() || what == L"thrown" || what == L"rest";
  if (count > 3 || !is_known || sprites < 1 || sprites > sprites::kSpriteLimitMax) {
    fprintf(stderr, "Usage: frames-bench [1 … %d [thrown|rest]]\n", sprites::kSpriteLimitMax);
    return 2;
  }
  if (what != L"rest") {
    sprites::Measure("all thrown about", sprites, true);
  }
  if (what != L"thrown") {
    sprites::Measure("at rest", sprites, false);
  }
  return 0;
}
