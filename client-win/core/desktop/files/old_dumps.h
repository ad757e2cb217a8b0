// Which of the minidumps that crashes have left are removed when the program starts.
#ifndef CLIENT_WIN_CORE_DESKTOP_FILES_OLD_DUMPS_H_
#define CLIENT_WIN_CORE_DESKTOP_FILES_OLD_DUMPS_H_

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <vector>

namespace sprites {

constexpr size_t kMinidumpsMax = 3;  // files: those of a fault that happens at each start are equal

// The oldest of the dumps in a folder, so that with one more there are at most kMinidumpsMax.
// REQUIRES: a dump's name rises with its time.
inline std::vector<std::filesystem::path> OldDumps(std::vector<std::filesystem::path> dumps) {
  std::ranges::sort(dumps);
  const size_t kept = std::min(dumps.size(), kMinidumpsMax - 1);
  dumps.resize(dumps.size() - kept);
  return dumps;
}

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_FILES_OLD_DUMPS_H_
