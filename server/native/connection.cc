#include "connection.h"

#include <sys/mman.h>

#include "deadline_wheel.h"

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
    if (size_ == kBlocks * kBlockSize) {
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
  connection.next = limbo_;
  if (limbo_ == kNoIndex) {
    limbo_last_ = index;
  }
  limbo_ = index;
}

void ConnectionTable::EndPass() {
  if (limbo_ == kNoIndex) {
    return;
  }
  At(limbo_last_).next = free_;
  free_ = limbo_;
  limbo_ = limbo_last_ = kNoIndex;
}

}  // namespace sprites
