#include "net/websocket.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "net/http_field.h"

namespace swarm {
namespace {

constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";  // RFC 6455 §1.3
constexpr uint8_t kFinalBit = 0x80;
constexpr uint8_t kReservedBits = 0x70;
constexpr uint8_t kOpcodeBits = 0x0f;
constexpr uint8_t kMaskBit = 0x80;
constexpr uint8_t kLength16 = 126;  // the length follows in 2 bytes
constexpr uint8_t kLength64 = 127;  // the length follows in 8 bytes
constexpr size_t kMaskBytes = 4;

std::string Base64(std::span<const unsigned char> bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL writes a zero at the end
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

bool IsControl(Opcode opcode) { return static_cast<uint8_t>(opcode) >= 8; }

bool IsKnown(uint8_t opcode) { return opcode <= 2 || (opcode >= 8 && opcode <= 10); }

void AppendHead(Opcode opcode, bool is_final, size_t size, uint8_t mask_bit, std::string* to) {
  const auto append = [to](uint64_t value, int bytes) {
    for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
      *to += static_cast<char>(value >> shift);
    }
  };
  append(static_cast<uint8_t>(opcode) | (is_final ? kFinalBit : 0U), 1);
  if (size < kLength16) {
    append(mask_bit | size, 1);
  } else if (size <= UINT16_MAX) {
    append(mask_bit | kLength16, 1);
    append(size, 2);
  } else {
    append(mask_bit | kLength64, 1);
    append(size, 8);
  }
}

// Eight bytes at a time: messages of a kilobyte are masked for every throw.
void Mask(std::span<char> bytes, const std::array<char, kMaskBytes>& mask) {
  std::array<char, 8> twice;
  std::memcpy(twice.data(), mask.data(), kMaskBytes);
  std::memcpy(twice.data() + kMaskBytes, mask.data(), kMaskBytes);
  uint64_t wide = 0;
  std::memcpy(&wide, twice.data(), sizeof(wide));
  size_t at = 0;
  for (; at + sizeof(wide) <= bytes.size(); at += sizeof(wide)) {
    uint64_t some = 0;
    std::memcpy(&some, bytes.data() + at, sizeof(some));
    some ^= wide;
    std::memcpy(bytes.data() + at, &some, sizeof(some));
  }
  for (; at < bytes.size(); ++at) {
    bytes[at] = static_cast<char>(bytes[at] ^ mask[at % kMaskBytes]);
  }
}

// Codes that an end may send (RFC 6455 §7.4): not 1004, 1005, 1006 and 1015.
bool MayClose(uint16_t code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
         (code >= 3000 && code <= 4999);
}

// The size of the UTF-8 character that begins with `first`, or 0.
size_t CharacterBytes(uint8_t first) {
  if (first < 0x80) {
    return 1;
  }
  if (first >= 0xc2 && first <= 0xdf) {
    return 2;
  }
  if (first >= 0xe0 && first <= 0xef) {
    return 3;
  }
  return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

// The bytes after the first one may be 80 to bf, except that the second one must make the sequence
// the shortest, no surrogate, and at most U+10FFFF.
bool IsSecondByte(uint8_t first, uint8_t second) {
  switch (first) {
    case 0xe0:
      return second >= 0xa0 && second <= 0xbf;
    case 0xed:
      return second >= 0x80 && second <= 0x9f;
    case 0xf0:
      return second >= 0x90 && second <= 0xbf;
    case 0xf4:
      return second >= 0x80 && second <= 0x8f;
    default:
      return second >= 0x80 && second <= 0xbf;
  }
}

bool IsUtf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    constexpr uint64_t kHighBits = 0x8080808080808080U;
    uint64_t eight = 0;
    if (text.size() - at >= sizeof(eight)) {
      std::memcpy(&eight, text.data() + at, sizeof(eight));
      if ((eight & kHighBits) == 0) {
        at += sizeof(eight);
        continue;
      }
    }
    const auto byte = [&](size_t offset) { return static_cast<uint8_t>(text[at + offset]); };
    const size_t size = CharacterBytes(byte(0));
    if (size == 0 || text.size() - at < size || (size > 1 && !IsSecondByte(byte(0), byte(1)))) {
      return false;
    }
    for (size_t i = 2; i < size; ++i) {
      if (byte(i) < 0x80 || byte(i) > 0xbf) {
        return false;
      }
    }
    at += size;
  }
  return true;
}

}  // namespace

