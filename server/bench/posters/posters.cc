// Posters: clients that measure a relay from outside, with connections that throw apart from those
// that poll.
//
// One thread joins the desktops, parks one poll for each on its own connection, and throws sprites
// for desktops chosen at random over keep-alive connections: first at a fixed mean rate (a Poisson
// process, so each throw is due at its time, whether or not earlier ones were answered), then with
// a fixed number in flight. Each sprite's name is the time at which it was due, and its latency
// ends when the response to the neighbour's poll is read. It shares no code with the swarm.
//
// The CPU of the relay is that of all threads of the given processes, in ns, from the scheduler.
// Output: one line of JSON; see Print(). Usage:
//   posters API-PORT EVENTS-PORT DESKTOPS CONNECTIONS FORM RATE COLD WARM IN-FLIGHT CLOSED SEED
//   PIDS
//
//   CONNECTIONS  0: each of the desktops that throw has its own connection
//
//   FORM         usual: a crossing has all members;
//                name-only: of the optional members of a sprite it has only the name
//
//   COLD, WARM   seconds at RATE, from the first throw on; CLOSED: seconds with IN-FLIGHT
//
//   PIDS         PID,PID… of the relay
#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr uint32_t kJoining = 64;           // joins in flight
constexpr uint32_t kParkingMax = 512;       // polls sent before their connections are read
constexpr uint32_t kOwnThrowersMax = 4000;  // desktops that throw when each has a connection
constexpr size_t kReadBytes = 256 << 10;
constexpr size_t kTimeDigits = 16;
constexpr uint64_t kSecondNs = 1'000'000'000;
// How long to wait before memory is read: what joins and polls have started is done by then.
constexpr uint64_t kSettleNs = 2 * kSecondNs;
// How long the closed loop fills before it is measured.
constexpr uint64_t kFillNs = kSecondNs;
// Sprites that have not arrived so long after the last throw are lost.
constexpr uint64_t kDrainNs = 5 * kSecondNs;

// Ends the program, and prints why.
[[noreturn]] void Fail(const std::string& why) {
  fprintf(stderr, "%s: %s\n", program_invocation_short_name, why.c_str());
  exit(1);
}

uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * kSecondNs + static_cast<uint64_t>(now.tv_nsec);
}

// The whole of a small file of /proc; empty when it is gone.
std::string FileText(const std::string& path) {
  std::string text;
  if (FILE* const file = fopen(path.c_str(), "r")) {
    char piece[4096];
    for (size_t size; (size = fread(piece, 1, sizeof piece, file)) > 0;) text.append(piece, size);
    fclose(file);
  }
  return text;
}

uint64_t CpuNsOf(const std::vector<int>& pids) {
  uint64_t sum = 0;
  for (const int pid : pids) {
    const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
    DIR* const directory = opendir(tasks.c_str());
    if (directory == nullptr) Fail("the relay has ended");
    while (const dirent* const entry = readdir(directory)) {
      if (entry->d_name[0] == '.') continue;
      sum += strtoull(FileText(tasks + "/" + entry->d_name + "/schedstat").c_str(), nullptr, 10);
    }
    closedir(directory);
  }
  return sum;
}

uint64_t RssOf(const std::vector<int>& pids) {
  uint64_t pages = 0;
  for (const int pid : pids) {
    uint64_t resident = 0;
    sscanf(FileText("/proc/" + std::to_string(pid) + "/statm").c_str(), "%*u %" SCNu64, &resident);
    pages += resident;
  }
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint64_t OwnCpuNs() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * kSecondNs + static_cast<uint64_t>(time.tv_nsec);
}

// The latency that this share of them, in their order, is below; 0 without any.
uint64_t PercentileOf(const std::vector<uint64_t>& latencies, double share) {
  if (latencies.empty()) return 0;
  const auto nth = static_cast<size_t>(static_cast<double>(latencies.size()) * share);
  return latencies[std::min(nth, latencies.size() - 1)];
}

// Opens a connection to a port of this machine. Returns its descriptor, which `epoll` reports as
// `number` when there is something to read.
int Connect(uint16_t port, int epoll, uint32_t number) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) Fail(std::string("socket: ") + strerror(errno));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    Fail(std::string("connect: ") + strerror(errno));
  }
  const int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u32 = number;
  epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
  return descriptor;
}

