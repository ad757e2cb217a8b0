#include "desktops/hostiles.h"

#include <algorithm>
#include <string>

namespace swarm {
namespace {

constexpr size_t kGarbageBytes = 512;
constexpr int kFloodRequests = 64;  // some 10 KB

void AppendGarbage(std::string& to, Random& random) {
  for (size_t i = 0; i < kGarbageBytes; ++i) {
    to += static_cast<char>(random.Next());
  }
}

void AppendFlood(std::string& to, std::string_view host) {
  for (int i = 0; i < kFloodRequests; ++i) {
    to.append("GET /v1/desktops/ffffff-1/events HTTP/1.1\r\nHost: ").append(host);
    to.append("\r\nAuthorization: Bearer ffffff-1.00000000000000000000000000000000\r\n\r\n");
  }
}

void AppendHalf(std::string& to, std::string_view host) {
  to.append("POST /v1/desktops HTTP/1.1\r\nHost: ").append(host);
  to.append("\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n{\"name\":\"ha");
}

}  // namespace

void Hostiles::Strike(uint32_t index) {
  Desktop& desktop = slice_.desktops[index];
  slice_.Close(desktop.poll);
  desktop.events_endpoint = strikes_++ % 2 == 0 ? slice_.ApiEndpoint(index) : EventsEndpoint(index);
  desktop.parried = false;
  ++slice_.counters.strikes;
  // If it cannot be opened, the next strike tries again.
  static_cast<void>(slice_.Connect(desktop.poll, TagOf(Part::kPoll, index), desktop.events_endpoint,
                                   slice_.GlobalIndex(index)));
}

void Hostiles::Send(uint32_t index) {
  Desktop& desktop = slice_.desktops[index];
  const std::string& host = slice_.endpoints.At(desktop.events_endpoint).text;
  std::string& bytes = slice_.request;
  bytes.clear();
  switch (++desktop.crossing % 3) {
    case 0:
      AppendGarbage(bytes, slice_.random);
      break;
    case 1:
      AppendHalf(bytes, host);
      break;
    default:
      AppendFlood(bytes, host);
      break;
  }
  if (!slice_.Send(desktop.poll, bytes)) {
    OnBroken(index);
  }
}

void Hostiles::OnBroken(uint32_t index) {
  CountParried(index);
  slice_.Close(slice_.desktops[index].poll);
}

void Hostiles::CountParried(uint32_t index) {
  Desktop& desktop = slice_.desktops[index];
  if (!desktop.parried) {
    desktop.parried = true;
    ++slice_.counters.strikes_parried;
  }
}

uint8_t Hostiles::EventsEndpoint(uint32_t index) {
  const uint8_t relay = slice_.desktops[index].relay;
  const auto joined =
      std::find_if(slice_.desktops.begin(), slice_.desktops.end(), [&](const Desktop& desktop) {
        return desktop.state == Desktop::State::kJoined && desktop.relay == relay;
      });
  return joined == slice_.desktops.end() ? slice_.ApiEndpoint(index) : joined->events_endpoint;
}

}  // namespace swarm
