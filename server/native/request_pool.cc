#include "request_pool.h"

#include <sys/mman.h>

#include <bit>
#include <cstring>

namespace sprites {
namespace {

constexpr uint32_t kBufferBits = 6;

}  // namespace

RequestPool::~RequestPool() {
  for (Kind& kind : kinds_) {
    for (uint8_t* slab : kind.slabs) {
      if (slab != nullptr) {
        munmap(slab, size_t{kind.buffer_bytes} * kind.buffers);
      }
    }
  }
}

BufferHandle RequestPool::Allocate(uint32_t capacity) {
  const uint32_t large = capacity > kinds_[0].buffer_bytes - sizeof(RequestBuffer) ? 1 : 0;
  Kind& kind = kinds_[large];
  const uint64_t all_free = kind.buffers == 64 ? ~0ull : (1ull << kind.buffers) - 1;
  while (!kind.roomy.empty() && kind.free_masks[kind.roomy.back()] == 0) {
    kind.roomy.pop_back();
  }
  if (kind.roomy.empty()) {
    const size_t slab_bytes = size_t{kind.buffer_bytes} * kind.buffers;
    if (mapped_bytes_ + slab_bytes > bytes_max_) {
      return kNoBuffer;
    }
    void* memory =
        mmap(nullptr, slab_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      return kNoBuffer;
    }
    mapped_bytes_ += slab_bytes;
    uint32_t number;
    if (kind.unmapped.empty()) {
      number = static_cast<uint32_t>(kind.slabs.size());
      kind.slabs.push_back(nullptr);
      kind.free_masks.push_back(0);
    } else {
      number = kind.unmapped.back();
      kind.unmapped.pop_back();
    }
    kind.slabs[number] = static_cast<uint8_t*>(memory);
    kind.free_masks[number] = all_free;
    kind.roomy.push_back(number);
    ++kind.wholly_free;
  }
  const uint32_t number = kind.roomy.back();
  uint64_t& mask = kind.free_masks[number];
  if (mask == all_free) {
    --kind.wholly_free;
  }
  const uint32_t at = static_cast<uint32_t>(std::countr_zero(mask));
  mask &= mask - 1;
  const BufferHandle handle = ((number << kBufferBits | at) + 1) | (large != 0 ? kLargeBit : 0);
  RequestBuffer* buffer = At(handle);
  *buffer = {};
  buffer->capacity = kind.buffer_bytes - static_cast<uint32_t>(sizeof(RequestBuffer));
  return handle;
}

RequestBuffer* RequestPool::At(BufferHandle handle) const {
  const Kind& kind = kinds_[(handle & kLargeBit) != 0 ? 1 : 0];
  const uint32_t place = (handle & ~kLargeBit) - 1;
  uint8_t* slab = kind.slabs[place >> kBufferBits];
  return reinterpret_cast<RequestBuffer*>(slab + size_t{kind.buffer_bytes} *
                                                     (place & ((1u << kBufferBits) - 1)));
}

void RequestPool::Release(BufferHandle handle) {
  Kind& kind = kinds_[(handle & kLargeBit) != 0 ? 1 : 0];
  const uint64_t all_free = kind.buffers == 64 ? ~0ull : (1ull << kind.buffers) - 1;
  const uint32_t place = (handle & ~kLargeBit) - 1;
  const uint32_t number = place >> kBufferBits;
  uint64_t& mask = kind.free_masks[number];
  if (mask == 0) {
    kind.roomy.push_back(number);
  }
  mask |= 1ull << (place & ((1u << kBufferBits) - 1));
  if (mask != all_free) {
    return;
  }
  if (++kind.wholly_free == 1) {
    return;
  }
  const size_t slab_bytes = size_t{kind.buffer_bytes} * kind.buffers;
  munmap(kind.slabs[number], slab_bytes);
  mapped_bytes_ -= slab_bytes;
  kind.slabs[number] = nullptr;
  mask = 0;
  --kind.wholly_free;
  std::erase(kind.roomy, number);
  kind.unmapped.push_back(number);
}

BufferHandle RequestPool::Grow(BufferHandle handle, uint32_t capacity) {
  const BufferHandle larger = Allocate(capacity);
  if (larger == kNoBuffer) {
    return kNoBuffer;
  }
  RequestBuffer* to = At(larger);
  RequestBuffer* from = At(handle);
  to->size = from->size;
  to->place = from->place;
  memcpy(to->bytes(), from->bytes(), from->size);
  Release(handle);
  return larger;
}

}  // namespace sprites
