// Holds requests back until the state that they depend on is on disk.
//
// The next poll acknowledges sprites to the relay, which then forgets them, so it must not be sent
// while the file that has them can't be written. Invariant: a request leaves the queue only after
// the newest state that was added before it, or a newer one, has been written. A write that failed
// is tried again, after a pause that doubles. Cost: O(requests) a call.
#ifndef CLIENT_WIN_CORE_DESKTOP_FILES_SAVE_QUEUE_H_
#define CLIENT_WIN_CORE_DESKTOP_FILES_SAVE_QUEUE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/relay/request.h"

namespace sprites {

constexpr int64_t kSaveRetryMsFirst = 100;  // another program may read the file for a moment
constexpr int64_t kSaveRetryMsMax = 5'000;
constexpr int kSaveFailuresShown = 5;  // after so many failures in a row (1.5 s), a toast says so

class SaveQueue {
 public:
  // Adds what one turn asks for. An empty `state` means that nothing has changed.
  void Add(std::string state, std::vector<Request> requests);
  // Drops a request that is no longer wanted, if it is still here.
  void Cancel(RequestId id);
  // The state to write now. Nothing while one is being written, and in the pause after a failure.
  std::optional<std::string> PopState(int64_t now_ms);
  // The state that PopState returned was written, or not.
  void HandleWritten(bool is_written, int64_t now_ms);
  // The requests that may be sent now, in the order in which they were added.
  std::vector<Request> PopRequests();

  // Whether all states are on disk and all requests have left.
  bool IsEmpty() const { return !state_ && !is_writing_ && requests_.empty(); }
  // Whether writing has failed so often that the user should know.
  bool IsFailing() const { return failures_ >= kSaveFailuresShown; }
  // When PopState next returns something, if no call comes first; the largest value for never.
  int64_t NextDueMs() const;

 private:
  struct HeldRequest {
    Request request;
    uint64_t needs = 0;  // the number of the state that must be on disk
  };

  std::optional<std::string> state_;  // the newest, unless it has been popped
  std::string writing_;               // the state that PopState returned
  bool is_writing_ = false;
  uint64_t added_ = 0;    // states so far
  uint64_t popped_ = 0;   // the number of the state in `writing_`
  uint64_t written_ = 0;  // the number of the newest state on disk
  int failures_ = 0;      // since the last success
  int64_t due_ms_ = 0;
  std::vector<HeldRequest> requests_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_FILES_SAVE_QUEUE_H_
