// Writes the state of a desktop to disk on a thread of its own, and holds requests back until then.
//
// A write that reaches the disk takes up to a second on a busy machine, and must not stop the
// animation. core/desktop/files/save_queue.h has the rules. Threads: all calls on the desktop's
// thread; `write` and `wake` are called on the writer's.
#ifndef CLIENT_WIN_CORE_DESKTOP_FILES_STATE_WRITER_H_
#define CLIENT_WIN_CORE_DESKTOP_FILES_STATE_WRITER_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/desktop/files/save_queue.h"

namespace sprites {

class StateWriter {
 public:
  // Returns whether the text is on disk now.
  using Write = std::function<bool(const std::string& text)>;

  // `wake` is called when PopRequests may have something; it must wake the desktop's thread.
  StateWriter(Write write, std::function<void()> wake);
  // Tries once more to write what is not on disk, and waits for that.
  ~StateWriter();
  StateWriter(const StateWriter&) = delete;
  StateWriter& operator=(const StateWriter&) = delete;

  // As in SaveQueue.
  void Add(std::string state, std::vector<Request> requests);
  void Cancel(RequestId id);
  std::vector<Request> PopRequests();
  bool IsIdle() const;
  bool IsFailing() const;

 private:
  void Run();

  Write write_;
  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  SaveQueue queue_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_FILES_STATE_WRITER_H_
