// Reads the bytes of requests, and keeps the bytes of a connection that can't be handled yet: a
// partial request, or what follows a request that still waits for its answer.
//
// Threads: all of it belongs to its loop's thread.
// Invariant: a connection has a buffer (Connection::unread) only while it keeps bytes. A request
// that arrives whole is handled in the scratch space and needs no buffer.
// Cost: one recv a read; bytes are copied only when they are kept.
#ifndef SERVER_NATIVE_IO_REQUEST_READER_H_
#define SERVER_NATIVE_IO_REQUEST_READER_H_

#include <cstdint>

#include "http/request_parser.h"
#include "http/request_pool.h"
#include "io/connection.h"

namespace sprites {

// Bytes that begin with a request, and where the parser stopped in them. They lie in the scratch
// space or in the connection's buffer: valid until the reader is called again.
struct UnreadBytes {
  const uint8_t* at;
  uint32_t size;
  ParserPlace* place;
};

class RequestReader {
 public:
  enum class Got : uint8_t {
    kBytes,
    kNothing,  // the socket is empty
    kEnd,      // the peer closed its half, or the connection failed
    kNoRoom,   // the bound of kept bytes is reached
  };

  explicit RequestReader(uint64_t kept_bytes_max) : pool_(kept_bytes_max) {}

  // Receives bytes, behind those that the connection keeps. kBytes: `out` has all of them.
  Got Read(Connection& connection, UnreadBytes* out);
  // Receives and discards bytes. kBytes: there may be more, which no event will report.
  Got Discard(const Connection& connection);

  // The bytes that a connection keeps. REQUIRES: it keeps some.
  UnreadBytes Kept(const Connection& connection) const;
  // Keeps the bytes of a partial request. Returns false when there is no room.
  bool KeepPartial(Connection& connection, const UnreadBytes& unread);
  // Keeps the bytes from `start` on, if there are any. Returns false when there is no room.
  bool KeepFrom(uint32_t start, Connection& connection, const UnreadBytes& unread);
  // Frees what the connection keeps, if anything.
  void Release(Connection& connection);

 private:
  bool Store(Connection& connection, const uint8_t* bytes, uint32_t size, uint32_t capacity);

  RequestPool pool_;
  ParserPlace scratch_place_ = {};
  uint8_t scratch_[kRequestBytesMax];
};

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_REQUEST_READER_H_
