// A WebSocket as bytes (RFC 6455): the opening handshake, frames, and the messages that they carry.
//
// Nothing here has a socket. The client's side is complete; frames and the accept value also serve
// a server, for tests.
// Invariant: a reader reads nothing outside `bytes` and allocates only for a message in several
// frames. Whatever breaks the RFC is kBad: reserved bits, unknown opcodes, a mask where none may
// be, a length that is not the shortest, a control frame that is long or fragmented, a message that
// is interrupted by another one or is not UTF-8. Messages have a maximum, so a peer cannot fill the
// memory.
#ifndef LOADTEST_ENGINE_NET_WEBSOCKET_H_
#define LOADTEST_ENGINE_NET_WEBSOCKET_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/http_response.h"

namespace swarm {

enum class Opcode : uint8_t {
  kContinuation = 0,
  kText = 1,
  kBinary = 2,
  kClose = 8,
  kPing = 9,
  kPong = 10,
};

// A message is what an answered poll would be.
constexpr size_t kMessageBytesMax = kBodyBytesMax;

struct Frame {
  Opcode opcode = Opcode::kText;
  bool is_final = true;
  std::span<char> payload;  // a view of the bytes given
  size_t consumed = 0;
};

// Who sent a frame. A client masks all of its frames, a server none.
enum class SentBy : uint8_t { kClient, kServer };

// Reads one frame. The payload of a client's frame is unmasked in place.
ParseResult ParseFrame(std::span<char> bytes, SentBy sender, Frame* frame);
void AppendServerFrame(Opcode opcode, std::string_view payload, bool is_final, std::string* to);
// `mask`: a random number.
void AppendClientFrame(Opcode opcode, std::string_view payload, uint32_t mask, std::string* to);
// The payload of a close frame.
std::string ClosePayload(uint16_t code, std::string_view reason = {});

// The value of Sec-WebSocket-Accept that belongs to a key.
std::string AcceptOf(std::string_view key);

// The client's end of one WebSocket. Memory: 32 bytes, and a message while it is incomplete.
class WebSocket {
 public:
  enum class Upgrade : uint8_t { kNeedMore, kUpgraded, kRefused, kBad };
  enum class Received : uint8_t { kNeedMore, kText, kPing, kPong, kClose, kBad };

  struct Message {
    std::string_view payload;  // a view of the bytes given or of the socket, until the next call
    uint16_t close_code = 0;   // of a close that has one
    size_t consumed = 0;
  };

  // Appends the request for the upgrade, with a new key made of `random`, and forgets all state.
  void AppendUpgrade(std::string_view path, std::string_view host, std::array<uint64_t, 2> random,
                     std::string* to);
  // Reads the response. kUpgraded: `consumed` is the size of its head. kRefused: it is `response`.
  Upgrade ReadUpgrade(std::span<char> bytes, bool at_end, HttpResponse* response,
                      size_t* consumed) const;
  // Reads up to the end of the next text or control message. `consumed` counts also when it needs
  // more: frames that are kept here.
  Received Read(std::span<char> bytes, Message* message);

 private:
  std::string Key() const;
  Received ReadControl(const Frame& frame, Message* message) const;

  std::array<uint64_t, 2> nonce_{};
  std::unique_ptr<std::string> unfinished_;  // the frames of a text message so far
  std::unique_ptr<std::string> finished_;    // the last one that came in several frames
};

static_assert(sizeof(WebSocket) == 32);

}  // namespace swarm

#endif  // LOADTEST_ENGINE_NET_WEBSOCKET_H_
