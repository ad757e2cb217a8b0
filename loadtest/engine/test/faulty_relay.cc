#include "test/faulty_relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "net/websocket.h"
#include "plan/clock.h"
#include "wire/rules.h"

namespace swarm {
namespace {

constexpr std::string_view kPing = "still there?";
constexpr uint16_t kGoingAway = 1001;

std::string OppositeOf(std::string_view edge) {
  const auto* const found = std::ranges::find(rules::kEdgeNames, edge);
  const auto number = static_cast<rules::Edge>(found - rules::kEdgeNames.begin());
  return std::string(NameOf(Opposite(number)));
}

struct Desktop {
  int poll = -1;  // the connection of its parked poll
  bool ended = false;
  uint64_t seq = 0;
  uint64_t acknowledged = 0;
  struct Waiting {
    uint64_t seq;
    std::string from;
    std::string edge;
    std::string rest;
  };
  std::deque<Waiting> mailbox;
  std::string hearings;  // events, each after a comma; stages too
  std::optional<uint32_t> watcher;
  uint64_t missed = 0;
  std::set<uint64_t> said;
};

struct Delayed {
  int64_t when_ns;
  uint32_t to;
  std::string from;
  std::string edge;
  std::string rest;
};

class Relay {
 public:
  Relay(int listener, int port, const Faults& faults, Committed* committed)
      : listener_(listener), port_(port), faults_(faults), committed_(*committed) {}

  // noexcept: an exception must end this process, and not reach the test runner it was forked from.
  [[noreturn]] void Serve() noexcept {
    for (;;) {
      std::vector<pollfd> wanted = {{listener_, POLLIN, 0}};
      for (const auto& [fd, in] : input_) {
        wanted.push_back({fd, POLLIN, 0});
      }
      poll(wanted.data(), wanted.size(), delayed_.empty() ? 1000 : 1);
      DeliverDelayed();
      for (const pollfd& one : wanted) {
        if (one.revents == 0) {
          continue;
        }
        if (one.fd == listener_) {
          const int fd = accept(listener_, nullptr, nullptr);
          if (fd >= 0) {
            input_[fd];
          }
        } else if (input_.contains(one.fd)) {
          Read(one.fd);
        }
      }
    }
  }

 private:
  void Read(int fd) {
    std::array<char, 4096> bytes;
    const ssize_t got = recv(fd, bytes.data(), bytes.size(), 0);
    if (got <= 0) {
      Close(fd);
      return;
    }
    input_[fd].append(bytes.data(), static_cast<size_t>(got));
    while (input_.contains(fd)) {
      if (sockets_.contains(fd)) {
        if (!ReadFrame(fd)) {
          return;
        }
        continue;
      }
      const std::string& in = input_[fd];
      const size_t head = in.find("\r\n\r\n");
      if (head == std::string::npos) {
        return;
      }
      size_t size = head + 4;
      const size_t length = in.find("Content-Length: ");
      if (length < head) {
        size += std::stoul(in.substr(length + 16));
      }
      if (in.size() < size) {
        return;
      }
      const std::string request = in.substr(0, size);
      input_[fd].erase(0, size);
      Handle(fd, request);
    }
  }

  // Handles the next message of a socket. False: it has not arrived yet.
  bool ReadFrame(int fd) {
    std::string& in = input_[fd];
    Frame frame;
    const ParseResult result = ParseFrame(in, SentBy::kClient, &frame);
    if (result == ParseResult::kNeedMore) {
      return false;
    }
    const std::string message(frame.payload.begin(), frame.payload.end());
    if (frame.opcode == Opcode::kPong && message == kPing) {
      ++committed_.pongs;
    }
    if (frame.opcode == Opcode::kClose && message == ClosePayload(kGoingAway)) {
      ++committed_.closes;
    }
    if (result == ParseResult::kBad || frame.opcode == Opcode::kClose) {
      Close(fd);
      return true;
    }
    in.erase(0, frame.consumed);
    if (frame.opcode == Opcode::kText) {
      HandleMessage(fd, message);
    }
    return true;
  }

