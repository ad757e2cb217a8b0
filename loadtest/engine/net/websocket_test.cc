#include "net/websocket.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "plan/random.h"

namespace swarm {
namespace {

struct Got {
  WebSocket::Received what;
  std::string payload;
  uint16_t close_code;
  size_t consumed;
};

Got Read(WebSocket& socket, std::string bytes) {
  WebSocket::Message message;
  const WebSocket::Received what = socket.Read(bytes, &message);
  return {what, std::string(message.payload), message.close_code, message.consumed};
}

WebSocket::Received Outcome(std::string bytes) {
  WebSocket socket;
  return Read(socket, std::move(bytes)).what;
}

std::string ServerFrame(Opcode opcode, std::string_view payload, bool is_final = true) {
  std::string frame;
  AppendServerFrame(opcode, payload, is_final, &frame);
  return frame;
}

std::string ClientFrame(std::string_view payload, uint32_t mask = 0x12345678) {
  std::string frame;
  AppendClientFrame(Opcode::kText, payload, mask, &frame);
  return frame;
}

std::string Bytes(std::initializer_list<int> values) {
  std::string bytes;
  for (const int value : values) {
    bytes += static_cast<char>(value);
  }
  return bytes;
}

constexpr WebSocket::Received kText = WebSocket::Received::kText;
constexpr WebSocket::Received kBad = WebSocket::Received::kBad;
constexpr WebSocket::Received kNeedMore = WebSocket::Received::kNeedMore;

// What a server answers that accepts the upgrade.
std::string AnswerTo(const std::string& request) {
  const size_t at = request.find("Sec-WebSocket-Key: ") + 19;
  return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
         "Sec-WebSocket-Accept: " +
         AcceptOf(request.substr(at, request.find("\r\n", at) - at)) + "\r\n\r\n";
}

WebSocket::Upgrade ReadUpgrade(const WebSocket& socket, std::string bytes,
                               size_t* consumed = nullptr, bool at_end = false) {
  HttpResponse response;
  size_t size = 0;
  const WebSocket::Upgrade result = socket.ReadUpgrade(bytes, at_end, &response, &size);
  if (consumed != nullptr) {
    *consumed = size;
  }
  return result;
}

}  // namespace

TEST_CASE("websocket: the accept value is that of the RFC's example") {
  CHECK_EQ(AcceptOf("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST_CASE("websocket: the request for the upgrade has a key of 16 random bytes") {
  WebSocket socket;
  std::string request;
  socket.AppendUpgrade("/v1/desktops/1a-3f/socket", "relay:8080", {1, 2}, &request);
  CHECK(request.starts_with("GET /v1/desktops/1a-3f/socket HTTP/1.1\r\nHost: relay:8080\r\n"));
  CHECK(request.find("\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n") != std::string::npos);
  CHECK(request.find("\r\nSec-WebSocket-Version: 13\r\n") != std::string::npos);
  CHECK(request.find("\r\nSec-WebSocket-Key: AQAAAAAAAAACAAAAAAAAAA==\r\n") != std::string::npos);
  CHECK(request.ends_with("\r\n\r\n"));
}

TEST_CASE("websocket: an upgrade is complete when its last byte is there, and not before") {
  WebSocket socket;
  std::string request;
  socket.AppendUpgrade("/", "relay", {7, 8}, &request);
  const std::string response = AnswerTo(request);
  for (size_t size = 0; size < response.size(); ++size) {
    CAPTURE(size);
    CHECK(ReadUpgrade(socket, response.substr(0, size)) == WebSocket::Upgrade::kNeedMore);
  }
  size_t consumed = 0;
  CHECK(ReadUpgrade(socket, response + ServerFrame(Opcode::kText, "{}"), &consumed) ==
        WebSocket::Upgrade::kUpgraded);
  CHECK_EQ(consumed, response.size());
}

TEST_CASE("websocket: names and values of the upgrade's fields may be in any case") {
  WebSocket socket;
  std::string request;
  socket.AppendUpgrade("/", "relay", {7, 8}, &request);
  std::string response = AnswerTo(request);
  response.replace(response.find("Upgrade: websocket"), 18, "UPGRADE:WebSocket ");
  response.replace(response.find("Connection: Upgrade"), 19, "connection: a, UPGRADE");
  CHECK(ReadUpgrade(socket, response) == WebSocket::Upgrade::kUpgraded);
}

TEST_CASE("websocket: an upgrade that breaks the RFC is bad") {
  WebSocket socket;
  std::string request;
  socket.AppendUpgrade("/", "relay", {7, 8}, &request);
  const std::string good = AnswerTo(request);
  const auto without = [&](const std::string& field) {
    const size_t at = good.find(field);
    return good.substr(0, at) + good.substr(good.find("\r\n", at) + 2);
  };
  const auto with = [&](const std::string& field) {
    return good.substr(0, good.size() - 2) + field + "\r\n\r\n";
  };
  WebSocket other;
  std::string other_request;
  other.AppendUpgrade("/", "relay", {9, 9}, &other_request);
  for (const std::string& bytes :
       {without("Upgrade:"), without("Connection:"), without("Sec-WebSocket-Accept:"),
        with("Sec-WebSocket-Extensions: permessage-deflate"), with("Sec-WebSocket-Protocol: x"),
        with("no colon"), AnswerTo(other_request),
        good.substr(0, good.size() - 2) + "X: " + std::string(kHeadBytesMax, 'x'),
        std::string("lorem ipsum\r\n\r\n")}) {
    CAPTURE(bytes.substr(0, 200));
    CHECK(ReadUpgrade(socket, bytes) == WebSocket::Upgrade::kBad);
  }
}

TEST_CASE("websocket: any other response refuses the upgrade, with its body") {
  WebSocket socket;
  std::string request;
  socket.AppendUpgrade("/", "relay", {7, 8}, &request);
  std::string bytes = "HTTP/1.1 429 Too Many\r\nRetry-After: 3\r\nContent-Length: 2\r\n\r\n{}";
  HttpResponse response;
  size_t consumed = 0;
  CHECK(socket.ReadUpgrade(bytes, false, &response, &consumed) == WebSocket::Upgrade::kRefused);
  CHECK_EQ(consumed, bytes.size());
  CHECK_EQ(response.status, 429);
  CHECK_EQ(response.retry_after_seconds, 3);
  CHECK_EQ(response.body, "{}");
  CHECK(ReadUpgrade(socket, bytes.substr(0, bytes.size() - 1)) == WebSocket::Upgrade::kNeedMore);
}

TEST_CASE("websocket: a client's frame is masked, and a server gets back what was sent") {
  for (const size_t size : {0, 1, 7, 8, 9, 125, 126, 127, 1024, 65535, 65536}) {
    CAPTURE(size);
    const std::string payload(size, 'x');
    std::string bytes = ClientFrame(payload);
    if (size >= 8) {
      CHECK(bytes.find("xxxxxxxx") == std::string::npos);
    }
    Frame frame;
    CHECK(ParseFrame(std::span(bytes).first(bytes.size() - 1), SentBy::kClient, &frame) ==
          ParseResult::kNeedMore);
    REQUIRE(ParseFrame(bytes, SentBy::kClient, &frame) == ParseResult::kDone);
    CHECK_EQ(frame.consumed, bytes.size());
    CHECK_EQ(std::string(frame.payload.begin(), frame.payload.end()), payload);
  }
}

TEST_CASE("websocket: a masked frame is that of the RFC's example") {
  std::string frame;
  AppendClientFrame(Opcode::kText, "Hello", 0x3d21fa37, &frame);  // bytes 37 fa 21 3d
  CHECK_EQ(frame, Bytes({0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58}));
}

TEST_CASE("websocket: a message arrives whole, however its bytes are cut") {
  for (const size_t size : {0, 1, 125, 126, 65535, 65536}) {
    const std::string payload(size, 'y');
    const std::string bytes = ServerFrame(Opcode::kText, payload);
    WebSocket socket;
    for (size_t cut = 0; cut < std::min<size_t>(bytes.size(), 200); ++cut) {
      CHECK(Read(socket, bytes.substr(0, cut)).what == kNeedMore);
    }
    const Got got = Read(socket, bytes + "more");
    CHECK(got.what == kText);
    CHECK_EQ(got.payload, payload);
    CHECK_EQ(got.consumed, bytes.size());
  }
}

TEST_CASE("websocket: fragments make one message, with control frames between them") {
  WebSocket socket;
  const std::string first = ServerFrame(Opcode::kText, "{\"a", false);
  const std::string ping = ServerFrame(Opcode::kPing, "are you there");
  const std::string middle = ServerFrame(Opcode::kContinuation, "\":", false);
  const std::string last = ServerFrame(Opcode::kContinuation, "1}");
  const Got before = Read(socket, first + ping + middle + last);
  CHECK(before.what == WebSocket::Received::kPing);
  CHECK_EQ(before.payload, "are you there");
  CHECK_EQ(before.consumed, first.size() + ping.size());
  // The rest comes in two parts: what was handled does not come again.
  const Got part = Read(socket, middle + last.substr(0, 1));
  CHECK(part.what == kNeedMore);
  CHECK_EQ(part.consumed, middle.size());
  const Got whole = Read(socket, last);
  CHECK(whole.what == kText);
  CHECK_EQ(whole.payload, "{\"a\":1}");
  CHECK(Read(socket, ServerFrame(Opcode::kText, "next")).what == kText);
}

TEST_CASE("websocket: what breaks the RFC is bad") {
  const std::string begun = ServerFrame(Opcode::kText, "a", false);
  const std::vector<std::pair<const char*, std::string>> cases = {
      {"a masked frame of a server", ClientFrame("{}")},
      {"a reserved bit", Bytes({0xc1, 0x00})},
      {"an unknown opcode", Bytes({0x83, 0x00})},
      {"an unknown control opcode", Bytes({0x8b, 0x00})},
      {"a binary message", ServerFrame(Opcode::kBinary, "x")},
      {"a continuation of nothing", ServerFrame(Opcode::kContinuation, "x")},
      {"a new message within another", begun + ServerFrame(Opcode::kText, "x")},
      {"a fragmented ping", Bytes({0x09, 0x00})},
      {"a long ping", Bytes({0x89, 126, 0, 126})},
      {"a length of 2 bytes that fits in 7 bits", Bytes({0x81, 126, 0, 125})},
      {"a length of 8 bytes that fits in 2", Bytes({0x81, 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff})},
      {"a length above the maximum", Bytes({0x81, 127, 0, 0, 0, 0, 0, 8, 0, 1})},
      {"a length with the highest bit", Bytes({0x81, 127, 0x80, 0, 0, 0, 0, 0, 0, 0})},
      {"text that is not UTF-8", ServerFrame(Opcode::kText, "\xc3(")},
      {"text that ends in a character", ServerFrame(Opcode::kText, "\xe2\x82")},
      {"an overlong character", ServerFrame(Opcode::kText, "\xc0\xaf")},
      {"a surrogate", ServerFrame(Opcode::kText, "\xed\xa0\x80")},
      {"a character above U+10FFFF", ServerFrame(Opcode::kText, "\xf4\x90\x80\x80")},
      {"a close of one byte", ServerFrame(Opcode::kClose, "x")},
      {"a close code that nobody sends", ServerFrame(Opcode::kClose, ClosePayload(1005))},
      {"a close code below 1000", ServerFrame(Opcode::kClose, ClosePayload(999))},
      {"a close reason that is not UTF-8", ServerFrame(Opcode::kClose, ClosePayload(1000, "\xff"))},
  };
  for (const auto& [what, bytes] : cases) {
    CAPTURE(what);
    CHECK(Outcome(bytes) == kBad);
  }
}

TEST_CASE("websocket: text is any UTF-8") {
  CHECK(Outcome(ServerFrame(Opcode::kText, "Zoë, 日本, 🐙 and then some ASCII")) == kText);
  CHECK(Outcome(ServerFrame(Opcode::kText, "\xf4\x8f\xbf\xbf")) == kText);
}

TEST_CASE("websocket: a message at the maximum is read, and one byte more is bad") {
  const std::string half(kMessageBytesMax / 2, 'z');
  CHECK(Outcome(ServerFrame(Opcode::kText, half + half)) == kText);
  CHECK(Outcome(ServerFrame(Opcode::kText, half + half + "z")) == kBad);
  const std::string parts =
      ServerFrame(Opcode::kText, half, false) + ServerFrame(Opcode::kContinuation, half, false);
  CHECK(Outcome(parts + ServerFrame(Opcode::kContinuation, "")) == kText);
  CHECK(Outcome(parts + ServerFrame(Opcode::kContinuation, "z")) == kBad);
}

TEST_CASE("websocket: a close has its code, or none") {
  WebSocket socket;
  const Got with = Read(socket, ServerFrame(Opcode::kClose, ClosePayload(1001, "going down")));
  CHECK(with.what == WebSocket::Received::kClose);
  CHECK_EQ(with.close_code, 1001);
  const Got without = Read(socket, ServerFrame(Opcode::kClose, ""));
  CHECK(without.what == WebSocket::Received::kClose);
  CHECK_EQ(without.close_code, 0);
}

TEST_CASE("websocket: random bytes never stop it and are never read beyond their end") {
  const uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < 20'000; ++i) {
    // On the heap and of exact size, so that a sanitizer sees every byte outside.
    std::vector<char> bytes(random.Next() % 64);
    for (char& byte : bytes) {
      byte = static_cast<char>(random.Next());
    }
    if (!bytes.empty() && random.Next() % 2 == 0) {
      bytes[0] = static_cast<char>(0x80U | (random.Next() % 11));
    }
    WebSocket socket;
    WebSocket::Message message;
    size_t at = 0;
    while (at < bytes.size()) {
      const WebSocket::Received what = socket.Read(std::span(bytes).subspan(at), &message);
      REQUIRE(message.consumed <= bytes.size() - at);
      if (what == kBad || what == kNeedMore) {
        break;
      }
      REQUIRE(message.consumed > 0);
      at += message.consumed;
    }
  }
}

}  // namespace swarm
