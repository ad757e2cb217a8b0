// A crowd that talks: desktops of one world that poll, say lines of text and throw sprites, as
// cheaply as one thread can play them, and count what they hear.
//
// It reads responses as far as it must: the length, the cursor, how many sayings, and of one hearer
// in kSampled the time in each saying. It is no client: it never retries, and ends when a poll is
// refused. Output: one line of JSON; see Print(). Times are in µs, of one clock for speakers and
// hearers. Usage: crowd API-PORT EVENTS-PORT WORLD SOURCE DESKTOPS SPEAKERS RATE THROWS WARM-UP
//   SECONDS PID,PID…
//   SOURCE the last number of its address 127.0.0.N, RATE sayings a second of each speaker, THROWS
//   sprites a second of all, seconds of the two phases.
// It prints "ready" when all have joined, and goes on when it reads a byte: several crowds, each
// with the files of one process, begin together.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "../load_client.h"

namespace {

// Requests in flight to the API; each is answered in some ms. Throws have connections of their own:
// the requests of speakers must not delay them in this program.
constexpr uint32_t kTalking = 64;
constexpr uint32_t kThrowing = 16;
constexpr int kSampled = 16;  // of one hearer in so many each saying is timed
constexpr size_t kReadBytes = 512 << 10;
constexpr size_t kTimeDigits = 16;
// A usual line: what is said is as long as this with the time before it.
constexpr std::string_view kLine = " and whose cat is that, over there by the window?";

uint64_t NowUs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

struct Settings {
  uint16_t api_port;
  uint16_t events_port;
  std::string world;
  in_addr_t source;
  uint32_t desktops;
  uint32_t speakers;
  double rate;
  double throws;
  double warm_up;
  double seconds;
  std::vector<int> pids;
};

struct Desktop {
  std::string id;
  std::string token;
  std::string cursor;
  uint64_t saying = 0;
  uint64_t crossing = 0;
};

enum class Kind : uint8_t { kPoll, kApi };

struct Connection {
  int descriptor = -1;
  Kind kind = Kind::kPoll;
  uint32_t desktop = 0;  // kPoll
  // kApi: the request in flight: 'j' join, 's' saying, 't' throw, 'd' delete; 0: none
  char what = 0;
  std::string partial;  // the beginning of a response
};

// The CPU of processes, in µs, and their resident memory.
struct Usage {
  uint64_t cpu_us = 0;
  uint64_t rss_bytes = 0;
};

Usage UsageOf(const std::vector<int>& pids) {
  Usage sum;
  for (const int pid : pids) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE* const file = fopen(path, "r");
    if (file == nullptr) {
      continue;
    }
    char line[2048] = {};
    const size_t size = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    const char* const rest = static_cast<const char*>(memrchr(line, ')', size));
    uint64_t user = 0;
    uint64_t system = 0;
    uint64_t pages = 0;
    if (rest != nullptr && sscanf(rest + 2,
                                  "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
                                  " %*d %*d %*d %*d %*d %*d %*u %*u %" SCNu64,
                                  &user, &system, &pages) == 3) {
      sum.cpu_us += (user + system) * 1'000'000 / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
      sum.rss_bytes += pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    }
  }
  return sum;
}

uint64_t OwnCpuUs() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval& time) {
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000 + static_cast<uint64_t>(time.tv_usec);
  };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

class Crowd {
 public:
  explicit Crowd(Settings settings) : settings_(std::move(settings)), buffer_(kReadBytes) {
    epoll_ = epoll_create1(0);
    desktops_.resize(settings_.desktops);
  }

  void Run() {
    for (uint32_t i = 0; i < kTalking; ++i) {
      OpenApi(talking_);
    }
    for (uint32_t i = 0; i < kThrowing; ++i) {
      OpenApi(throwing_);
    }
    for (uint32_t i = 0; i < settings_.desktops; ++i) {
      talking_.waiting.push_back({'j', i, 0});
    }
    while (joined_ < settings_.desktops) {
      SendRequests();
      Wait(100);
    }
    AwaitOthers();
    start_us_ = NowUs();
    window_us_ = start_us_ + static_cast<uint64_t>(settings_.warm_up * 1e6);
    end_us_ = window_us_ + static_cast<uint64_t>(settings_.seconds * 1e6);
    // What was said before the end is still heard, and counted, if it comes within a second.
    while (NowUs() < end_us_ + 1'000'000) {
      const uint64_t now = NowUs();
      if (now >= window_us_ && !measuring_ && now < end_us_) {
        measuring_ = true;
        before_ = UsageOf(settings_.pids);
        own_before_ = OwnCpuUs();
        heard_before_ = heard_;
      }
      if (now >= end_us_ && measuring_) {
        measuring_ = false;
        after_ = UsageOf(settings_.pids);
        own_after_ = OwnCpuUs();
        heard_in_window_ = heard_ - heard_before_;
      }
      if (now < end_us_) {
        Schedule(now);
      }
      SendRequests();
      Wait(1);
    }
    Print();
    Leave();
  }

