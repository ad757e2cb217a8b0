#include "io/request_reader.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "io/socket_calls.h"

namespace sprites {

RequestReader::Got RequestReader::Read(Connection& connection, UnreadBytes* out) {
  uint8_t* into = scratch_;
  uint32_t room = sizeof scratch_;
  RequestBuffer* buffer = nullptr;
  if (connection.unread != kNoBuffer) {
    buffer = pool_.At(connection.unread);
    if (buffer->size == buffer->capacity) {
      const BufferHandle larger = pool_.Grow(connection.unread, kRequestBytesMax);
      if (larger == kNoBuffer) {
        return Got::kNoRoom;
      }
      connection.unread = larger;
      buffer = pool_.At(larger);
    }
    into = buffer->bytes() + buffer->size;
    room = buffer->capacity - buffer->size;
  }
  const ssize_t got = Receive(connection.descriptor, into, room, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    connection.Unset(kReadable);
    return Got::kNothing;
  }
  if (got <= 0) {
    return Got::kEnd;
  }
  // Fewer bytes than there was room for: the socket is empty, and the next byte (or the end) is a
  // new edge.
  if (static_cast<uint32_t>(got) < room && !connection.Has(kPeerClosed)) {
    connection.Unset(kReadable);
  }
  if (buffer != nullptr) {
    buffer->size += static_cast<uint32_t>(got);
    *out = {buffer->bytes(), buffer->size, &buffer->place};
  } else {
    scratch_place_ = {};
    *out = {scratch_, static_cast<uint32_t>(got), &scratch_place_};
  }
  return Got::kBytes;
}

RequestReader::Got RequestReader::Discard(const Connection& connection) {
  constexpr int kRoundsMax = 16;
  for (int round = 0; round < kRoundsMax; ++round) {
    // MSG_TRUNC discards bytes without copying them.
    const ssize_t got =
        Receive(connection.descriptor, scratch_, sizeof scratch_, MSG_DONTWAIT | MSG_TRUNC);
    if (got <= 0) {
      return got == 0 || errno != EAGAIN ? Got::kEnd : Got::kNothing;
    }
  }
  return Got::kBytes;
}

UnreadBytes RequestReader::Kept(const Connection& connection) const {
  RequestBuffer* buffer = pool_.At(connection.unread);
  return {buffer->bytes(), buffer->size, &buffer->place};
}

bool RequestReader::KeepPartial(Connection& connection, const UnreadBytes& unread) {
  if (connection.unread != kNoBuffer) {
    return true;  // the bytes are in the connection's buffer already
  }
  const uint32_t capacity =
      std::min(std::max(unread.size + 1, unread.place->needed), kRequestBytesMax);
  if (!Store(connection, unread.at, unread.size, capacity)) {
    return false;
  }
  pool_.At(connection.unread)->place = *unread.place;
  return true;
}

bool RequestReader::KeepFrom(uint32_t start, Connection& connection, const UnreadBytes& unread) {
  const uint32_t size = unread.size - start;
  if (size == 0) {
    Release(connection);
    return true;
  }
  if (connection.unread == kNoBuffer) {
    return Store(connection, unread.at + start, size, size);
  }
  RequestBuffer* buffer = pool_.At(connection.unread);
  memmove(buffer->bytes(), unread.at + start, size);
  buffer->size = size;
  buffer->place = {};
  return true;
}

bool RequestReader::Store(Connection& connection, const uint8_t* bytes, uint32_t size,
                          uint32_t capacity) {
  connection.unread = pool_.Allocate(capacity);
  if (connection.unread == kNoBuffer) {
    return false;
  }
  RequestBuffer* buffer = pool_.At(connection.unread);
  memcpy(buffer->bytes(), bytes, size);
  buffer->size = size;
  return true;
}

void RequestReader::Release(Connection& connection) {
  if (connection.unread != kNoBuffer) {
    pool_.Release(connection.unread);
    connection.unread = kNoBuffer;
  }
}

}  // namespace sprites
