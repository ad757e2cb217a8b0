// Bytes of requests that are not whole yet, or that came behind one whose answer is still due.
//
// Threads: all of it belongs to its loop's thread.
// Invariant: a buffer is held only while there are bytes in it. Slabs that are wholly free go back
// to the system but for one of each kind, so a storm leaves nothing behind; what is held at once is
// bounded. Cost: O(1); a slab is mapped or unmapped every 64 (16) buffers at worst.
#ifndef SERVER_NATIVE_REQUEST_POOL_H_
#define SERVER_NATIVE_REQUEST_POOL_H_

#include <cstdint>
#include <vector>

#include "request_parser.h"

namespace sprites {

// A buffer in place: this head, then its bytes.
struct RequestBuffer {
  uint32_t size;
  uint32_t capacity;
  ParserPlace place;
  uint32_t reserved;
  uint8_t* bytes() { return reinterpret_cast<uint8_t*>(this + 1); }
};

using BufferHandle = uint32_t;
constexpr BufferHandle kNoBuffer = 0;

class RequestPool {
 public:
  explicit RequestPool(uint64_t bytes_max) : bytes_max_(bytes_max) {}
  ~RequestPool();
  RequestPool(const RequestPool&) = delete;
  RequestPool& operator=(const RequestPool&) = delete;

  // A buffer for at least `capacity` ≤ kRequestBytesMax bytes, empty; kNoBuffer when the bound is
  // reached.
  BufferHandle Allocate(uint32_t capacity);
  void Release(BufferHandle handle);
  RequestBuffer* At(BufferHandle handle) const;
  // The same bytes in a buffer for `capacity`; kNoBuffer, and the old one stays, when the bound is
  // reached.
  BufferHandle Grow(BufferHandle handle, uint32_t capacity);

  uint64_t mapped_bytes() const { return mapped_bytes_; }

 private:
  struct Kind {
    uint32_t buffer_bytes;
    uint32_t buffers;             // in a slab, ≤ 64
    std::vector<uint8_t*> slabs;  // nullptr: unmapped, its number may be used again
    std::vector<uint64_t> free_masks;
    std::vector<uint32_t>
        roomy;  // numbers of slabs with a free buffer; may name unmapped or full ones
    std::vector<uint32_t> unmapped;
    uint32_t wholly_free = 0;
  };
  static constexpr uint32_t kLargeBit = 1u << 31;

  const uint64_t bytes_max_;
  uint64_t mapped_bytes_ = 0;
  // Most partial requests are a line and some headers; the large ones hold any request whole.
  Kind kinds_[2] = {{1024, 64, {}, {}, {}, {}}, {kRequestBytesMax + 32, 16, {}, {}, {}, {}}};
};

}  // namespace sprites

#endif  // SERVER_NATIVE_REQUEST_POOL_H_