  void HandleMessage(int fd, const std::string& message) {
    const uint32_t index = sockets_.at(fd);
    if (desktops_[index].ended) {
      SendFrame(fd, R"({"problem":)" + EndedProblem(index) + "}");
      SendClose(fd, 1008);
    } else if (message.find("\"crossing\"") != std::string::npos) {
      ++committed_.socket_crossings;
      Cross(fd, index, message);
    } else if (message.find("\"saying\"") != std::string::npos) {
      Say(fd, index, message);
    } else {
      const size_t dash = message.find("\"cursor\":\"00000001-");
      Park(fd, index, std::stoull(message.substr(dash + 19)));
    }
  }

  void Upgrade(int fd, uint32_t index, const std::string& request) {
    if (IsDue(faults_.refuse_upgrade_every, &committed_.upgrades_refused)) {
      Send(fd, "503 Busy", R"({"code":"relay-busy","status":503})");
      return;
    }
    if (IsDue(faults_.mute_upgrade_every, &committed_.upgrades_muted)) {
      return;
    }
    const size_t at = request.find("Sec-WebSocket-Key: ") + 19;
    SendBytes(fd,
              "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
              "Sec-WebSocket-Accept: " +
                  AcceptOf(request.substr(at, request.find("\r\n", at) - at)) + "\r\n\r\n");
    sockets_[fd] = index;
  }

  void Handle(int fd, const std::string& request) {
    if (request.starts_with("POST /v1/desktops HTTP")) {
      Join(fd);
      return;
    }
    if (request.starts_with("GET /metrics")) {
      Send(fd, "200 OK", Metrics());
      return;
    }
    if (request.find(" /v1/desktops/") == std::string::npos) {
      Send(fd, "200 OK", "the site");
      return;
    }
    const size_t id_at = request.find("/v1/desktops/") + 13;
    const auto index = static_cast<uint32_t>(std::stoul(request.substr(id_at), nullptr, 16));
    if (index >= desktops_.size()) {
      Send(fd, "401 Unauthorized", R"({"code":"unknown-desktop"})");
    } else if (desktops_[index].ended) {
      Send(fd, "410 Gone", EndedProblem(index));
    } else if (request.find("/socket HTTP") != std::string::npos) {
      Upgrade(fd, index, request);
    } else if (request.starts_with("DELETE")) {
      Send(fd, "204 No Content", "");
    } else if (request.starts_with("GET")) {
      const size_t dash = request.find("cursor=00000001-");
      Park(fd, index, std::stoull(request.substr(dash + 16)));
    } else if (request.find("/sayings HTTP") != std::string::npos) {
      Say(fd, index, request);
    } else if (request.find("/peeks HTTP") != std::string::npos) {
      Peek(fd, index);
    } else if (request.find("/stage HTTP") != std::string::npos) {
      Show(fd, index, request.substr(request.find("\r\n\r\n") + 5));
    } else {
      Cross(fd, index, request);
    }
  }

  void Join(int fd) {
    const std::string id = IdOf(static_cast<uint32_t>(desktops_.size()));
    desktops_.emplace_back();
    const std::string url = "http://127.0.0.1:" + std::to_string(port_) + "/v1/desktops/" + id;
    Send(fd, "201 Created",
         R"({"desktop":")" + id + R"(","token":")" + id + "." + std::string(32, '0') +
             R"(","world":"commons","cursor":"00000001-0","events":")" + url +
             R"(/events","crossings":")" + url + R"(/crossings","socket":"ws)" + url.substr(4) +
             R"(/socket"})");
  }