struct Response {
  int status;
  std::string_view body;
};

// Returns false when the response is not whole. Nothing follows it: requests are not pipelined.
bool ReadResponse(std::string_view bytes, Response* response) {
  const size_t end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    return false;
  }
  constexpr std::string_view kLength = "Content-Length: ";
  const size_t at = bytes.substr(0, end).find(kLength);
  const size_t length =
      at == std::string_view::npos ? 0 : strtoul(bytes.data() + at + kLength.size(), nullptr, 10);
  if (bytes.size() < end + 4 + length) {
    return false;
  }
  *response = {atoi(bytes.data() + 9), bytes.substr(end + 4, length)};
  return true;
}

// The text after `key` up to the next quote: a view of `body`.
std::string_view TextAfter(std::string_view body, std::string_view key) {
  const size_t at = body.find(key);
  if (at == std::string_view::npos) {
    Fail("a response without " + std::string(key));
  }
  const size_t start = at + key.size();
  return body.substr(start, body.find('"', start) - start);
}

// Reads `PID,PID…`, and overwrites the commas.
std::vector<int> PidsIn(char* list) {
  std::vector<int> pids;
  for (char* pid = strtok(list, ","); pid != nullptr; pid = strtok(nullptr, ",")) {
    pids.push_back(atoi(pid));
  }
  return pids;
}

struct Settings {
  uint16_t api_port;
  uint16_t events_port;
  uint32_t desktops;
  uint32_t connections;
  bool is_name_only;
  double rate;
  double cold;
  double warm;
  uint32_t in_flight;
  double closed;
  uint64_t seed;
  std::vector<int> pids;
};

struct Desktop {
  std::string id;
  std::string token;
  std::string cursor;
  uint64_t crossing = 0;
  bool is_throwing = false;  // a post is in flight: numbers must arrive in order
};

struct Connection {
  int descriptor = -1;
  bool is_poll = false;
  bool is_busy = false;
  uint32_t desktop = 0;
  std::string request;  // in flight on a poster's connection
  std::string partial;  // the beginning of a response
};

// One measured window of a run.
struct Window {
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  uint64_t relay_ns = 0;  // CPU; before the end, that at the start
  uint64_t own_ns = 0;
  bool is_over = false;
  uint64_t caught = 0;                 // sprites that arrived in it
  std::vector<uint64_t> latencies_us;  // of sprites that were due in it
};

class Posters {
 public:
  explicit Posters(Settings settings)
      : settings_(std::move(settings)),
        random_(settings_.seed),
        buffer_(kReadBytes),
        desktops_(settings_.desktops) {
    epoll_ = epoll_create1(0);
  }

  void Run() {
    rss_[0] = RssOf(settings_.pids);
    Join();
    Settle();
    rss_[1] = RssOf(settings_.pids);
    Park();
    Settle();
    rss_[2] = RssOf(settings_.pids);
    OpenThrowing();
    ThrowAtRate();
    ThrowInFlight();
    rss_[3] = RssOf(settings_.pids);
    Print();
  }

 private:
  struct Throw {
    uint32_t desktop;
    uint64_t due_ns;
  };

