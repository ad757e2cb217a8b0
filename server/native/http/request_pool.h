// Buffers for bytes of requests that can't be handled yet, in slabs of two sizes.
//
// Threads: all of it belongs to its loop's thread.
// Invariant: free slabs are returned to the system except one of each size, so a storm leaves
// nothing behind; all slabs together are ≤ bytes_max.
// Cost: O(1); at worst a slab is mapped or unmapped every 64 (large: 16) buffers.
#ifndef SERVER_NATIVE_HTTP_REQUEST_POOL_H_
#define SERVER_NATIVE_HTTP_REQUEST_POOL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "http/request_parser.h"

namespace sprites {

// A buffer: this head, followed by its bytes.
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

  // Returns an empty buffer for at least `capacity` ≤ kRequestBytesMax bytes; kNoBuffer when the
  // bound is reached.
  BufferHandle Allocate(uint32_t capacity);
  void Release(BufferHandle handle);
  RequestBuffer* At(BufferHandle handle) const;
  // Moves the bytes to a buffer for `capacity` and returns it. Returns kNoBuffer, and keeps the old
  // buffer, when the bound is reached.
  BufferHandle Grow(BufferHandle handle, uint32_t capacity);

  uint64_t mapped_bytes() const { return mapped_bytes_; }
  // How many slabs have a free buffer.
  size_t slabs_with_room() const {
    return classes_[0].with_room.size() + classes_[1].with_room.size();
  }

 private:
  struct SizeClass {
    uint32_t buffer_bytes;
    uint32_t buffers;             // in a slab, ≤ 64
    std::vector<uint8_t*> slabs;  // nullptr: unmapped, and its number may be reused
    std::vector<uint64_t> free_masks;
    // Numbers of the slabs with a free buffer, each once.
    std::vector<uint32_t> with_room;
    std::vector<uint32_t> unmapped;
    uint32_t free_slabs = 0;
  };
  static constexpr uint32_t kLargeBit = 1u << 31;

  const uint64_t bytes_max_;
  uint64_t mapped_bytes_ = 0;
  // Most partial requests are one line and some headers. A large buffer holds any whole request.
  SizeClass classes_[2] = {{1024, 64, {}, {}, {}, {}}, {kRequestBytesMax + 32, 16, {}, {}, {}, {}}};
};

}  // namespace sprites

#endif  // SERVER_NATIVE_HTTP_REQUEST_POOL_H_
