// Scans the body of a crossing in the form that well-behaved clients send, and in no other form.
//
// The form: the members in PROTOCOL.md's order, without spaces, escapes or exponents. From `"at":`
// on, such a body is the passage already. CrossingReader in wire/crossing_reader.ts has the same
// scan, and describes what happens to bodies of other forms.
// Invariant: readCrossing() of wire/crossing.ts accepts every body that this accepts, and reads the
// same values (a test compares them).
// Cost: one pass, no allocation. Pure.
#ifndef SERVER_NATIVE_CROSSING_SCAN_H_
#define SERVER_NATIVE_CROSSING_SCAN_H_

#include <cstdint>

namespace sprites {

struct ScannedCrossing {
  uint64_t crossing;       // the sender's number, 1 … 2^53 − 1
  uint32_t edge;           // 0 left, 1 right, 2 top, 3 bottom
  uint32_t passage_start;  // where `"at":` begins
};

// A passage begins with `"edge":"…",`, which is at most this long.
constexpr uint32_t kEntryBytesMax = 16;

// Returns false when the body has another form or is not a crossing: JavaScript must look at it.
bool ScanCrossing(const uint8_t* body, uint32_t size, ScannedCrossing* out);

// Writes the beginning of the passage of a crossing over `edge`. Returns its length.
uint32_t WriteEntry(uint32_t edge, uint8_t* to);

}  // namespace sprites

#endif  // SERVER_NATIVE_CROSSING_SCAN_H_
