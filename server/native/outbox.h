// Answers on their way from the JavaScript thread to one I/O thread.
//
// Threads: Stage() and Send() on the JavaScript thread, Take() on the I/O thread; one mutex, held
// for a swap or a short copy. Invariant: records arrive in the order they were staged. Bounded by
// one answer for each ticket that is out, since an answer is the end of its ticket.
#ifndef SERVER_NATIVE_OUTBOX_H_
#define SERVER_NATIVE_OUTBOX_H_

#include <cstdint>
#include <mutex>
#include <vector>

namespace sprites {

class Outbox {
 public:
  // Copies a record, to be sent with all others of this turn.
  void Stage(const uint8_t* record, uint32_t bytes) {
    staged_.insert(staged_.end(), record, record + bytes);
  }
  // Makes what was staged visible to Take(). True: the I/O thread has to be woken, since nothing
  // was waiting before.
  bool Send();
  // Swaps what was sent into `into`, which is emptied first. False: there was nothing.
  bool Receive(std::vector<uint8_t>* into);

 private:
  static constexpr size_t kKeptBytesMax = 256 << 10;  // a larger vector, of a storm, is given back

  std::vector<uint8_t> staged_;
  std::mutex mutex_;
  std::vector<uint8_t> sent_;  // under mutex_
};

}  // namespace sprites

#endif  // SERVER_NATIVE_OUTBOX_H_
