// Prints how the program plays sounds, and which events of windows it counts: Wine shows neither.
//   stop WAVE             of the sound that played: nothing, whole, or changed
//   play FLAGS            in hexadecimal
//   hook FIRST LAST       the events that are asked for, in hexadecimal
//   COUNTS what           whether an event makes it look at the windows again: 1 or 0
#include <windows.h>
// After windows.h.
#include <mmsystem.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

const char* playing = nullptr;
std::string played;  // what `playing` was when it began
WINEVENTPROC on_event = nullptr;
HWND other = nullptr;  // a window of another program

BOOL FakePlaySound(LPCWSTR sound, HMODULE, DWORD flags) {
  if (sound == nullptr) {
    const bool is_whole =
        playing != nullptr && std::memcmp(playing, played.data(), played.size()) == 0;
    std::printf("stop %s\n", playing == nullptr ? "nothing" : is_whole ? "whole" : "changed");
    playing = nullptr;
    return TRUE;
  }
  constexpr size_t kSizeAt = 4;  // in a WAV file: the bytes that follow the size
  playing = reinterpret_cast<const char*>(sound);
  uint32_t size = 0;
  std::memcpy(&size, playing + kSizeAt, sizeof size);
  played.assign(playing, kSizeAt + sizeof size + size);
  std::printf("play %lx\n", flags);
  return TRUE;
}

HWINEVENTHOOK FakeSetHook(DWORD first, DWORD last, HMODULE, WINEVENTPROC callback, DWORD, DWORD,
                          DWORD) {
  std::printf("hook %lx %lx\n", first, last);
  on_event = callback;
  return nullptr;
}

}  // namespace

#define PlaySoundW FakePlaySound
#define SetWinEventHook FakeSetHook
// With the calls above.
#include "win32/system/sounds.cc"
#include "win32/system/window_watch.cc"

namespace sprites {

bool IsOfAnotherProgram(HWND window) { return window == other; }

}  // namespace sprites

namespace {

void PlayTwo() {
  sprites::Sounds sounds;
  for (const int16_t sample : {1'000, -1'000}) {
    sounds.Play(std::vector<int16_t>(100, sample));
  }
}

void ReportEvents() {
  sprites::WindowWatch watch;
  const auto make = [](DWORD style, HWND parent) {
    return CreateWindowExW(0, L"STATIC", L"Other", style | WS_VISIBLE, 100, 100, 300, 200, parent,
                           nullptr, nullptr, nullptr);
  };
  other = make(WS_OVERLAPPEDWINDOW, nullptr);
  const HWND part = make(WS_CHILD, other);
  watch.Look();
  const auto report = [&watch](const char* what, HWND window, DWORD event, LONG object) {
    on_event(nullptr, event, window, object, CHILDID_SELF, 0, 0);
    std::printf("%d %s\n", watch.MayHaveChanged() ? 1 : 0, what);
    watch.Look();
  };
  report("a text cursor is shown", other, EVENT_OBJECT_SHOW, OBJID_CARET);
  DestroyWindow(part);
  report("a part of a window is destroyed", part, EVENT_OBJECT_DESTROY, OBJID_WINDOW);
  report("a window is hidden", other, EVENT_OBJECT_HIDE, OBJID_WINDOW);
  DestroyWindow(other);
  report("a window is destroyed", other, EVENT_OBJECT_DESTROY, OBJID_WINDOW);
}

}  // namespace

int wmain() {
  PlayTwo();
  ReportEvents();
  return 0;
}
