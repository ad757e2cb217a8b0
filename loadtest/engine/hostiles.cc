#include "hostiles.h"

#include <algorithm>
#include <string>

namespace swarm {
namespace {

constexpr size_t kGarbageBytes = 512;
constexpr int kFloodRequests = 64;  // as many as a poll's answer may have events; some 10 KB

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
  Desktop& desktop = stage_.desktops[index];
  stage_.Close(desktop.poll);
  desktop.events_endpoint = strikes_++ % 2 == 0 ? stage_.api_endpoint : EventsEndpoint();
  desktop.parried = false;
  ++stage_.counters.strikes;
  // What can't be opened is tried again with the next strike.
  static_cast<void>(stage_.Begin(desktop.poll, TagOf(Part::kPoll, index), desktop.events_endpoint,
                                 stage_.GlobalIndex(index)));
}

void Hostiles::OnEvent(uint32_t index, uint32_t events) {
  struct Owner {
    Hostiles& hostiles;
    uint32_t index;
    void OnOpen() { hostiles.Send(index); }
    void OnNotOpened() {}
    void OnAnswer(const HttpResponse& /*response*/) { hostiles.Parried(index); }
    void OnBroken() {
      hostiles.Parried(index);
      hostiles.stage_.Close(hostiles.stage_.desktops[index].poll);
    }
  };
  stage_.Serve(stage_.desktops[index].poll, events, Owner{*this, index});
}

void Hostiles::Send(uint32_t index) {
  Desktop& desktop = stage_.desktops[index];
  const std::string& host = stage_.endpoints.At(desktop.events_endpoint).text;
  std::string& bytes = stage_.request;
  bytes.clear();
  switch (++desktop.crossing % 3) {
    case 0:
      AppendGarbage(bytes, stage_.random);
      break;
    case 1:
      AppendHalf(bytes, host);
      break;
    default:
      AppendFlood(bytes, host);
      break;
  }
  if (!stage_.Send(desktop.poll, bytes)) {
    Parried(index);
    stage_.Close(desktop.poll);
  }
}

// Once a strike, however many answers it gets.
void Hostiles::Parried(uint32_t index) {
  Desktop& desktop = stage_.desktops[index];
  if (!desktop.parried) {
    desktop.parried = true;
    ++stage_.counters.strikes_parried;
  }
}

uint8_t Hostiles::EventsEndpoint() {
  const auto seated =
      std::find_if(stage_.desktops.begin(), stage_.desktops.end(),
                   [](const Desktop& desktop) { return desktop.state == Desktop::State::kJoined; });
  return seated == stage_.desktops.end() ? stage_.api_endpoint : seated->events_endpoint;
}

}  // namespace swarm