  void Join() {
    for (uint32_t i = 0; i < kJoining; ++i) Open(settings_.api_port, false);
    uint32_t sent = 0;
    while (joined_ < settings_.desktops) {
      for (uint32_t i = 0; i < kJoining && sent < settings_.desktops; ++i) {
        if (connections_[i].is_busy) continue;
        const std::string body = R"({"name":"Desktop )" + std::to_string(sent) +
                                 R"(","screen":{"width":1920,"height":1080}})";
        connections_[i].desktop = sent++;
        Post(connections_[i], "/v1/desktops", "", body);
      }
      Wait(-1);
    }
    for (uint32_t i = 0; i < kJoining; ++i) Close(i);
  }

  void Park() {
    if (settings_.rate == 0) return;
    for (uint32_t i = 0; i < settings_.desktops; ++i) {
      const uint32_t number = Open(settings_.events_port, true);
      connections_[number].desktop = i;
      Poll(connections_[number]);
      if (i % kParkingMax == 0) Wait(0);
    }
  }

  void Settle() {
    for (const uint64_t end = NowNs() + kSettleNs; NowNs() < end;) Wait(kSettleNs / 4);
  }

  void OpenThrowing() {
    if (settings_.rate == 0) return;
    throwers_ = settings_.connections == 0 ? std::min(settings_.desktops, kOwnThrowersMax)
                                           : settings_.desktops;
    const uint32_t count = settings_.connections == 0 ? throwers_ : settings_.connections;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t number = Open(settings_.api_port, false);
      if (i == 0) first_throwing_ = number;
      if (settings_.connections != 0) free_.push_back(number);
    }
  }

  void ThrowAtRate() {
    if (settings_.rate == 0) return;
    const uint64_t start = NowNs();
    const uint64_t warm = start + static_cast<uint64_t>(settings_.cold * 1e9);
    const uint64_t end = warm + static_cast<uint64_t>(settings_.warm * 1e9);
    Begin(&cold_, start, end);
    std::exponential_distribution<> interval_ns(settings_.rate / static_cast<double>(kSecondNs));
    double due = static_cast<double>(start) + interval_ns(random_);
    for (uint64_t now; (now = NowNs()) < end;) {
      if (now >= warm && warm_.start_ns == 0) Begin(&warm_, warm, end);
      for (; due <= static_cast<double>(now); due += interval_ns(random_)) {
        waiting_.push_back({ThrowerNow(), static_cast<uint64_t>(due)});
      }
      SendThrows();
      now = NowNs();
      Wait(due > static_cast<double>(now) ? static_cast<int64_t>(due) - static_cast<int64_t>(now)
                                          : 0);
    }
    End(&cold_);
    End(&warm_);
    Drain();
  }

  void ThrowInFlight() {
    if (settings_.closed == 0) return;
    const uint64_t start = NowNs() + kFillNs;
    const uint64_t end = start + static_cast<uint64_t>(settings_.closed * 1e9);
    const uint64_t before = thrown_;
    const uint64_t caught_before = caught_;
    for (uint64_t now; (now = NowNs()) < end;) {
      if (now >= start && closed_.start_ns == 0) Begin(&closed_, start, end);
      while (thrown_ + waiting_.size() - before < caught_ - caught_before + settings_.in_flight) {
        waiting_.push_back({ThrowerNow(), now});
      }
      SendThrows();
      Wait(kSecondNs);
    }
    End(&closed_);
    Drain();
  }

  void Drain() {
    for (const uint64_t end = NowNs() + kDrainNs; NowNs() < end;) {
      if (waiting_.empty() && caught_ >= accepted_ && accepted_ + refused_ == thrown_) return;
      SendThrows();
      Wait(kSecondNs / 10);
    }
  }

  void Begin(Window* window, uint64_t start, uint64_t end) {
    window->start_ns = start;
    window->end_ns = end;
    window->relay_ns = CpuNsOf(settings_.pids);
    window->own_ns = OwnCpuNs();
  }

  void End(Window* window) {
    window->relay_ns = CpuNsOf(settings_.pids) - window->relay_ns;
    window->own_ns = OwnCpuNs() - window->own_ns;
    window->is_over = true;
  }

  // A desktop without a throw in flight.
  uint32_t ThrowerNow() {
    for (;;) {
      const uint32_t number = std::uniform_int_distribution<uint32_t>(0, throwers_ - 1)(random_);
      if (desktops_[number].is_throwing) continue;
      desktops_[number].is_throwing = true;
      return number;
    }
  }

  void SendThrows() {
    while (!waiting_.empty()) {
      const Throw next = waiting_.front();
      uint32_t number = first_throwing_ + next.desktop;
      if (settings_.connections != 0) {
        if (free_.empty()) return;
        number = free_.front();
        free_.pop_front();
      }
      waiting_.pop_front();
      Desktop& desktop = desktops_[next.desktop];
      char body[512];
      const int size = snprintf(
          body, sizeof body,
          R"({"crossing":%)" PRIu64
          R"(,"edge":"right","at":0.25,"vx":900,"vy":-50,"sprite":{"file":")"
          R"(2c538f2f10dced8434ff60e955d98a472736bece7c539b709d2d010e5c2b84aa","name":"T%016)" PRIx64
          R"("%s}})",
          ++desktop.crossing, next.due_ns,
          settings_.is_name_only ? "" : R"(,"animation":"fall","facing":"right","scale":2)");
      connections_[number].desktop = next.desktop;
      ++thrown_;
      Post(connections_[number], "/v1/desktops/" + desktop.id + "/crossings", desktop.token,
           std::string_view(body, static_cast<size_t>(size)));
    }
  }

  uint32_t Open(uint16_t port, bool is_poll) {
    const uint32_t number = static_cast<uint32_t>(connections_.size());
    Connection& connection = connections_.emplace_back();
    connection.is_poll = is_poll;
    connection.descriptor = Connect(port, epoll_, number);
    return number;
  }

  void Close(uint32_t number) {
    close(connections_[number].descriptor);
    connections_[number].descriptor = -1;
  }

  void Post(Connection& connection, const std::string& path, const std::string& token,
            std::string_view body) {
    connection.request =
        "POST " + path + " HTTP/1.1\r\nHost: relay\r\n" +
        (token.empty() ? "" : "Authorization: Bearer " + token + "\r\n") +
        "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
        "\r\n\r\n";
    connection.request.append(body);
    connection.is_busy = true;
    Send(connection, connection.request);
  }

  void Poll(Connection& connection) {
    const Desktop& desktop = desktops_[connection.desktop];
    Send(connection, "GET /v1/desktops/" + desktop.id + "/events?cursor=" + desktop.cursor +
                         " HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer " + desktop.token +
                         "\r\n\r\n");
  }

  // A request is far smaller than a socket's buffer, which is empty. A connection that the relay
  // has just closed is noticed when it is read.
  static void Send(const Connection& connection, const std::string& bytes) {
    if (send(connection.descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0 &&
        errno != EPIPE && errno != ECONNRESET) {
      Fail(std::string("send: ") + strerror(errno));
    }
  }

  // Waits up to `timeout_ns` (-1: without limit) and reads what has arrived.
  void Wait(int64_t timeout_ns) {
    epoll_event events[256];
    const timespec timeout = {timeout_ns / static_cast<int64_t>(kSecondNs),
                              timeout_ns % static_cast<int64_t>(kSecondNs)};
    const int count =
        epoll_pwait2(epoll_, events, 256, timeout_ns < 0 ? nullptr : &timeout, nullptr);
    for (int i = 0; i < count; ++i) Read(events[i].data.u32);
  }

  void Read(uint32_t number) {
    Connection& connection = connections_[number];
    const ssize_t size = recv(connection.descriptor, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (size < 0 && errno == EAGAIN) return;
    if (size <= 0) {
      Reconnect(number);
      return;
    }
    std::string_view bytes(buffer_.data(), static_cast<size_t>(size));
    std::string whole;
    if (!connection.partial.empty()) {
      whole = std::move(connection.partial);
      connection.partial.clear();
      bytes = whole.append(bytes);
    }
    Response response;
    if (ReadResponse(bytes, &response)) {
      Receive(number, response);
    } else {
      connection.partial = bytes;
    }
  }

  // Relays close connections that are idle for some seconds. A request that met the close is sent
  // again: a relay that had accepted it answers the repeat alike.
  void Reconnect(uint32_t number) {
    Connection& connection = connections_[number];
    if (connection.is_poll) Fail("the relay has closed a poll");
    Close(number);
    connection.descriptor = Connect(settings_.api_port, epoll_, number);
    if (connection.is_busy) Send(connection, connection.request);
  }

  void Receive(uint32_t number, const Response& response) {
    const auto [status, body] = response;
    Connection& connection = connections_[number];
    if (connection.is_poll) {
      if (status != 200) Fail("a poll was answered " + std::string(body));
      Catch(body);
      desktops_[connection.desktop].cursor = TextAfter(body, R"("cursor":")");
      Poll(connection);
      return;
    }
    connection.is_busy = false;
    Desktop& desktop = desktops_[connection.desktop];
    if (joined_ < settings_.desktops) {
      if (status != 201) Fail("a join was answered " + std::string(body));
      desktop.id = TextAfter(body, R"("desktop":")");
      desktop.token = TextAfter(body, R"("token":")");
      desktop.cursor = TextAfter(body, R"("cursor":")");
      ++joined_;
      return;
    }
    desktop.is_throwing = false;
    if (settings_.connections != 0) free_.push_back(number);
    if (status == 202) {
      ++accepted_;
      return;
    }
    ++refused_;
    refusal_ = TextAfter(body, R"("code":")");
  }

  void Catch(std::string_view body) {
    constexpr std::string_view kName = R"(,"name":"T)";
    const uint64_t now = NowNs();
    for (size_t at = 0; (at = body.find(kName, at)) != std::string_view::npos;) {
      at += kName.size();
      const uint64_t due = strtoull(std::string(body.substr(at, kTimeDigits)).c_str(), nullptr, 16);
      ++caught_;
      for (Window* const window : {&cold_, &warm_, &closed_}) {
        if (window->start_ns == 0) continue;
        if (!window->is_over) ++window->caught;
        if (due >= window->start_ns && due < window->end_ns)
          window->latencies_us.push_back((now - due) / 1000);
      }
    }
  }

  void Print() {
    printf("{\"rss\":{\"idle\":%" PRIu64 ",\"joined\":%" PRIu64 ",\"parked\":%" PRIu64
           ",\"end\":%" PRIu64 "}",
           rss_[0], rss_[1], rss_[2], rss_[3]);
    PrintWindow("cold", cold_);
    PrintWindow("warm", warm_);
    PrintWindow("closed", closed_);
    printf(",\"thrown\":%" PRIu64 ",\"accepted\":%" PRIu64 ",\"refused\":%" PRIu64
           ",\"refusal\":\"%s\",\"caught\":%" PRIu64 "}\n",
           thrown_, accepted_, refused_, refusal_.c_str(), caught_);
  }

  static void PrintWindow(const char* name, Window& window) {
    std::vector<uint64_t>& us = window.latencies_us;
    std::sort(us.begin(), us.end());
    printf(",\"%s\":{\"seconds\":%.3f,\"caught\":%" PRIu64 ",\"relayUs\":%" PRIu64
           ",\"ownUs\":%" PRIu64 ",\"latencyUs\":{\"p50\":%" PRIu64 ",\"p99\":%" PRIu64
           ",\"p999\":%" PRIu64 ",\"max\":%" PRIu64 "}}",
           name, static_cast<double>(window.end_ns - window.start_ns) / 1e9, window.caught,
           window.relay_ns / 1000, window.own_ns / 1000, PercentileOf(us, 0.5),
           PercentileOf(us, 0.99), PercentileOf(us, 0.999), PercentileOf(us, 1));
  }

  const Settings settings_;
  std::mt19937_64 random_;  // the same throws for the same seed
  std::vector<char> buffer_;
  std::vector<Desktop> desktops_;
  int epoll_;
  std::deque<Connection> connections_;  // their addresses stay
  uint32_t first_throwing_ = 0;
  uint32_t throwers_ = 0;      // desktops that throw: the first ones
  std::deque<uint32_t> free_;  // pooled connections without a request
  std::deque<Throw> waiting_;  // throws that are due, without a connection
  uint32_t joined_ = 0;
  uint64_t thrown_ = 0;
  uint64_t accepted_ = 0;
  uint64_t refused_ = 0;
  uint64_t caught_ = 0;
  std::string refusal_;
  std::array<uint64_t, 4> rss_ = {};  // idle, joined, parked, at the end
  Window cold_;                       // from the first throw to the last at the rate
  Window warm_;                       // its second part
  Window closed_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 13) {
    Fail(
        "usage: posters API-PORT EVENTS-PORT DESKTOPS CONNECTIONS FORM RATE COLD WARM IN-FLIGHT "
        "CLOSED SEED PID,PID…");
  }
  const auto whole = [argv](int nth) { return strtoull(argv[nth], nullptr, 10); };
  Settings settings = {static_cast<uint16_t>(whole(1)),
                       static_cast<uint16_t>(whole(2)),
                       static_cast<uint32_t>(whole(3)),
                       static_cast<uint32_t>(whole(4)),
                       strcmp(argv[5], "name-only") == 0,
                       atof(argv[6]),
                       atof(argv[7]),
                       atof(argv[8]),
                       static_cast<uint32_t>(whole(9)),
                       atof(argv[10]),
                       whole(11),
                       PidsIn(argv[12])};
  rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  // A throw leaves when it is due, not up to 50 µs later.
  prctl(PR_SET_TIMERSLACK, 1);
  Posters(std::move(settings)).Run();
  return 0;
}
