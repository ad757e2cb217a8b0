// Parses one HTTP/1.1 request of exactly the form that the hot routes need, and classifies
// every other request.
//
// Pure: bytes in, a verdict out. It allocates nothing and keeps no state except the place where it
// stopped.
// It is strict where two programs could read one request differently (RFC 9112 §11): a bare LF, a
// folded header, a space before the colon, two lengths, or a length beside Transfer-Encoding is
// malformed.
// Cost: each byte of the head is read twice (line ends, then meaning), however the bytes are split.
#ifndef SERVER_NATIVE_HTTP_REQUEST_PARSER_H_
#define SERVER_NATIVE_HTTP_REQUEST_PARSER_H_

#include <algorithm>
#include <cstdint>

#include "wire/rules.h"

namespace sprites {

using rules::kHeadBytesMax;
using rules::kHeadersMax;
using rules::kStageBytesMax;
// Of a crossing, or of a saying.
constexpr uint32_t kBodyBytesMax = std::max(rules::kCrossingBytesMax, rules::kSayingBodyBytesMax);
constexpr uint32_t kRequestBytesMax = kHeadBytesMax + kStageBytesMax;
constexpr uint32_t kNoSlot = 0xffffffff;  // NO_SLOT in front.ts

// The hot routes a listener serves: polls; or crossings, sayings and stages, which have the same
// form.
enum class Route : uint8_t { kEvents, kCrossings };

// What a hot POST is.
enum class Post : uint8_t { kCrossing, kSaying, kStage };

enum class Parsed : uint8_t {
  kPartial,       // more bytes are needed
  kPoll,          // a whole GET …/events
  kCrossing,      // a whole POST …/crossings, …/sayings or …/stage
  kOther,         // well-formed, but not this listener's hot route
  kMalformed,     // not a request, or an ambiguous one: the bytes after it can't be trusted
  kBadCursor,     // a poll with a malformed cursor
  kChunked,       // hot, but with Transfer-Encoding
  kTooLarge,      // the announced body exceeds kBodyBytesMax, or kStageBytesMax
  kHeadTooLarge,  // the head exceeds kHeadBytesMax or kHeadersMax
};

struct Request {
  uint32_t slot;
  uint32_t generation;
  uint32_t token[4];
  uint32_t epoch;
  uint32_t seq;
  uint32_t body_start;
  uint32_t body_length;
  uint32_t bytes;  // of the whole request
  bool has_cursor;
  bool keep_alive;
  bool is_http10;
  Post post;              // kCrossing: which of them it is
  bool expects_continue;  // kPartial: the head is whole, and the client waits for 100 Continue
  // Only for kOther:
  bool is_known_path;
  bool is_head;
  bool is_options;
  bool has_body;
};

// Where to continue when more bytes of the same request have arrived. All zero at first.
struct ParserPlace {
  uint32_t start;   // of the request line, after empty lines
  uint32_t line;    // start of the first line that has no end yet
  uint32_t needed;  // bytes of the whole request, once its head is parsed; 0: not known
};

// Parses the request at the beginning of bytes[0, size). `place` belongs to these bytes only. Fills
// `request` for every verdict except kMalformed and kHeadTooLarge; for kPartial it fills only
// expects_continue.
Parsed ParseRequest(const uint8_t* bytes, uint32_t size, Route route, ParserPlace* place,
                    Request* request);

// Returns false as soon as the bytes can't become a request for `route`, however they continue.
bool MayBecomeHot(const uint8_t* bytes, uint32_t size, Route route);

}  // namespace sprites

#endif  // SERVER_NATIVE_HTTP_REQUEST_PARSER_H_
