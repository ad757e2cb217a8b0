// Takes in files that were dropped or given: reads, converts and keeps them on a thread of its own,
// for a large picture takes seconds.
//
// Invariant: every file that was given comes out once, as a sheet or as a sentence why not.
// Threads: Give and TakeTaken on the desktop's thread; `wake` is called on its own.
#ifndef CLIENT_WIN_WIN32_TAKER_H_
#define CLIENT_WIN_WIN32_TAKER_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/picture/file_cache.h"

namespace sprites {

struct Taken {
  SheetPointer sheet;  // null: refused
  std::string name;    // of the file, without its folder
  std::string why;     // a sentence, when it was refused
};

class Taker {
 public:
  Taker(FileCache* cache, std::function<void()> wake);
  // Ends after the file it is at.
  ~Taker();
  Taker(const Taker&) = delete;
  Taker& operator=(const Taker&) = delete;

  void Give(std::vector<std::wstring> paths);
  std::vector<Taken> TakeTaken();

 private:
  void Work();

  FileCache* cache_;
  std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::wstring> paths_;
  std::vector<Taken> taken_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_TAKER_H_
