#include "io/connection.h"

#include <sys/mman.h>

#include "io/deadline_wheel.h"

namespace sprites {

ConnectionTable::~ConnectionTable() {
  for (Connection* block : blocks_) {
    if (block != nullptr) {
      munmap(block, kBlockSize * sizeof(Connection));
    }
  }
}

Index ConnectionTable::Allocate(int descriptor) {
  Index index = free_;
  if (index != kNoIndex) {
    free_ = At(index).next;
  } else {
    if (size_ == kBlocksMax * kBlockSize) {
      return kNoIndex;
    }
    Connection*& block = blocks_[size_ >> kBlockBits];
    if (block == nullptr) {
      void* memory = mmap(nullptr, kBlockSize * sizeof(Connection), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) {
        return kNoIndex;
      }
      block = static_cast<Connection*>(memory);
    }
    index = size_++;
  }
  Connection& connection = At(index);
  const uint32_t generation = connection.generation;
  connection = {};
  connection.descriptor = descriptor;
  connection.generation = generation & kGenerationMask;
  connection.next = connection.previous = kNoIndex;
  connection.deadline = kNoDeadline;
  connection.state = State::kReading;
  return index;
}

void ConnectionTable::Release(Index index) {
  Connection& connection = At(index);
  connection.state = State::kFree;
  connection.flags = 0;
  connection.generation = (connection.generation + 1) & kGenerationMask;
  connection.next = released_;
  if (released_ == kNoIndex) {
    released_last_ = index;
  }
  released_ = index;
}

void ConnectionTable::EndPass() {
  if (released_ == kNoIndex) {
    return;
  }
  At(released_last_).next = free_;
  free_ = released_;
  released_ = released_last_ = kNoIndex;
}

}  // namespace sprites
