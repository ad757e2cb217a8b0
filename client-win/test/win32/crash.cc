// A program that crashes, for the test of minidumps.
//   crash FOLDER abort|thread|stack      writes the dump to FOLDER
#include <windows.h>
// After windows.h.
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "win32/system/minidump.h"

namespace {

volatile int depth = 0;

// Not inlined, so that it has a frame of its own.
[[gnu::noinline]] void CrashHere(std::wstring_view how) {
  if (how == L"abort") {
    std::abort();
  } else if (how == L"thread") {
    std::thread([] { throw std::runtime_error("nobody catches it"); }).join();
  } else if (how == L"stack") {
    volatile char room[4'096];
    room[0] = static_cast<char>(depth);
    depth = depth + 1;
    CrashHere(how);
    room[1] = room[0];  // so that it is no tail call
  }
}

}  // namespace

int wmain(int count, wchar_t** words) {
  if (count != 3) {
    return 2;
  }
  SetErrorMode(SEM_NOGPFAULTERRORBOX);
  sprites::WriteMinidumps(words[1]);
  CrashHere(words[2]);
  return 2;
}