 private:
  struct Waiting {
    char what;
    uint32_t desktop;
    uint64_t due_us;
  };
  // Connections to the API without a request, and requests without a connection.
  struct Lane {
    std::vector<uint32_t> free;
    std::deque<Waiting> waiting;
  };

  void Open(uint16_t port, Kind kind, uint32_t desktop) {
    const uint32_t number = static_cast<uint32_t>(connections_.size());
    Connection& connection = connections_.emplace_back();
    connection.descriptor = Connect(port, epoll_, number, settings_.source);
    connection.kind = kind;
    connection.desktop = desktop;
  }

  // Polls until the standard input has something to read, or ends.
  void AwaitOthers() {
    printf("ready\n");
    fflush(stdout);
    pollfd input = {STDIN_FILENO, POLLIN, 0};
    while (poll(&input, 1, 0) == 0) {
      Wait(10);
    }
  }

  // Ends every desktop, so that the next crowd finds the relay empty.
  void Leave() {
    leaving_ = true;
    talking_.waiting.clear();
    throwing_.waiting.clear();
    for (uint32_t i = 0; i < settings_.desktops; ++i) {
      talking_.waiting.push_back({'d', i, 0});
    }
    while (left_ < settings_.desktops) {
      SendRequests();
      Wait(100);
    }
  }

  // Adds what is due by now to the requests that wait for a connection.
  void Schedule(uint64_t now) {
    const double elapsed = static_cast<double>(now - start_us_) / 1e6;
    const uint64_t sayings = static_cast<uint64_t>(elapsed * settings_.rate * settings_.speakers);
    for (; said_ < sayings; ++said_) {
      talking_.waiting.push_back({'s', static_cast<uint32_t>(said_ % settings_.speakers),
                                  DueUs(said_, settings_.rate * settings_.speakers)});
    }
    const uint64_t throws = static_cast<uint64_t>(elapsed * settings_.throws);
    for (; thrown_ < throws; ++thrown_) {
      // Another desktop each time, so that none throws too fast.
      throwing_.waiting.push_back({'t', static_cast<uint32_t>(thrown_ * 7919 % settings_.desktops),
                                   DueUs(thrown_, settings_.throws)});
    }
  }

  uint64_t DueUs(uint64_t number, double rate) const {
    return start_us_ + static_cast<uint64_t>(static_cast<double>(number + 1) / rate * 1e6);
  }

  void SendRequests() {
    SendRequestsOf(talking_);
    SendRequestsOf(throwing_);
  }

  void SendRequestsOf(Lane& lane) {
    while (!lane.waiting.empty() && !lane.free.empty()) {
      const Waiting next = lane.waiting.front();
      lane.waiting.pop_front();
      const uint32_t number = lane.free.back();
      lane.free.pop_back();
      Connection& connection = connections_[number];
      connection.what = next.what;
      connection.desktop = next.desktop;
      Send(connection, RequestOf(next));
    }
  }

