// Imports files that were dropped on a sprite or named on the command line: reads them, converts
// pictures and packs to .spr, and stores them in the cache.
//
// Invariant: each file, or folder with a pack, has exactly one result: a sheet, a .spr that waits
// for an answer, or the reason why there is none. Threads: has a thread of its own because a large
// picture takes seconds. Import and PopResults are called on the desktop's thread; `decode` and
// `wake` are called on the importer's.
#ifndef CLIENT_WIN_CORE_PICTURE_IMPORTER_H_
#define CLIENT_WIN_CORE_PICTURE_IMPORTER_H_

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/picture/file_cache.h"
#include "core/picture/picture.h"
#include "core/text/refused.h"

namespace sprites {

// Files that wait: four times what a file manager can drop at once. Other programs of the user can
// send any number.
constexpr size_t kImportsMax = 256;

constexpr size_t kDroppedFilesMax = 64;  // files of one drop: those after it are left out

// The paths of a drop of `count` files: `path_at(i)` of each that is not left out.
template <class PathAt>
auto DroppedPaths(size_t count, PathAt path_at) {
  std::vector<decltype(path_at(size_t{0}))> paths;
  for (size_t i = 0; i < count && i < kDroppedFilesMax; i++) {
    paths.push_back(path_at(i));
  }
  return paths;
}

struct ImportResult {
  SheetPointer sheet{};           // null if the file was rejected
  std::string name{};             // of the file, without its folder; UTF-8
  std::optional<Reason> error{};  // why the file was rejected
  DroppedSpr made{};              // the files that were made of it
  // Of a pack, which has no sheet before the person has said that it may be passed on: the actions
  // without a counterpart.
  std::optional<std::vector<std::string>> left_out{};
};

class Importer {
 public:
  // `wake` is called when a result is ready.
  Importer(FileCache* cache, DecodeOther decode, std::function<void()> wake);
  // Waits until the file that is being imported is done; the others are not imported.
  ~Importer();
  Importer(const Importer&) = delete;
  Importer& operator=(const Importer&) = delete;

  // Adds files to the queue. One for which there is no room is rejected.
  void Import(std::vector<std::filesystem::path> paths);
  // Returns the results since the last call, oldest first.
  std::vector<ImportResult> PopResults();

 private:
  void Run();
  ImportResult ImportFile(const std::filesystem::path& path) const;

  FileCache* cache_;
  DecodeOther decode_;
  std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::filesystem::path> paths_;
  std::vector<ImportResult> results_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_IMPORTER_H_
