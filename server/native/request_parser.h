// Reads one HTTP/1.1 request of exactly the form the two hot routes need, and tells everything else
// apart.
//
// Pure: bytes in, a verdict out; it allocates nothing and keeps no state but the place where it
// stopped looking. Strict where reading leniently would let two programs read one request
// differently (RFC 9112 §11): a bare LF, folded headers, a space before the colon, two lengths, or
// a length beside Transfer-Encoding are all malformed. Cost: a byte of the head is looked at twice
// (line ends, then meaning), however the bytes are split.
#ifndef SERVER_NATIVE_REQUEST_PARSER_H_
#define SERVER_NATIVE_REQUEST_PARSER_H_

#include <cstdint>

namespace sprites {

constexpr uint32_t kHeadBytesMax = 8192;  // what a browser's cookies and headers come to, twice
constexpr uint32_t kBodyBytesMax = 1024;  // CROSSING_BYTES_MAX of the wire
constexpr uint32_t kRequestBytesMax = kHeadBytesMax + kBodyBytesMax;
constexpr uint32_t kNoSlot = 0xffffffff;  // NO_SLOT of front.ts

// The hot route a listener serves.
enum class Route : uint8_t { kEvents, kCrossings };

enum class Parsed : uint8_t {
  kPartial,       // more bytes are needed
  kPoll,          // a whole GET …/events
  kCrossing,      // a whole POST …/crossings
  kOther,         // well-formed, but not this listener's hot route
  kMalformed,     // not a request, or an ambiguous one: nothing after it can be trusted
  kBadCursor,     // a poll whose cursor is not of its form
  kChunked,       // hot, but its body comes with Transfer-Encoding
  kTooLarge,      // a body of more than kBodyBytesMax is announced
  kHeadTooLarge,  // a head of more than kHeadBytesMax
};

struct Request {
  uint32_t slot;
  uint32_t generation;
  uint32_t token[4];
  uint32_t epoch;
  uint32_t seq;
  uint32_t body_start;
  uint32_t body_length;
  uint32_t bytes;  // what the whole request takes of the input
  bool has_cursor;
  bool keep_alive;
  bool is_http10;
  bool expects_continue;  // kPartial: the head is whole, and the client waits to be told to send
                          // the body
  // Of kOther only:
  bool is_known_path;
  bool is_head;
  bool is_options;
  bool has_body;
};

// Where to go on when more bytes of the same request have come. All zero at its beginning.
struct ParserPlace {
  uint32_t start;   // of the request line, behind empty lines
  uint32_t line;    // start of the first line that has not ended yet
  uint32_t needed;  // bytes of the whole request, once its head is known
};

// Looks at bytes[0, size), which begin with a request. `place` belongs to these bytes and to no
// others. Fills `request` for every verdict but kMalformed, kHeadTooLarge; for kPartial only
// expects_continue.
Parsed ParseRequest(const uint8_t* bytes, uint32_t size, Route route, ParserPlace* place,
                    Request* request);

// False as soon as the bytes can't become a request for `route`, however they go on.
bool MayBecomeHot(const uint8_t* bytes, uint32_t size, Route route);

}  // namespace sprites

#endif  // SERVER_NATIVE_REQUEST_PARSER_H_