  std::string RequestOf(const Waiting& next) {
    Desktop& desktop = desktops_[next.desktop];
    std::string body;
    std::string path = "/v1/desktops";
    std::string token;
    char time[kTimeDigits + 1];
    snprintf(time, sizeof time, "%016" PRIx64, next.due_us);
    if (next.what == 'j') {
      body = R"({"world":")" + settings_.world + R"(","name":"Desktop )" +
             std::to_string(next.desktop) + R"(","screen":{"width":1920,"height":1080}})";
    } else if (next.what == 'd') {
      return "DELETE /v1/desktops/" + desktop.id +
             " HTTP/1.1\r\nHost: crowd\r\nAuthorization: Bearer " + desktop.token + "\r\n\r\n";
    } else {
      path += "/" + desktop.id + (next.what == 's' ? "/sayings" : "/crossings");
      token = "Authorization: Bearer " + desktop.token + "\r\n";
      if (next.what == 's') {
        body = R"({"saying":)" + std::to_string(++desktop.saying) + R"(,"text":")" + time +
               std::string(kLine) + "\"}";
      } else {
        body = R"({"crossing":)" + std::to_string(++desktop.crossing) +
               R"(,"edge":"right","at":0.25,"vx":900,"vy":-50,"sprite":{"file":")" +
               std::string(64, 'a') + R"(","name":"T)" + time +
               R"(","animation":"fall","facing":"right","scale":2}})";
      }
    }
    return "POST " + path + " HTTP/1.1\r\nHost: crowd\r\n" + token +
           "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
  }

  void Poll(Connection& connection) {
    const Desktop& desktop = desktops_[connection.desktop];
    Send(connection, "GET /v1/desktops/" + desktop.id + "/events?cursor=" + desktop.cursor +
                         " HTTP/1.1\r\nHost: crowd\r\nAuthorization: Bearer " + desktop.token +
                         "\r\n\r\n");
  }

  static void Send(const Connection& connection, const std::string& bytes) {
    // A request is far smaller than a socket's buffer, which is empty.
    if (send(connection.descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(bytes.size())) {
      Fail(std::string("send: ") + strerror(errno));
    }
  }

  void Wait(int timeout_ms) {
    epoll_event events[256];
    const int count = epoll_wait(epoll_, events, 256, timeout_ms);
    for (int i = 0; i < count; ++i) {
      Read(events[i].data.u32);
    }
  }

  void Read(uint32_t number) {
    const ssize_t size =
        recv(connections_[number].descriptor, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (size < 0 && errno == EAGAIN) {
      return;
    }
    if (size <= 0) {
      HandleEnd(number);
      return;
    }
    std::string_view bytes(buffer_.data(), static_cast<size_t>(size));
    std::string whole;
    if (!connections_[number].partial.empty()) {
      whole = std::move(connections_[number].partial);
      whole.append(bytes);
      bytes = whole;
    }
    Response response;
    if (ReadResponse(bytes, &response)) {
      connections_[number].partial.clear();
      Receive(number, response);
    } else {
      connections_[number].partial = bytes;
    }
  }

  // The relay closes connections to its API that are idle for long; another one takes its place.
  void HandleEnd(uint32_t number) {
    if (connections_[number].kind == Kind::kPoll && leaving_) {
      close(connections_[number].descriptor);
      return;
    }
    if (connections_[number].kind != Kind::kApi || connections_[number].what != 0) {
      Fail("the relay has closed a connection");
    }
    close(connections_[number].descriptor);
    for (Lane* const lane : {&talking_, &throwing_}) {
      const auto at = std::find(lane->free.begin(), lane->free.end(), number);
      if (at != lane->free.end()) {
        lane->free.erase(at);
        OpenApi(*lane);
        return;
      }
    }
  }

  void OpenApi(Lane& lane) {
    Open(settings_.api_port, Kind::kApi, 0);
    lane.free.push_back(static_cast<uint32_t>(connections_.size() - 1));
  }

  void Receive(uint32_t number, const Response& response) {
    if (connections_[number].kind == Kind::kPoll) {
      if (leaving_) {
        return;
      }
      if (response.status != 200) {
        Fail("a poll was answered " + std::string(response.body));
      }
      Hear(connections_[number].desktop, response.body);
      Poll(connections_[number]);
      return;
    }
    const char what = connections_[number].what;
    const uint32_t desktop = connections_[number].desktop;
    connections_[number].what = 0;
    (what == 't' ? throwing_ : talking_).free.push_back(number);
    if (what == 'j') {
      if (response.status != 201) {
        Fail("a join was answered " + std::string(response.body));
      }
      desktops_[desktop].id = TextAfter(response.body, R"("desktop":")");
      desktops_[desktop].token = TextAfter(response.body, R"("token":")");
      desktops_[desktop].cursor = TextAfter(response.body, R"("cursor":")");
      ++joined_;
      Open(settings_.events_port, Kind::kPoll, desktop);
      Poll(connections_.back());
    } else if (what == 'd') {
      ++left_;
    } else if (response.status == 202) {
      ++(what == 's' ? sayings_accepted_ : throws_accepted_);
    } else {
      ++(what == 's' ? sayings_refused_ : throws_refused_);
      refusal_ = TextAfter(response.body, R"("code":")");
    }
  }

  void Hear(uint32_t desktop, std::string_view body) {
    constexpr std::string_view kCursor = R"({"cursor":")";
    constexpr std::string_view kSaying = R"({"type":"saying")";
    constexpr std::string_view kText = R"("text":")";
    constexpr std::string_view kMissed = R"({"type":"missed","sayings":)";
    constexpr std::string_view kThrown = R"(,"name":"T)";
    desktops_[desktop].cursor =
        body.substr(kCursor.size(), body.find('"', kCursor.size()) - kCursor.size());
    ++batches_;
    bytes_ += body.size();
    const uint64_t now = NowUs();
    const bool is_sampled = desktop % kSampled == 0;
    for (size_t at = 0; (at = Find(body, kSaying, at)) != std::string_view::npos;) {
      at += kSaying.size();
      ++heard_;
      if (is_sampled) {
        at = Find(body, kText, at) + kText.size();
        AddTime(&heard_us_, body.substr(at, kTimeDigits), now);
      }
    }
    if (const size_t at = body.find(kMissed); at != std::string_view::npos) {
      missed_ += strtoul(body.data() + at + kMissed.size(), nullptr, 10);
    }
    if (body.find(R"({"type":"sprite")") == std::string_view::npos) {
      return;
    }
    for (size_t at = 0; (at = Find(body, kThrown, at)) != std::string_view::npos;) {
      at += kThrown.size();
      ++caught_;
      AddTime(&caught_us_, body.substr(at, kTimeDigits), now);
    }
  }

  // std::string_view::find compares byte by byte behind a memchr, which stops at each quote.
  static size_t Find(std::string_view text, std::string_view what, size_t from) {
    const void* const found =
        memmem(text.data() + from, text.size() - from, what.data(), what.size());
    return found == nullptr ? std::string_view::npos
                            : static_cast<size_t>(static_cast<const char*>(found) - text.data());
  }

  // Counts what was due in the window.
  void AddTime(Histogram* histogram, std::string_view hex, uint64_t now) const {
    const uint64_t due = strtoull(std::string(hex).c_str(), nullptr, 16);
    if (due >= window_us_ && due < end_us_) {
      histogram->Add(now - due);
    }
  }

  void Print() const {
    const auto cpu = after_.cpu_us - before_.cpu_us;
    printf("{\"seconds\":%.3f,\"heard\":%" PRIu64 ",\"missed\":%" PRIu64 ",\"batches\":%" PRIu64
           ",\"bytes\":%" PRIu64 ",\"sayings\":{\"due\":%" PRIu64 ",\"accepted\":%" PRIu64
           ",\"refused\":%" PRIu64 "},\"heardUs\":{\"p50\":%" PRIu64 ",\"p99\":%" PRIu64
           ",\"max\":%" PRIu64 "},\"throws\":{\"due\":%" PRIu64 ",\"accepted\":%" PRIu64
           ",\"refused\":%" PRIu64 ",\"caught\":%" PRIu64 "},\"caughtUs\":{\"p50\":%" PRIu64
           ",\"p99\":%" PRIu64 ",\"max\":%" PRIu64
           "},\"refusal\":\"%s\",\"relay\":{\"cpuUs\":%" PRIu64 ",\"rssBytes\":%" PRIu64
           "},\"crowd\":{\"cpuUs\":%" PRIu64 "}}\n",
           settings_.seconds, heard_in_window_, missed_, batches_, bytes_, said_, sayings_accepted_,
           sayings_refused_, heard_us_.Percentile(0.5), heard_us_.Percentile(0.99), heard_us_.max(),
           thrown_, throws_accepted_, throws_refused_, caught_, caught_us_.Percentile(0.5),
           caught_us_.Percentile(0.99), caught_us_.max(), refusal_.c_str(), cpu, after_.rss_bytes,
           own_after_ - own_before_);
  }

  const Settings settings_;
  int epoll_;
  std::vector<char> buffer_;
  std::vector<Desktop> desktops_;
  std::deque<Connection> connections_;  // their addresses stay
  Lane talking_;                        // joins and sayings
  Lane throwing_;
  uint32_t joined_ = 0;
  uint32_t left_ = 0;
  bool leaving_ = false;
  uint64_t start_us_ = 0;
  uint64_t window_us_ = 0;
  uint64_t end_us_ = 0;
  bool measuring_ = false;
  Usage before_;
  Usage after_;
  uint64_t own_before_ = 0;
  uint64_t own_after_ = 0;
  uint64_t said_ = 0;
  uint64_t thrown_ = 0;
  uint64_t sayings_accepted_ = 0;
  uint64_t sayings_refused_ = 0;
  uint64_t throws_accepted_ = 0;
  uint64_t throws_refused_ = 0;
  uint64_t heard_ = 0;
  uint64_t heard_before_ = 0;
  uint64_t heard_in_window_ = 0;
  uint64_t missed_ = 0;
  uint64_t caught_ = 0;
  uint64_t batches_ = 0;
  uint64_t bytes_ = 0;
  std::string refusal_;
  Histogram heard_us_;
  Histogram caught_us_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 12) {
    Fail(
        "usage: crowd API-PORT EVENTS-PORT WORLD SOURCE DESKTOPS SPEAKERS RATE THROWS WARM-UP "
        "SECONDS PID,PID…");
  }
  Settings settings = {static_cast<uint16_t>(atoi(argv[1])),
                       static_cast<uint16_t>(atoi(argv[2])),
                       argv[3],
                       INADDR_LOOPBACK - 1 + static_cast<in_addr_t>(atoi(argv[4])),
                       static_cast<uint32_t>(atoi(argv[5])),
                       static_cast<uint32_t>(atoi(argv[6])),
                       atof(argv[7]),
                       atof(argv[8]),
                       atof(argv[9]),
                       atof(argv[10]),
                       PidsIn(argv[11])};
  Crowd(std::move(settings)).Run();
  return 0;
}
