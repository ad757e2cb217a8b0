// Scans the body of a crossing, and writes the passage that it becomes.
//
// The members may come in any order, with spaces between them, and the optional ones may be
// missing. A body with anything else (an escape, an exponent, an unknown or repeated member, text
// beyond ASCII) is left to JavaScript.
// Invariant: readCrossing() of wire/crossing.ts accepts every body that this accepts, and makes the
// same passage of it (a test compares them).
// Cost: one pass, no allocation. Pure.
#ifndef SERVER_NATIVE_HTTP_CROSSING_SCAN_H_
#define SERVER_NATIVE_HTTP_CROSSING_SCAN_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "wire/rules.h"

namespace sprites {

using rules::kPassageBytesMax;

struct ScannedCrossing {
  uint64_t crossing = 0;  // the sender's number, 1 … 2^53 − 1
  rules::Edge edge = rules::Edge::kLeft;
  // Of the passage, in its order: views of the body, except the first one and those of missing
  // members. Numbers and texts are in the form that JSON.stringify() gives them, without quotes.
  std::array<std::string_view, rules::kPassageTexts.size() - 1> values;
};

// Returns false when JavaScript must look at the body: it has another form, or is not a crossing.
bool ScanCrossing(const uint8_t* body, uint32_t size, ScannedCrossing* out);

// Writes the passage of a crossing. Returns its length, at most kPassageBytesMax.
uint32_t WritePassage(const ScannedCrossing& crossing, uint8_t* to);

}  // namespace sprites

#endif  // SERVER_NATIVE_HTTP_CROSSING_SCAN_H_
