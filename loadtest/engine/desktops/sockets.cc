#include "desktops/sockets.h"

#include <string>

#include "net/json_reader.h"

namespace swarm {
namespace {

enum class MessageKind : uint8_t { kBatch, kVerdict, kProblem, kUnknown };

// A verdict may have a problem too, so its number decides, wherever it stands.
MessageKind KindOf(std::string_view text) {
  MessageKind kind = MessageKind::kUnknown;
  JsonReader json(text);
  std::string_view key;
  json.EnterObject();
  while (json.NextMember(&key)) {
    if (key == "crossing" || key == "saying") {
      return MessageKind::kVerdict;
    }
    if (key == "cursor" || key == "events") {
      return MessageKind::kBatch;
    }
    if (key == "problem") {
      kind = MessageKind::kProblem;
    }
    json.Skip();
  }
  return json.ok() ? kind : MessageKind::kUnknown;
}

Problem ReadProblemMessage(std::string_view text) {
  JsonReader json(text);
  std::string_view key;
  json.EnterObject();
  while (json.NextMember(&key)) {
    if (key == "problem") {
      return ReadProblem(&json);
    }
    json.Skip();
  }
  return {};
}

}  // namespace

void Sockets::OnEvent(uint32_t index, uint32_t events) {
  if (!polls_.DelayRead(index, events)) {
    slice_.HandleEvent(slice_.desktops[index].poll, events, *this, index);
  }
}

void Sockets::ReadLate(uint32_t index) {
  polls_.EndDelay(index);
  slice_.HandleEvent(slice_.desktops[index].poll, kLateEvents, *this, index);
}

void Sockets::OnOpen(uint32_t index) {
  Desktop& desktop = slice_.desktops[index];
  Socket& socket = slice_.sockets[index];
  socket.state = Socket::State::kUpgrading;
  socket.identified = false;
  socket.pace = {};
  desktop.poll_sent_ms = slice_.MsSinceStart(NowNs());
  const std::string path = "/v1/desktops/" + std::string(desktop.id.view()) + "/socket";
  slice_.request.clear();
  socket.web.AppendUpgrade(path, slice_.endpoints.At(desktop.events_endpoint).text,
                           {slice_.masks.Next(), slice_.masks.Next()}, &slice_.request);
  if (!slice_.Send(desktop.poll, slice_.request)) {
    OnBroken(index);
  }
}

std::optional<size_t> Sockets::OnBytes(uint32_t index, std::span<char> bytes, bool at_end) {
  Connection& connection = slice_.desktops[index].poll;
  size_t handled = 0;
  bool needs_more = false;
  while (handled < bytes.size() && connection.open() && !needs_more) {
    const std::span<char> rest = bytes.subspan(handled);
    const bool is_upgrading = slice_.sockets[index].state == Socket::State::kUpgrading;
    const std::optional<size_t> more =
        is_upgrading ? ReadUpgrade(index, rest, at_end) : ReadMessage(index, rest, &needs_more);
    if (!more) {
      return std::nullopt;
    }
    needs_more = needs_more || *more == 0;
    handled += *more;
  }
  return handled;
}

std::optional<size_t> Sockets::ReadUpgrade(uint32_t index, std::span<char> bytes, bool at_end) {
  Socket& socket = slice_.sockets[index];
  HttpResponse response;
  size_t consumed = 0;
  switch (socket.web.ReadUpgrade(bytes, at_end, &response, &consumed)) {
    case WebSocket::Upgrade::kNeedMore:
      return 0;
    case WebSocket::Upgrade::kBad:
      return std::nullopt;
    case WebSocket::Upgrade::kRefused:
      ++slice_.counters.sockets_refused;
      polls_.OnUpgradeRefused(index, ReadProblem(response));
      return consumed;
    case WebSocket::Upgrade::kUpgraded:
      break;
  }
  socket.state = Socket::State::kOpen;
  ++slice_.counters.sockets_opened;
  polls_.OnOpen(index);
  return consumed;
}

std::optional<size_t> Sockets::ReadMessage(uint32_t index, std::span<char> bytes,
                                           bool* needs_more) {
  WebSocket::Message message;
  switch (slice_.sockets[index].web.Read(bytes, &message)) {
    case WebSocket::Received::kNeedMore:
      *needs_more = true;
      break;
    case WebSocket::Received::kBad:
      return std::nullopt;
    case WebSocket::Received::kText:
      if (!OnText(index, message.payload)) {
        return std::nullopt;
      }
      break;
    case WebSocket::Received::kPing:
      ++slice_.counters.socket_pings;
      SendControl(index, Opcode::kPong, message.payload);
      break;
    case WebSocket::Received::kPong:
      break;  // nothing asked for it, and that is allowed
    case WebSocket::Received::kClose:
      ++slice_.counters.socket_closes;
      SendControl(index, Opcode::kClose,
                  message.close_code == 0 ? std::string() : ClosePayload(message.close_code));
      OnBroken(index);
      break;
  }
  return message.consumed;
}

bool Sockets::OnText(uint32_t index, std::string_view text) {
  switch (KindOf(text)) {
    case MessageKind::kBatch:
      polls_.OnBatch(index, text, true);
      return true;
    case MessageKind::kVerdict: {
      const Verdict verdict = ReadVerdictMessage(text);
      if (verdict.valid) {
        slice_.news.push_back({SocketNews::What::kVerdict, index, verdict});
      }
      return verdict.valid;
    }
    case MessageKind::kProblem:
      slice_.sockets[index].state = Socket::State::kClosing;
      polls_.OnRefused(index, ReadProblemMessage(text));
      return true;
    case MessageKind::kUnknown:
      return false;
  }
  return false;
}

void Sockets::SendControl(uint32_t index, Opcode opcode, std::string_view payload) {
  Connection& connection = slice_.desktops[index].poll;
  if (!connection.open()) {
    return;
  }
  slice_.request.clear();
  AppendClientFrame(opcode, payload, static_cast<uint32_t>(slice_.masks.Next()), &slice_.request);
  slice_.sockets[index].pace.Count(NowNs());
  if (!slice_.Send(connection, slice_.request)) {
    OnBroken(index);
  }
}

}  // namespace swarm
