// The rests of answers that their sockets did not accept yet.
//
// Threads: all of it belongs to its loop's thread.
// Invariant: a connection has at most one rest, since its next request is not read before its
// answer has left; all rests together are ≤ bytes_max, above which a peer that does not read is cut
// off.
#ifndef SERVER_NATIVE_IO_UNSENT_ANSWERS_H_
#define SERVER_NATIVE_IO_UNSENT_ANSWERS_H_

#include <cstdint>
#include <memory>
#include <vector>

namespace sprites {

class UnsentAnswers {
 public:
  struct Rest {
    std::unique_ptr<uint8_t[]> bytes;
    uint32_t size = 0;
    uint32_t sent = 0;
  };

  explicit UnsentAnswers(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // Copies `size` bytes, and `more_size` behind them. Returns their handle, or 0 when the bound is
  // reached.
  uint32_t Keep(const uint8_t* bytes, uint32_t size, const uint8_t* more = nullptr,
                uint32_t more_size = 0);
  Rest& At(uint32_t handle) { return rests_[handle - 1]; }
  void Release(uint32_t handle);
  uint64_t bytes() const { return bytes_; }

 private:
  const uint64_t bytes_max_;
  uint64_t bytes_ = 0;
  std::vector<Rest> rests_;
  std::vector<uint32_t> free_;
};

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_UNSENT_ANSWERS_H_
