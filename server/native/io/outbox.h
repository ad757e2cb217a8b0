// Answers on their way from the JavaScript thread to one I/O thread.
//
// Threads: Stage() and Send() on the JavaScript thread, Receive() on the I/O thread; one mutex,
// held for a swap or a short copy.
// Invariant: records arrive in the order in which they were staged.
// Memory: bounded by one answer for each open ticket, since an answer ends its ticket; a shared
// body is staged for at least one of them.
#ifndef SERVER_NATIVE_IO_OUTBOX_H_
#define SERVER_NATIVE_IO_OUTBOX_H_

#include <cstdint>
#include <mutex>
#include <vector>

namespace sprites {

class Outbox {
 public:
  // Copies a record, which is sent together with the others of this turn.
  void Stage(const uint8_t* record, uint32_t bytes) {
    staged_.insert(staged_.end(), record, record + bytes);
  }
  // Makes the staged records visible to Receive(). Returns true when nothing was waiting before:
  // wake the I/O thread.
  bool Send();
  // Empties `into` and swaps the sent records into it. Returns false when there are none.
  bool Receive(std::vector<uint8_t>* into);

 private:
  static constexpr size_t kKeptBytesMax = 256 << 10;  // a larger vector, after a storm, is freed

  std::vector<uint8_t> staged_;
  std::mutex mutex_;
  std::vector<uint8_t> sent_;  // under mutex_
};

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_OUTBOX_H_