ParseResult ParseFrame(std::span<char> bytes, SentBy sender, Frame* frame) {
  const auto byte = [&](size_t at) { return static_cast<uint8_t>(bytes[at]); };
  if (bytes.size() < 2) {
    return ParseResult::kNeedMore;
  }
  const bool is_masked = (byte(1) & kMaskBit) != 0;
  if ((byte(0) & kReservedBits) != 0 || !IsKnown(byte(0) & kOpcodeBits) ||
      is_masked != (sender == SentBy::kClient)) {
    return ParseResult::kBad;
  }
  frame->opcode = static_cast<Opcode>(byte(0) & kOpcodeBits);
  frame->is_final = (byte(0) & kFinalBit) != 0;
  uint64_t size = byte(1) & ~kMaskBit;
  const size_t size_bytes = size == kLength16 ? 2 : size == kLength64 ? 8 : 0;
  // A control frame is short and whole, so that it can come between the frames of a message.
  if (IsControl(frame->opcode) && (!frame->is_final || size_bytes > 0)) {
    return ParseResult::kBad;
  }
  size_t at = 2 + size_bytes;
  if (bytes.size() < at) {
    return ParseResult::kNeedMore;
  }
  if (size_bytes > 0) {
    size = 0;
    for (size_t i = 2; i < at; ++i) {
      size = size << 8U | byte(i);
    }
    if (size < (size_bytes == 2 ? uint64_t{kLength16} : uint64_t{UINT16_MAX} + 1)) {
      return ParseResult::kBad;
    }
  }
  if (size > kMessageBytesMax) {
    return ParseResult::kBad;
  }
  const size_t mask_at = at;
  at += is_masked ? kMaskBytes : 0;
  if (bytes.size() < at + size) {
    return ParseResult::kNeedMore;
  }
  frame->payload = bytes.subspan(at, size);
  frame->consumed = at + size;
  if (is_masked) {
    std::array<char, kMaskBytes> mask;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(mask_at), kMaskBytes, mask.begin());
    Mask(frame->payload, mask);
  }
  return ParseResult::kDone;
}

void AppendServerFrame(Opcode opcode, std::string_view payload, bool is_final, std::string* to) {
  AppendHead(opcode, is_final, payload.size(), 0, to);
  to->append(payload);
}

void AppendClientFrame(Opcode opcode, std::string_view payload, uint32_t mask, std::string* to) {
  AppendHead(opcode, true, payload.size(), kMaskBit, to);
  std::array<char, kMaskBytes> bytes;
  std::memcpy(bytes.data(), &mask, kMaskBytes);
  to->append(bytes.data(), kMaskBytes);
  const size_t at = to->size();
  to->append(payload);
  Mask(std::span(*to).subspan(at), bytes);
}

std::string ClosePayload(uint16_t code, std::string_view reason) {
  std::string payload;
  payload += static_cast<char>(code >> 8U);
  payload += static_cast<char>(code & 0xffU);
  return payload.append(reason);
}

std::string AcceptOf(std::string_view key) {
  const std::string text = std::string(key).append(kGuid);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  return Base64(std::span(digest).first(size));
}

std::string WebSocket::Key() const {
  std::array<unsigned char, sizeof(nonce_)> bytes;
  std::memcpy(bytes.data(), nonce_.data(), sizeof(nonce_));
  return Base64(bytes);
}

void WebSocket::AppendUpgrade(std::string_view path, std::string_view host,
                              std::array<uint64_t, 2> random, std::string* to) {
  nonce_ = random;
  unfinished_.reset();
  finished_.reset();
  to->append("GET ").append(path).append(" HTTP/1.1\r\nHost: ").append(host);
  to->append("\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13");
  to->append("\r\nSec-WebSocket-Key: ").append(Key()).append("\r\n\r\n");
}

