// Takes in files that were dropped or given: reads, converts and keeps them on a thread of its own,
// for a large picture takes seconds.
//
// Invariant: every file that was given comes out once, as a sheet or as a sentence why not.
// Threads: Give and PopResults on the desktop's thread; `wake` is called on its own.
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
  SheetPointer sheet;  // null: refused
  std::string name;    // of the file, without its folder
  std::string why;     // a sentence, when it was refused
};

class PictureImporter {
 public:
  PictureImporter(FileCache* cache, std::function<void()> wake);
  // Ends after the file it is at.
  ~PictureImporter();
  PictureImporter(const PictureImporter&) = delete;
  PictureImporter& operator=(const PictureImporter&) = delete;

  void Import(std::vector<std::wstring> paths);
  std::vector<ImportResult> PopResults();

 private:
  void Work();

  FileCache* cache_;
  std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::wstring> paths_;
  std::vector<ImportResult> results_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_PICTURE_IMPORTER_H_
