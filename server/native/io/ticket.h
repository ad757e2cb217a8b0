// Names one request that waits for its answer.
//
// JavaScript holds a ticket as an integer below 2^48, which a double represents exactly: the number
// of the thread, the index of the record in its table, and the record's generation, which rises
// with every request and every close. So a late answer finds another generation and is dropped.
#ifndef SERVER_NATIVE_IO_TICKET_H_
#define SERVER_NATIVE_IO_TICKET_H_

#include <cstdint>

namespace sprites {

using Index = uint32_t;  // a record of one thread's connection table

constexpr uint32_t kIndexBits = 20;       // 1,048,576 connections a thread
constexpr uint32_t kGenerationBits = 20;  // wraps after a million requests on one record
constexpr uint32_t kThreadBits = 8;
constexpr uint32_t kGenerationMask = (1u << kGenerationBits) - 1;
constexpr Index kNoIndex = 0xffffffff;
static_assert(kIndexBits + kGenerationBits + kThreadBits == 48);

struct Ticket {
  uint32_t thread;
  Index index;
  uint32_t generation;

  static constexpr Ticket Unpack(uint64_t packed) {
    return {static_cast<uint32_t>(packed >> (kIndexBits + kGenerationBits)),
            static_cast<Index>(packed & ((1u << kIndexBits) - 1)),
            static_cast<uint32_t>(packed >> kIndexBits) & kGenerationMask};
  }
  constexpr uint64_t Pack() const {
    return static_cast<uint64_t>(thread) << (kIndexBits + kGenerationBits) |
           static_cast<uint64_t>(generation) << kIndexBits | index;
  }
};

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_TICKET_H_
