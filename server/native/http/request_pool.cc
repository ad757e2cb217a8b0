#include "http/request_pool.h"

#include <sys/mman.h>

#include <bit>
#include <cstring>

namespace sprites {
namespace {

constexpr uint32_t kBufferBits = 6;

}  // namespace

RequestPool::~RequestPool() {
  for (SizeClass& size_class : classes_) {
    for (uint8_t* slab : size_class.slabs) {
      if (slab != nullptr) {
        munmap(slab, size_t{size_class.buffer_bytes} * size_class.buffers);
      }
    }
  }
}

BufferHandle RequestPool::Allocate(uint32_t capacity) {
  const uint32_t large = capacity > classes_[0].buffer_bytes - sizeof(RequestBuffer) ? 1 : 0;
  SizeClass& size_class = classes_[large];
  const uint64_t all_free = size_class.buffers == 64 ? ~0ull : (1ull << size_class.buffers) - 1;
  if (size_class.with_room.empty()) {
    const size_t slab_bytes = size_t{size_class.buffer_bytes} * size_class.buffers;
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
    if (size_class.unmapped.empty()) {
      number = static_cast<uint32_t>(size_class.slabs.size());
      size_class.slabs.push_back(nullptr);
      size_class.free_masks.push_back(0);
    } else {
      number = size_class.unmapped.back();
      size_class.unmapped.pop_back();
    }
    size_class.slabs[number] = static_cast<uint8_t*>(memory);
    size_class.free_masks[number] = all_free;
    size_class.with_room.push_back(number);
    ++size_class.free_slabs;
  }
  const uint32_t number = size_class.with_room.back();
  uint64_t& mask = size_class.free_masks[number];
  if (mask == all_free) {
    --size_class.free_slabs;
  }
  const uint32_t at = static_cast<uint32_t>(std::countr_zero(mask));
  mask &= mask - 1;
  if (mask == 0) {
    size_class.with_room.pop_back();
  }
  const BufferHandle handle = ((number << kBufferBits | at) + 1) | (large != 0 ? kLargeBit : 0);
  RequestBuffer* buffer = At(handle);
  *buffer = {};
  buffer->capacity = size_class.buffer_bytes - static_cast<uint32_t>(sizeof(RequestBuffer));
  return handle;
}

RequestBuffer* RequestPool::At(BufferHandle handle) const {
  const SizeClass& size_class = classes_[(handle & kLargeBit) != 0 ? 1 : 0];
  const uint32_t place = (handle & ~kLargeBit) - 1;
  uint8_t* slab = size_class.slabs[place >> kBufferBits];
  return reinterpret_cast<RequestBuffer*>(slab + size_t{size_class.buffer_bytes} *
                                                     (place & ((1u << kBufferBits) - 1)));
}

void RequestPool::Release(BufferHandle handle) {
  SizeClass& size_class = classes_[(handle & kLargeBit) != 0 ? 1 : 0];
  const uint64_t all_free = size_class.buffers == 64 ? ~0ull : (1ull << size_class.buffers) - 1;
  const uint32_t place = (handle & ~kLargeBit) - 1;
  const uint32_t number = place >> kBufferBits;
  uint64_t& mask = size_class.free_masks[number];
  if (mask == 0) {
    size_class.with_room.push_back(number);
  }
  mask |= 1ull << (place & ((1u << kBufferBits) - 1));
  if (mask != all_free) {
    return;
  }
  if (++size_class.free_slabs == 1) {
    return;
  }
  const size_t slab_bytes = size_t{size_class.buffer_bytes} * size_class.buffers;
  munmap(size_class.slabs[number], slab_bytes);
  mapped_bytes_ -= slab_bytes;
  size_class.slabs[number] = nullptr;
  mask = 0;
  --size_class.free_slabs;
  std::erase(size_class.with_room, number);
  size_class.unmapped.push_back(number);
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