WebSocket::Upgrade WebSocket::ReadUpgrade(std::span<char> bytes, bool at_end,
                                          HttpResponse* response, size_t* consumed) const {
  const std::string_view text(bytes.data(), bytes.size());
  constexpr std::string_view kSwitching = "HTTP/1.1 101";
  if (text.substr(0, kSwitching.size()) != kSwitching.substr(0, text.size())) {
    const ParseResult result = ParseHttpResponse(bytes, at_end, response);
    *consumed = result == ParseResult::kDone ? response->consumed : 0;
    return result == ParseResult::kDone       ? Upgrade::kRefused
           : result == ParseResult::kNeedMore ? Upgrade::kNeedMore
                                              : Upgrade::kBad;
  }
  const size_t end = text.substr(0, kHeadBytesMax).find("\r\n\r\n");
  if (end == std::string_view::npos) {
    return text.size() >= kHeadBytesMax ? Upgrade::kBad : Upgrade::kNeedMore;
  }
  *consumed = end + 4;
  bool is_websocket = false;
  bool is_connection = false;
  bool is_accepted = false;
  bool has_extras = false;
  std::string_view fields = text.substr(0, end + 2);
  fields.remove_prefix(fields.find("\r\n") + 2);
  while (!fields.empty()) {
    const size_t line_end = fields.find("\r\n");
    const std::string_view line = fields.substr(0, line_end);
    fields.remove_prefix(line_end + 2);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      return Upgrade::kBad;
    }
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = Trim(line.substr(colon + 1));
    if (EqualsIgnoringCase(name, "upgrade")) {
      is_websocket = EqualsIgnoringCase(value, "websocket");
    } else if (EqualsIgnoringCase(name, "connection")) {
      is_connection = ContainsIgnoringCase(value, "upgrade");
    } else if (EqualsIgnoringCase(name, "sec-websocket-accept")) {
      is_accepted = value == AcceptOf(Key());
    } else if (EqualsIgnoringCase(name, "sec-websocket-extensions") ||
               EqualsIgnoringCase(name, "sec-websocket-protocol")) {
      has_extras = true;  // none was asked for
    }
  }
  return is_websocket && is_connection && is_accepted && !has_extras ? Upgrade::kUpgraded
                                                                     : Upgrade::kBad;
}

WebSocket::Received WebSocket::Read(std::span<char> bytes, Message* message) {
  message->consumed = 0;
  for (;;) {
    Frame frame;
    const ParseResult result =
        ParseFrame(bytes.subspan(message->consumed), SentBy::kServer, &frame);
    if (result != ParseResult::kDone) {
      return result == ParseResult::kBad ? Received::kBad : Received::kNeedMore;
    }
    message->consumed += frame.consumed;
    const std::string_view payload(frame.payload.data(), frame.payload.size());
    if (IsControl(frame.opcode)) {
      message->payload = payload;
      return ReadControl(frame, message);
    }
    const bool is_first = frame.opcode != Opcode::kContinuation;
    // PROTOCOL.md has text only.
    if (frame.opcode == Opcode::kBinary || is_first != (unfinished_ == nullptr)) {
      return Received::kBad;
    }
    if (is_first && frame.is_final) {
      message->payload = payload;
      return IsUtf8(payload) ? Received::kText : Received::kBad;
    }
    if (is_first) {
      unfinished_ = std::make_unique<std::string>();
    }
    if (unfinished_->size() + payload.size() > kMessageBytesMax) {
      return Received::kBad;
    }
    unfinished_->append(payload);
    if (frame.is_final) {
      finished_ = std::move(unfinished_);
      message->payload = *finished_;
      return IsUtf8(*finished_) ? Received::kText : Received::kBad;
    }
  }
}

WebSocket::Received WebSocket::ReadControl(const Frame& frame, Message* message) const {
  if (frame.opcode != Opcode::kClose) {
    return frame.opcode == Opcode::kPing ? Received::kPing : Received::kPong;
  }
  message->close_code = 0;
  const std::string_view payload = message->payload;
  if (payload.empty()) {
    return Received::kClose;
  }
  if (payload.size() == 1) {
    return Received::kBad;
  }
  message->close_code = static_cast<uint16_t>(static_cast<uint8_t>(payload[0]) << 8U |
                                              static_cast<uint8_t>(payload[1]));
  return MayClose(message->close_code) && IsUtf8(payload.substr(2)) ? Received::kClose
                                                                    : Received::kBad;
}

}  // namespace swarm