  std::string EndedProblem(uint32_t index) const {
    return R"({"code":"desktop-ended","status":410,"cursor":"00000001-)" +
           std::to_string(desktops_[index].acknowledged) + R"("})";
  }

  void Park(int fd, uint32_t index, uint64_t acknowledged) {
    Desktop& desktop = desktops_[index];
    desktop.acknowledged = acknowledged;
    while (!desktop.mailbox.empty() && desktop.mailbox.front().seq <= acknowledged) {
      desktop.mailbox.pop_front();
    }
    desktop.poll = fd;
    Wake(desktop);
  }

  void Wake(Desktop& desktop) {
    if (desktop.poll < 0 ||
        (desktop.mailbox.empty() && desktop.hearings.empty() && desktop.missed == 0)) {
      return;
    }
    std::string events;
    for (const Desktop::Waiting& waiting : desktop.mailbox) {
      events += (events.empty() ? "" : ",");
      events += R"({"type":"sprite","seq":)" + std::to_string(waiting.seq) +
                R"(,"from":{"desktop":")" + waiting.from + R"(","name":""},"edge":")" +
                waiting.edge + "\"," + waiting.rest;
    }
    if (desktop.missed > 0) {
      events += R"(,{"type":"missed","sayings":)" +
                std::to_string(std::exchange(desktop.missed, 0)) + "}";
    }
    events += std::exchange(desktop.hearings, {});
    events.erase(0, events.front() == ',' ? 1 : 0);
    const int fd = std::exchange(desktop.poll, -1);
    const std::string body =
        R"({"cursor":"00000001-)" + std::to_string(desktop.seq) + R"(","events":[)" + events + "]}";
    const bool is_truncated = IsDue(faults_.truncate_every, &committed_.truncated);
    if (is_truncated && sockets_.contains(fd)) {
      std::string frame;
      AppendServerFrame(Opcode::kText, body, true, &frame);
      SendBytes(fd, frame.substr(0, frame.size() / 2));
      Close(fd);
      return;
    }
    if (is_truncated) {
      SendBytes(fd, "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) +
                        "\r\n\r\n" + body.substr(0, body.size() / 2));
      Close(fd);
      return;
    }
    Send(fd, "200 OK", body);
    if (IsDue(faults_.half_close_every, &committed_.half_closed)) {
      shutdown(fd, SHUT_WR);
    }
    if (sockets_.contains(fd) && IsDue(faults_.close_every, &committed_.closed)) {
      SendClose(fd, kGoingAway);
    }
  }

  // Ends a desktop: its poll is answered 410 with what it has acknowledged, and all else that waits
  // for it goes on to the next desktop.
  void End(uint32_t index) {
    desktops_[index].ended = true;
    const int fd = std::exchange(desktops_[index].poll, -1);
    if (fd >= 0) {
      Send(fd, "410 Gone", EndedProblem(index));
      if (sockets_.contains(fd)) {
        SendClose(fd, 1008);
      }
    }
    for (const Desktop::Waiting& waiting : std::exchange(desktops_[index].mailbox, {})) {
      Deliver(Alive(index, 1), waiting.from, waiting.edge, waiting.rest);
    }
  }

  // The next desktop after `index` that has not ended, in steps of `step`.
  uint32_t Alive(uint32_t index, uint32_t step) const {
    const auto count = static_cast<uint32_t>(desktops_.size());
    do {
      index = (index + step) % count;
    } while (desktops_[index].ended);
    return index;
  }

  std::string Metrics() const {
    const std::string joined = std::to_string(desktops_.size());
    return "sprites_waiting " + std::to_string(CountWaiting()) + "\nsprites_desktops " + joined +
           "\nsprites_joined_total " + joined + "\nsprites_accepted_total " +
           std::to_string(committed_.accepted.load()) +
           "\nsprites_refused_total{reason=\"mailbox-full\"} " +
           std::to_string(committed_.refused.load()) + "\n";
  }

  uint64_t CountWaiting() const {
    uint64_t waiting = committed_.held.load();
    for (const Desktop& desktop : desktops_) {
      waiting += desktop.mailbox.size();
    }
    return waiting;
  }

  void Deliver(uint32_t to, const std::string& from, const std::string& edge,
               const std::string& rest) {
    Desktop& desktop = desktops_[to];
    const uint64_t seq = ++desktop.seq;
    desktop.mailbox.push_back({seq, from, edge, rest});
    Wake(desktop);
  }

  bool IsDue(uint32_t every, std::atomic<uint64_t>* committed) {
    if (every == 0 || ++throws_[committed] % every != 0) {
      return false;
    }
    ++*committed;
    return true;
  }

  void Cross(int fd, uint32_t from, const std::string& request) {
    const Crossing crossing = ReadCrossing(from, request);
    const uint64_t number = crossing.number;
    // A throw that was sent again because its connection was cut is not a new one: the desktop
    // has thrown this number before.
    if (!seen_.emplace(from, number).second) {
      Answer(fd, number, "202 Accepted", R"({"to":null})");
    } else if (!Refuse(fd, crossing) && Accept(fd, crossing)) {
      Convey(crossing);
    }
  }

  void Say(int fd, uint32_t from, const std::string& request) {
    const uint64_t number = std::stoull(request.substr(request.find("\"saying\":") + 9));
    const auto others = static_cast<size_t>(std::ranges::count(desktops_, false, &Desktop::ended));
    const std::string heard = R"({"heard":)" + std::to_string(others - 1) + "}";
    if (desktops_[from].said.contains(number)) {
      Answer(fd, number, "202 Accepted", heard, "saying");
    } else if (IsDue(faults_.refuse_saying_every, &committed_.sayings_refused)) {
      Answer(fd, number, "429 Slow", R"({"code":"too-fast","status":429})", "saying");
    } else {
      desktops_[from].said.insert(number);
      ++committed_.sayings;
      if (IsDue(faults_.cut_saying_every, &committed_.sayings_cut)) {
        Close(fd);
      } else {
        Answer(fd, number, "202 Accepted", heard, "saying");
      }
      Voice(from, request.substr(request.find("\"text\"")));
    }
  }

  // A saying on its way to everybody. `rest`: its text and the bracket that closes it.
  void Voice(uint32_t from, const std::string& rest) {
    for (Desktop& desktop : desktops_) {
      if (desktop.ended || IsDue(faults_.lose_hearing_every, &committed_.hearings_lost)) {
        continue;
      }
      if (IsDue(faults_.miss_hearing_every, &committed_.hearings_missed)) {
        ++desktop.missed;
      } else {
        const bool is_garbled = IsDue(faults_.garble_hearing_every, &committed_.hearings_garbled);
        const std::string event = R"(,{"type":"saying","from":{"desktop":")" + IdOf(from) +
                                  R"(","name":"x"},)" +
                                  (is_garbled ? rest.substr(0, rest.size() - 3) + "!\"}" : rest);
        desktop.hearings += event;
        if (IsDue(faults_.repeat_hearing_every, &committed_.hearings_repeated)) {
          desktop.hearings += event;
        }
      }
      Wake(desktop);
    }
  }

  // Over whichever edge, a desktop sees the next one.
  void Peek(int fd, uint32_t index) {
    Desktop& shown = desktops_[Alive(index, 1)];
    shown.watcher = index;
    shown.hearings += R"(,{"type":"watched","edges":["left"]})";
    Send(fd, "202 Accepted", R"({"edge":"right","leaseMs":10000})");
    Wake(shown);
  }

  // `rest`: a stage without the bracket that opens it.
  void Show(int fd, uint32_t index, std::string rest) {
    ++committed_.stages;
    if (IsDue(faults_.garble_stage_every, &committed_.stages_garbled)) {
      rest.insert(rest.find("\"x\":") + 4, "1");
    }
    const std::string event = R"(,{"type":"stage","edge":"right","ageMs":0,"from":{"desktop":")" +
                              IdOf(index) + R"(","name":""},)" + rest;
    const bool is_repeated = IsDue(faults_.repeat_stage_every, &committed_.stages_repeated);
    Desktop& watcher = desktops_[desktops_[index].watcher.value()];
    watcher.hearings += is_repeated ? event + event : event;
    Wake(watcher);
    Send(fd, "202 Accepted", R"({"edges":["left"]})");
  }

  // A throw: who threw it, where it goes to, and the members that are only passed on.
  struct Crossing {
    uint64_t number;
    uint32_t from;
    uint32_t to;
    std::string edge;
    std::string enters;
    std::string rest;
  };

  Crossing ReadCrossing(uint32_t from, const std::string& request) const {
    const size_t edge_at = request.find("\"edge\":\"") + 8;
    const std::string edge = request.substr(edge_at, request.find('"', edge_at) - edge_at);
    const size_t number_at = request.find("\"crossing\":") + 11;
    const bool is_forward = edge == "right" || edge == "bottom";
    const auto count = static_cast<uint32_t>(desktops_.size());
    return {std::stoull(request.substr(number_at)),
            from,
            Alive(from, is_forward ? 1 : count - 1),
            edge,
            OppositeOf(edge),
            request.substr(request.find("\"at\""))};
  }

  // The faults of a throw that is not accepted. True: it has one of them.
  bool Refuse(int fd, const Crossing& crossing) {
    if (IsDue(faults_.refuse_every, &committed_.refused)) {
      Answer(fd, crossing.number, "503 Busy", R"({"code":"mailbox-full","status":503})");
      return true;
    }
    if (IsDue(faults_.deliver_refused_every, &committed_.delivered_refused)) {
      Answer(fd, crossing.number, "503 Busy", R"({"code":"mailbox-full","status":503})");
      Deliver(crossing.to, IdOf(crossing.from), crossing.enters, crossing.rest);
      return true;
    }
    if (IsDue(faults_.mute_every, &committed_.muted)) {
      return true;
    }
    if (IsDue(faults_.garbage_every, &committed_.garbage)) {
      SendBytes(fd, "lorem ipsum\r\n\r\n");
      return true;
    }
    return false;
  }

  // The answer to a throw that is accepted, and its faults. False: it has ended its desktop, and
  // has been delivered.
  bool Accept(int fd, const Crossing& crossing) {
    if (++committed_.accepted == faults_.stall_at) {
      usleep(faults_.stall_ms * 1000);
    }
    if (IsDue(faults_.end_every, &committed_.ended)) {
      Close(fd);
      Deliver(crossing.to, IdOf(crossing.from), crossing.enters, crossing.rest);
      End(crossing.from);
      return false;
    }
    if (IsDue(faults_.cut_every, &committed_.cut)) {
      Close(fd);
    } else {
      Answer(fd, crossing.number, "202 Accepted",
             R"({"to":{"desktop":")" + IdOf(crossing.to) + R"(","name":"x"}})");
    }
    return true;
  }

  // The way of an accepted sprite to its desktop, and its faults.
  void Convey(Crossing crossing) {
    if (IsDue(faults_.drop_every, &committed_.dropped) ||
        IsDue(faults_.hold_every, &committed_.held)) {
      return;
    }
    if (IsDue(faults_.corrupt_every, &committed_.corrupted)) {
      Corrupt(&crossing.rest, committed_.corrupted);
    }
    if (IsDue(faults_.misroute_every, &committed_.misrouted)) {
      crossing.to = (crossing.to + 1) % static_cast<uint32_t>(desktops_.size());
    }
    if (IsDue(faults_.wrong_edge_every, &committed_.wrong_edge)) {
      crossing.enters = crossing.edge;
    }
    const std::string from = IdOf(crossing.from);
    if (IsDue(faults_.delay_every, &committed_.delayed)) {
      const int64_t when_ns = NowNs() + faults_.delay_ms * kNsPerMs;
      delayed_.push_back({when_ns, crossing.to, from, crossing.enters, crossing.rest});
      return;
    }
    Deliver(crossing.to, from, crossing.enters, crossing.rest);
    if (IsDue(faults_.duplicate_every, &committed_.duplicated)) {
      Deliver(crossing.to, from, crossing.enters, crossing.rest);
    }
  }

  // Changes the `nth` member of a sprite, of those that it carries besides its name.
  static void Corrupt(std::string* rest, uint64_t nth) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kMembers = {{
        {"\"at\":", "0.98765"},
        {"\"vx\":", "4321"},
        {"\"vy\":", "4321"},
        {"\"scale\":", "15"},
        {"\"file\":", "\"000000000000000000000000000000000000000000000000000000000000cafe\""},
        {"\"facing\":", "\"up\""},
        {"\"animation\":", "\"wrong\""},
    }};
    const auto& [member, value] = kMembers[nth % kMembers.size()];
    const size_t from = rest->find(member) + member.size();
    rest->replace(from, rest->find_first_of(",}", from) - from, value);
  }

  void DeliverDelayed() {
    while (!delayed_.empty() && delayed_.front().when_ns <= NowNs()) {
      const Delayed one = delayed_.front();
      delayed_.pop_front();
      Deliver(one.to, one.from, one.edge, one.rest);
    }
  }

  static std::string IdOf(uint32_t index) {
    std::array<char, 16> text;
    std::snprintf(text.data(), text.size(), "%x-1", index);
    return text.data();
  }

  // Sends the verdict on a crossing or a saying. A message has its number.
  void Answer(int fd, uint64_t number, const std::string& status, const std::string& body,
              const std::string& what = "crossing") {
    if (!sockets_.contains(fd)) {
      Send(fd, status, body);
      return;
    }
    const std::string begin = "{\"" + what + "\":" + std::to_string(number) + ",";
    SendFrame(fd, begin + (status >= "4" ? "\"problem\":" + body + "}" : body.substr(1)));
  }

  void Send(int fd, const std::string& status, const std::string& body) {
    if (sockets_.contains(fd)) {
      SendFrame(fd, status >= "4" ? "{\"problem\":" + body + "}" : body);
      return;
    }
    std::string head = "HTTP/1.1 " + status + "\r\n";
    if (faults_.close_always) {
      head += "Connection: close\r\n";
    }
    if (!faults_.chunked || body.empty()) {
      SendBytes(fd, head + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    } else {
      SendBytes(fd, head + "Transfer-Encoding: chunked\r\n\r\n");
      for (size_t at = 0; at < body.size(); at += 10) {
        const std::string part = body.substr(at, 10);
        SendBytes(fd, std::string(1, "0123456789a"[part.size()]) + "\r\n" + part + "\r\n");
      }
      SendBytes(fd, "0\r\n\r\n");
    }
    if (faults_.close_always) {
      Close(fd);
    }
  }

  void SendFrame(int fd, const std::string& message) {
    std::string bytes;
    if (!faults_.chunked) {
      AppendServerFrame(Opcode::kText, message, true, &bytes);
      SendBytes(fd, bytes);
      return;
    }
    for (size_t at = 0; at < message.size(); at += 100) {
      bytes.clear();
      AppendServerFrame(at == 0 ? Opcode::kText : Opcode::kContinuation, message.substr(at, 100),
                        at + 100 >= message.size(), &bytes);
      AppendServerFrame(Opcode::kPing, kPing, true, &bytes);
      // In two parts, neither of which is a frame.
      SendBytes(fd, std::string_view(bytes).substr(0, 50));
      SendBytes(fd, std::string_view(bytes).substr(std::min<size_t>(50, bytes.size())));
    }
  }

  static void SendClose(int fd, uint16_t code) {
    std::string frame;
    AppendServerFrame(Opcode::kClose, ClosePayload(code), true, &frame);
    SendBytes(fd, frame);
  }

  static void SendBytes(int fd, std::string_view bytes) {
    send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

  void Close(int fd) {
    for (Desktop& desktop : desktops_) {
      if (desktop.poll == fd) {
        desktop.poll = -1;
      }
    }
    input_.erase(fd);
    sockets_.erase(fd);
    close(fd);
  }

  int listener_;
  int port_;
  const Faults& faults_;
  Committed& committed_;
  std::vector<Desktop> desktops_;
  std::map<int, std::string> input_;
  std::map<int, uint32_t> sockets_;  // connections that are upgraded, and their desktops
  std::deque<Delayed> delayed_;
  std::set<std::pair<uint32_t, uint64_t>> seen_;  // desktop, number of its crossing
  std::map<const void*, uint64_t> throws_;  // for each fault: how many throws could have had it
};

}  // namespace

FaultyRelay::FaultyRelay(const Faults& faults) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener, 1024) != 0) {
    throw std::bad_alloc();
  }
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  void* shared =
      mmap(nullptr, sizeof(Committed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  committed_ = new (shared) Committed;
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Relay(listener, port_, faults, committed_).Serve();
  }
  close(listener);
}

void FaultyRelay::Kill() {
  if (pid_ <= 0) {
    return;
  }
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

}  // namespace swarm
