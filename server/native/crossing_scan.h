// Reads a crossing's body of the form that well-behaved clients send, and nothing else.
//
// The same scan as CrossingReader's in wire/crossing_reader.ts, which says what it does with
// whatever is not of this form: the members in PROTOCOL.md's order, without spaces, escapes or
// exponents. From `"at":` on such a body already is the passage. Pure, one pass, no allocation.
// Invariant: what it takes, readCrossing() of wire/crossing.ts takes too, and reads the same (a
// test compares them).
#ifndef SERVER_NATIVE_CROSSING_SCAN_H_
#define SERVER_NATIVE_CROSSING_SCAN_H_

#include <cstdint>

namespace sprites {

struct ScannedCrossing {
  uint64_t crossing;       // the sender's number, 1 … 2^53 − 1
  uint32_t edge;           // 0 left, 1 right, 2 top, 3 bottom
  uint32_t passage_start;  // where `"at":` begins
};

// What a passage begins with, `"edge":"…",`, is at most this long.
constexpr uint32_t kEntryBytesMax = 16;

// False when the body is not of this form, or not a crossing at all: somebody else has to look.
bool ScanCrossing(const uint8_t* body, uint32_t size, ScannedCrossing* out);

// Writes what the passage of a crossing over `edge` begins with; answers its length.
uint32_t WriteEntry(uint32_t edge, uint8_t* to);

}  // namespace sprites

#endif  // SERVER_NATIVE_CROSSING_SCAN_H_
