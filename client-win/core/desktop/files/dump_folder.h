// The folder for minidumps, kept where a crash finds it: in memory that is not on the heap.
#ifndef CLIENT_WIN_CORE_DESKTOP_FILES_DUMP_FOLDER_H_
#define CLIENT_WIN_CORE_DESKTOP_FILES_DUMP_FOLDER_H_

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace sprites {

// Characters with the 0 at the end: four times what most programs on Windows can open.
constexpr size_t kDumpFolderMax = 1'024;

template <class Char>
struct DumpFolder {
  Char path[kDumpFolderMax];  // ends with a 0

  // Returns false, and keeps nothing, when the path does not fit.
  bool Keep(std::basic_string_view<Char> folder) {
    const bool fits = folder.size() < kDumpFolderMax;
    if (fits) {
      *std::ranges::copy(folder, path).out = 0;
    }
    return fits;
  }
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_FILES_DUMP_FOLDER_H_
