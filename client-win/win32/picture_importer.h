// Imports files that were dropped on a sprite or named on the command line: reads them, converts
// pictures to .spr, and stores them in the cache.
//
// Invariant: each file has exactly one result, a sheet or the reason why there is none.
// Threads: has a thread of its own because a large picture takes seconds. Import and PopResults are
// called on the desktop's thread; `wake` is called on the importer's thread when a result is ready.
#ifndef CLIENT_WIN_WIN32_PICTURE_IMPORTER_H_
#define CLIENT_WIN_WIN32_PICTURE_IMPORTER_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/picture/file_cache.h"

namespace sprites {

struct ImportResult {
  SheetPointer sheet;  // null if the file was rejected
  std::string name;    // of the file, without its folder
  std::string error;   // a sentence, if the file was rejected
};

class PictureImporter {
 public:
  PictureImporter(FileCache* cache, std::function<void()> wake);
  // Waits until the file that is being imported is done; the others are not imported.
  ~PictureImporter();
  PictureImporter(const PictureImporter&) = delete;
  PictureImporter& operator=(const PictureImporter&) = delete;

  // Adds files to the queue.
  void Import(std::vector<std::wstring> paths);
  // Returns the results since the last call, oldest first.
  std::vector<ImportResult> PopResults();

 private:
  void Run();

  FileCache* cache_;
  std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::wstring> paths_;
  std::vector<ImportResult> results_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_PICTURE_IMPORTER_H_
