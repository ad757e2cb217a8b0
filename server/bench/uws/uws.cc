// A small relay on uWebSockets, so that `npm run bench -- outside` can compare ours with it.
//
// It does what the loads of that bench need, and no more: it joins desktops, checks tokens, parks
// polls, and passes a throw over the right edge on to the neighbour. It has no leases, no limits,
// no journal and no repeats, and does not check the sprite. Events for a desktop without a parked
// poll wait until its next poll. Polls are answered after the pass, so that several events share an
// answer. Its responses follow the protocol, so the same posters drive it and our relay.
//
//   uws        picks two ports; prints "floor API_PORT EVENTS_PORT PID", as the floor does
#include <App.h>
#include <unistd.h>

#include <cstdio>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace {

using Response = uWS::HttpResponse<false>;

struct Desktop {
  std::string token;
  std::string waiting;  // events, each followed by a comma
  Response* poll = nullptr;
  uint32_t seq = 0;
  bool is_ready = false;
};

std::deque<Desktop> desktops;
std::vector<uint32_t> ready;  // desktops with a poll that will be answered after this pass
int ports[2];

void AnswerPoll(Desktop& desktop) {
  Response* const poll = std::exchange(desktop.poll, nullptr);
  desktop.waiting.pop_back();
  const std::string body = "{\"cursor\":\"00000001-" + std::to_string(desktop.seq) +
                           "\",\"events\":[" + desktop.waiting + "]}";
  desktop.waiting.clear();
  poll->cork([&] { poll->writeHeader("Content-Type", "application/json")->end(body); });
}

void MarkReady(uint32_t number) {
  Desktop& desktop = desktops[number];
  if (desktop.poll == nullptr || desktop.waiting.empty() || desktop.is_ready) return;
  desktop.is_ready = true;
  ready.push_back(number);
}

void AnswerReady() {
  for (const uint32_t number : ready) {
    desktops[number].is_ready = false;
    if (desktops[number].poll != nullptr) AnswerPoll(desktops[number]);
  }
  ready.clear();
}

// The desktop of a request; answers 401 and returns false when its token is wrong.
bool Authenticate(Response* response, uWS::HttpRequest* request, uint32_t* number) {
  *number =
      static_cast<uint32_t>(strtoul(std::string(request->getParameter(0)).c_str(), nullptr, 16));
  const std::string_view authorization = request->getHeader("authorization");
  if (*number < desktops.size() && authorization.size() > 7 &&
      authorization.substr(7) == desktops[*number].token) {
    return true;
  }
  response->writeStatus("401 Unauthorized")->end("{\"code\":\"unknown-desktop\"}");
  return false;
}

void Join(Response* response, uWS::HttpRequest* /*request*/) {
  response->onAborted([] {});
  response->onData([response](std::string_view /*body*/, bool is_last) {
    if (!is_last) return;
    char id[16];
    char token[64];
    snprintf(id, sizeof id, "%zx-1", desktops.size());
    snprintf(token, sizeof token, "%s.%032zx", id, desktops.size());
    desktops.emplace_back().token = token;
    response->writeStatus("201 Created")->writeHeader("Content-Type", "application/json");
    response->end("{\"desktop\":\"" + std::string(id) + "\",\"token\":\"" + token +
                  "\",\"world\":\"commons\",\"cursor\":\"00000001-0\"}");
  });
}

void Park(Response* response, uWS::HttpRequest* request) {
  uint32_t number;
  if (!Authenticate(response, request, &number)) return;
  desktops[number].poll = response;
  response->onAborted([number] { desktops[number].poll = nullptr; });
  MarkReady(number);
}

void Cross(Response* response, uWS::HttpRequest* request) {
  uint32_t from;
  if (!Authenticate(response, request, &from)) return;
  response->onAborted([] {});
  response->onData([response, from](std::string_view body, bool is_last) {
    const size_t at = body.find("\"at\":");
    if (!is_last || at == std::string_view::npos) {
      response->writeStatus("400 Bad Request")->end("{\"code\":\"malformed\"}");
      return;
    }
    const uint32_t to = (from + 1) % static_cast<uint32_t>(desktops.size());
    char id[64];
    snprintf(id, sizeof id, "{\"to\":{\"desktop\":\"%x-1\",\"name\":\"\"}}", to);
    response->writeStatus("202 Accepted")->writeHeader("Content-Type", "application/json")->end(id);
    char head[160];
    snprintf(head, sizeof head,
             "{\"type\":\"sprite\",\"seq\":%u,\"from\":{\"desktop\":\"%x-1\",\"name\":\"\"},"
             "\"edge\":\"left\",",
             ++desktops[to].seq, from);
    desktops[to].waiting.append(head).append(body.substr(at)).push_back(',');
    MarkReady(to);
  });
}

}  // namespace

int main() {
  uWS::App app;
  app.post("/v1/desktops", Join)
      .get("/v1/desktops/:id/events", Park)
      .post("/v1/desktops/:id/crossings", Cross);
  for (int& port : ports) {
    app.listen("127.0.0.1", 0, [&port](us_listen_socket_t* socket) {
      if (socket != nullptr) port = us_socket_local_port(0, reinterpret_cast<us_socket_t*>(socket));
    });
  }
  if (ports[0] <= 0 || ports[1] <= 0) return 1;
  uWS::Loop::get()->addPostHandler(&app, [](uWS::Loop*) { AnswerReady(); });
  printf("floor %d %d %d\n", ports[0], ports[1], static_cast<int>(getpid()));
  fflush(stdout);
  app.run();
}
