// The front without JavaScript, over real sockets: a minimal domain takes the place of native.ts.
//
// The front runs on one thread. The clients run on another thread with a separate file table, so
// that the front's descriptors can be counted and both sides may hold as many as the limit allows.
// `--cycles N --crowd M` sets the size of the storms; sanitizer builds run smaller ones.
#define DOCTEST_CONFIG_IMPLEMENT
#define DOCTEST_CONFIG_NO_POSIX_SIGNALS
#include "io/native_front.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace sprites {
namespace {

uint32_t cycles = 20;
uint32_t crowd = 10'000;

constexpr uint32_t kInboundBytes = 128 << 10;
// Several times what a socket accepts at once for a peer that does not read.
constexpr uint32_t kLongAnswer = 8 << 20;
constexpr int kSmallWindow = 512 << 10;
constexpr uint64_t kBufferBytesMax = 4 * uint64_t{kLongAnswer};
const std::string kEmptyAnswer = "{\"events\":[]}";

// Waits until another thread has made `condition` true. The timeout is generous: only a bug reaches
// it.
void WaitUntil(const std::function<bool()>& condition) {
  for (int i = 0; i < 60'000; ++i) {
    if (condition()) {
      return;
    }
    timespec pause = {0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
  FAIL("waited a minute for a condition");
}

// A front with a minimal domain: a poll parks; a crossing is accepted, and answers the poll parked
// for its own slot; a saying is accepted, and answers all parked polls with one shared body.
class TestRelay {
 public:
  struct Options {
    uint32_t threads = 0;
    uint32_t connections_max = 100'000;
    uint32_t event_bytes = 100;
    Timeouts timeouts;
  };

  explicit TestRelay(const Options& options) : options_(options), inbound_(kInboundBytes / 8) {
    auto shared = std::make_unique<SharedState>();
    shared->connections_max = options.connections_max;
    shared->timeouts = options.timeouts;
    shared->buffer_bytes_max = kBufferBytesMax;
    constexpr uint32_t kStatus[] = {400, 400, 413, 431, 404, 405, 408, 503, 429};
    for (size_t i = 0; i < shared->problems.size(); ++i) {
      shared->problems[i] = {kStatus[i], kStatus[i] == 503 ? 10u : 0u, "{\"problem\":true}"};
    }
    FrontOptions front;
    front.threads = options.threads;
    front.listeners.push_back({"0.0.0.0", 0, false, Route::kEvents, false});
    front.listeners.push_back({"0.0.0.0", 0, false, Route::kCrossings, false});
    std::atomic<bool> listening{false};
    thread_ = std::thread(
        [this, &listening, front = std::move(front), shared = std::move(shared)]() mutable {
          front_ = std::make_unique<NativeFront>(
              std::move(front), std::move(shared), reinterpret_cast<uint8_t*>(inbound_.data()),
              kInboundBytes, [this](uint32_t bytes) { Deliver(bytes); });
          std::vector<uint16_t> ports;
          REQUIRE(front_->Listen(&ports) == 0);
          REQUIRE(ports.size() == 2);
          events_port = ports[0];
          crossings_port = ports[1];
          listening.store(true);
          while (!stopping_.load()) {
            if (!paused.load()) {
              deliveries_ = 0;
              front_->Pass(2);
              deliveries_max = std::max(deliveries_max.load(), deliveries_);
            }
            if (drain.exchange(false)) {
              front_->Drain();
            }
          }
          front_->Stop();
          while (!front_->IsOver()) {
            front_->Pass(1);
          }
          front_ = nullptr;
        });
    WaitUntil([&] { return listening.load(); });
  }
  ~TestRelay() {
    stopping_.store(true);
    thread_.join();
  }
  TestRelay(const TestRelay&) = delete;
  TestRelay& operator=(const TestRelay&) = delete;

  FrontGauges Gauges() const { return front_->Gauges(); }
  bool IsEmpty() const { return Gauges().connections == 0 && Gauges().waiting == 0; }

  uint16_t events_port = 0;
  uint16_t crossings_port = 0;
  std::atomic<uint32_t> polls{0};
  std::atomic<uint32_t> crossings{0};
  std::atomic<uint32_t> closed{0};
  std::atomic<uint32_t> outdated{0};
  std::atomic<bool> paused{false};
  std::atomic<bool> drain{false};
  std::atomic<uint32_t> deliveries_max{0};  // in one pass

 private:
  void Deliver(uint32_t bytes) {
    ++deliveries_;
    answers_.clear();
    const uint8_t* memory = reinterpret_cast<const uint8_t*>(inbound_.data());
    for (uint32_t at = 0; at < bytes;) {
      InboundRecord record = {};
      memcpy(&record, memory + at, std::min<size_t>(sizeof record, bytes - at));
      const uint64_t ticket = static_cast<uint64_t>(record.ticket_high) << 32 | record.ticket_low;
      if (record.kind == RecordKind::kPoll) {
        polls.fetch_add(1);
        const auto parked = parked_.find(record.slot);
        if (parked != parked_.end()) {
          Answer(parked->second, 200, kEmptyAnswer);
        }
        parked_[record.slot] = ticket;
      } else if (record.kind == RecordKind::kCrossing) {
        crossings.fetch_add(1);
        Answer(ticket, 202, "{\"to\":null}");
        const auto parked = parked_.find(record.slot);
        if (parked != parked_.end()) {
          Answer(parked->second, 200, std::string(options_.event_bytes, 'e'));
          parked_.erase(parked);
        }
      } else if (record.kind == RecordKind::kSaying) {
        Answer(ticket, 202, "{\"heard\":1}");
        Share(std::string(options_.event_bytes, 's'));
        for (const auto& [slot, parked] : parked_) {
          Answer(parked, 200, "own", 1);
        }
        parked_.clear();
      } else if (record.kind == RecordKind::kClosed) {
        closed.fetch_add(1);
        const auto parked = parked_.find(record.slot);
        if (parked != parked_.end() && parked->second == ticket) {
          parked_.erase(parked);
        }
      } else if (record.kind == RecordKind::kOutdated) {
        outdated.fetch_add(1);
        const auto parked = parked_.find(record.slot);
        if (parked != parked_.end() && parked->second == ticket) {
          Answer(ticket, 200, kEmptyAnswer);
          parked_.erase(parked);
        }
      } else {
        FAIL("no listener hands connections over");
      }
      at += record.bytes;
    }
    front_->Send(answers_.data(), static_cast<uint32_t>(answers_.size()));
  }

  void Share(const std::string& body) {
    const size_t at = answers_.size();
    const OutboundRecord head = {AlignedToEight(sizeof head + static_cast<uint32_t>(body.size())),
                                 0,
                                 0,
                                 0,
                                 static_cast<uint32_t>(body.size()),
                                 0,
                                 sizeof head,
                                 0};
    answers_.resize(at + head.bytes);
    memcpy(answers_.data() + at, &head, sizeof head);
    memcpy(answers_.data() + at + sizeof head, body.data(), body.size());
  }

  void Answer(uint64_t ticket, uint32_t status, const std::string& body, uint32_t shares = 0) {
    const size_t at = answers_.size();
    const OutboundRecord head = {
        AlignedToEight(kOutboundHeadBytes + static_cast<uint32_t>(body.size())),
        static_cast<uint32_t>(ticket),
        static_cast<uint32_t>(ticket >> 32),
        status,
        static_cast<uint32_t>(body.size()),
        0,
        kOutboundHeadBytes,
        shares};
    answers_.resize(at + head.bytes);
    memcpy(answers_.data() + at, &head, sizeof head);
    memcpy(answers_.data() + at + kOutboundHeadBytes, body.data(), body.size());
  }

  const Options options_;
  std::vector<uint64_t> inbound_;
  std::vector<uint8_t> answers_;
  uint32_t deliveries_ = 0;
  std::unordered_map<uint32_t, uint64_t> parked_;
  std::unique_ptr<NativeFront> front_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

class Client {
 public:
  // `host` is the last byte of the address: many closed connections to one port need different
  // addresses.
  explicit Client(
      uint16_t port, uint32_t host = 1, int receive_bytes = 0,
      const std::function<void()>& before_connect = [] {}) {
    descriptor_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(descriptor_ >= 0);
    if (receive_bytes != 0) {
      setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    }
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(0x7f000000 + host);
    before_connect();
    REQUIRE(connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    timeval timeout = {60, 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  }
  ~Client() { Close(); }
  Client(Client&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  Client& operator=(Client&&) = delete;

  void Send(const std::string& bytes) const {
    REQUIRE(send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(bytes.size()));
  }
  void Poll(uint32_t slot) const {
    const std::string id = Id(slot);
    Send("GET /v1/desktops/" + id + "/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + id +
         "." + std::string(32, '0') + "\r\n\r\n");
  }
  static std::string Crossing(uint32_t slot, const std::string& body) {
    const std::string id = Id(slot);
    return "POST /v1/desktops/" + id + "/crossings HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " +
           id + "." + std::string(32, '0') + "\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
  }
  static std::string Saying(uint32_t slot, const std::string& body) {
    const std::string id = Id(slot);
    return "POST /v1/desktops/" + id + "/sayings HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " +
           id + "." + std::string(32, '0') + "\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
  }
  // Reads the next whole answer. Returns its status, or 0 when the connection ended instead.
  uint32_t Answer(size_t* body_bytes = nullptr) {
    for (;;) {
      const size_t end = received_.find("\r\n\r\n");
      if (end != std::string::npos) {
        const size_t length = received_.find("Content-Length: ");
        const size_t body = length < end ? std::stoul(received_.substr(length + 16, 10)) : 0;
        if (received_.size() >= end + 4 + body) {
          const uint32_t status = static_cast<uint32_t>(std::stoul(received_.substr(9, 3)));
          received_.erase(0, end + 4 + body);
          if (body_bytes != nullptr) {
            *body_bytes = body;
          }
          return status;
        }
      }
      char bytes[16384];
      const ssize_t got = recv(descriptor_, bytes, sizeof bytes, 0);
      if (got <= 0) {
        REQUIRE((got == 0 || errno != EAGAIN));
        return 0;
      }
      received_.append(bytes, static_cast<size_t>(got));
    }
  }
  void HalfClose() const { shutdown(descriptor_, SHUT_WR); }
  void Close() {
    if (descriptor_ >= 0) {
      close(descriptor_);
    }
    descriptor_ = -1;
  }
  void Reset() {
    const linger now = {1, 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    Close();
  }
  bool HasEnded() const {
    char byte;
    const ssize_t got = recv(descriptor_, &byte, 1, MSG_PEEK);
    return got == 0 || (got < 0 && errno == ECONNRESET);
  }

 private:
  static std::string Id(uint32_t slot) {
    char text[16];
    snprintf(text, sizeof text, "%x-1", slot);
    return text;
  }
  int descriptor_;
  std::string received_;
};

// Runs clients on a thread with a separate file table.
void RunClients(const std::function<void()>& clients) {
  std::thread thread([&] {
    REQUIRE(unshare(CLONE_FILES) == 0);
    REQUIRE(close_range(3, ~0u, 0) == 0);
    clients();
  });
  thread.join();
}

uint32_t OpenFiles() {
  DIR* directory = opendir("/proc/self/fd");
  uint32_t count = 0;
  while (readdir(directory) != nullptr) {
    ++count;
  }
  closedir(directory);
  return count;
}

uint64_t ResidentBytes() {
  FILE* file = fopen("/proc/self/statm", "re");
  unsigned long size = 0;
  unsigned long resident = 0;
  REQUIRE(fscanf(file, "%lu %lu", &size, &resident) == 2);
  fclose(file);
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Processor time of all threads of this process.
uint64_t ProcessorMs() {
  timespec used = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<uint64_t>(used.tv_sec) * 1000 +
         static_cast<uint64_t>(used.tv_nsec) / 1'000'000;
}

// Runs a test with all I/O on the owner's thread, then with two I/O threads.
void ForEachThreading(const std::function<void(TestRelay::Options)>& test) {
  for (const uint32_t threads : {0u, 2u}) {
    TestRelay::Options options;
    options.threads = threads;
    test(options);
  }
}

TEST_CASE("native front › answers a parked poll with a crossing, repeatedly on one connection") {
  ForEachThreading([](const TestRelay::Options& options) {
    TestRelay relay(options);
    RunClients([&] {
      Client desktop(relay.events_port);
      Client sender(relay.crossings_port);
      for (uint32_t i = 1; i <= 200; ++i) {
        desktop.Poll(5);
        WaitUntil([&] { return relay.polls.load() == i; });
        sender.Send(Client::Crossing(5, "{\"n\":1}"));
        REQUIRE(sender.Answer() == 202);
        REQUIRE(desktop.Answer() == 200);
      }
      REQUIRE(relay.closed.load() == 0);
    });
    WaitUntil([&] { return relay.IsEmpty(); });
  });
}

TEST_CASE("native front › answers many polls with one shared body, also to slow readers") {
  ForEachThreading([](TestRelay::Options options) {
    for (const uint32_t event_bytes : {0u, 100u, kLongAnswer}) {
      options.event_bytes = event_bytes;
      TestRelay relay(options);
      RunClients([&] {
        std::vector<Client> desktops;
        for (uint32_t slot = 1; slot <= 3; ++slot) {
          desktops.emplace_back(relay.events_port, 1, kSmallWindow);
          desktops.back().Poll(slot);
        }
        WaitUntil([&] { return relay.polls.load() == 3; });
        Client speaker(relay.crossings_port);
        speaker.Send(Client::Saying(5, "{\"n\":1}"));
        REQUIRE(speaker.Answer() == 202);
        for (Client& desktop : desktops) {
          size_t body_bytes = 0;
          REQUIRE(desktop.Answer(&body_bytes) == 200);
          REQUIRE(body_bytes == 3 + event_bytes);
        }
      });
      WaitUntil([&] { return relay.IsEmpty(); });
    }
  });
}

TEST_CASE("native front › answers a hundred pipelined requests in order, however they are split") {
  ForEachThreading([](const TestRelay::Options& options) {
    TestRelay relay(options);
    RunClients([&] {
      std::string all;
      for (int i = 0; i < 100; ++i) {
        all += Client::Crossing(5, std::string(static_cast<size_t>(i) * 10, 'x'));
      }
      for (const size_t step : {size_t{1'000'000}, size_t{9216}, size_t{1000}, size_t{333}}) {
        Client sender(relay.crossings_port);
        std::thread writer([&] {
          for (size_t at = 0; at < all.size(); at += step) {
            sender.Send(all.substr(at, step));
          }
        });
        for (int i = 0; i < 100; ++i) {
          REQUIRE(sender.Answer() == 202);
        }
        writer.join();
      }
    });
  });
}

TEST_CASE(
    "native front › reports each parked poll once whose client closes, half-closes or resets") {
  ForEachThreading([](const TestRelay::Options& options) {
    TestRelay relay(options);
    RunClients([&] {
      std::vector<Client> clients;
      for (uint32_t i = 0; i < 300; ++i) {
        clients.emplace_back(relay.events_port);
        clients.back().Poll(i);
      }
      WaitUntil([&] { return relay.polls.load() == 300; });
      for (uint32_t i = 0; i < 300; ++i) {
        if (i % 3 == 0) {
          clients[i].Close();
        }
        if (i % 3 == 1) {
          clients[i].HalfClose();
        }
        if (i % 3 == 2) {
          clients[i].Reset();
        }
      }
      WaitUntil([&] { return relay.closed.load() == 300 && relay.IsEmpty(); });
    });
    REQUIRE(relay.closed.load() == 300);
  });
}

TEST_CASE("native front › answers a half-closed client if the answer is ready in the same pass") {
  TestRelay relay({});
  RunClients([&] {
    for (int i = 0; i < 50; ++i) {
      relay.paused.store(true);
      Client sender(relay.crossings_port);
      sender.Send(Client::Crossing(5, "{}"));
      sender.HalfClose();
      relay.paused.store(false);
      REQUIRE(sender.Answer() == 202);
      REQUIRE(sender.HasEnded());
    }
  });
  WaitUntil([&] { return relay.IsEmpty(); });
}

TEST_CASE("native front › delivers a long answer to a slow reader, and keeps the connection") {
  ForEachThreading([](TestRelay::Options options) {
    options.event_bytes = kLongAnswer;
    TestRelay relay(options);
    RunClients([&] {
      Client desktop(relay.events_port, 1, kSmallWindow);
      Client sender(relay.crossings_port);
      // Together they exceed the bound of unsent answers, so each must be freed.
      for (uint32_t i = 1; i <= 12; ++i) {
        desktop.Poll(5);
        WaitUntil([&] { return relay.polls.load() == i; });
        sender.Send(Client::Crossing(5, "{}"));
        REQUIRE(sender.Answer() == 202);
        size_t bytes = 0;
        REQUIRE(desktop.Answer(&bytes) == 200);
        REQUIRE(bytes == kLongAnswer);
      }
    });
  });
}

TEST_CASE("native front › delivers a long last answer whole though more follows its request") {
  ForEachThreading([](TestRelay::Options options) {
    options.event_bytes = kLongAnswer;
    TestRelay relay(options);
    RunClients([&] {
      Client desktop(relay.events_port, 1, kSmallWindow);
      Client sender(relay.crossings_port);
      desktop.Send(
          "GET /v1/desktops/5-1/events HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
          "Authorization: Bearer 5-1.00000000000000000000000000000000\r\n\r\n" +
          std::string(100'000, 'x'));
      WaitUntil([&] { return relay.polls.load() == 1; });
      sender.Send(Client::Crossing(5, "{}"));
      REQUIRE(sender.Answer() == 202);
      size_t bytes = 0;
      REQUIRE(desktop.Answer(&bytes) == 200);
      REQUIRE(bytes == kLongAnswer);
      REQUIRE(desktop.HasEnded());
    });
  });
}

TEST_CASE("native front › frees an answer whose client resets in the middle of it") {
  ForEachThreading([](TestRelay::Options options) {
    options.event_bytes = kLongAnswer;
    TestRelay relay(options);
    RunClients([&] {
      for (uint32_t round = 1; round <= 8; ++round) {
        Client desktop(relay.events_port, 1, kSmallWindow);
        Client sender(relay.crossings_port);
        desktop.Poll(5);
        WaitUntil([&] { return relay.polls.load() == round; });
        sender.Send(Client::Crossing(5, "{}"));
        REQUIRE(sender.Answer() == 202);
        desktop.Reset();
      }
      WaitUntil([&] { return relay.IsEmpty(); });
      // On the owner's thread an answer has left when Send() returns. On its way to an I/O thread
      // the reset may come first.
      REQUIRE((relay.closed.load() == 0 || options.threads > 0));
    });
  });
}

TEST_CASE(
    "native front › cuts off unfinished requests, idle clients and clients that do not read") {
  ForEachThreading([](TestRelay::Options options) {
    options.timeouts = {600, 600, 600, 300};
    options.event_bytes = kLongAnswer;
    TestRelay relay(options);
    RunClients([&] {
      Client half(relay.events_port);
      half.Send("GET /v1/desktops/");
      Client silent(relay.events_port);
      Client idle(relay.crossings_port);
      idle.Send(Client::Crossing(9, "{}"));
      REQUIRE(idle.Answer() == 202);
      Client deaf(relay.events_port, 1, kSmallWindow);
      deaf.Poll(5);
      WaitUntil([&] { return relay.polls.load() == 1; });
      Client sender(relay.crossings_port);
      sender.Send(Client::Crossing(5, "{}"));
      REQUIRE(sender.Answer() == 202);
      REQUIRE(half.Answer() == 408);
      REQUIRE(half.HasEnded());
      REQUIRE(silent.HasEnded());
      REQUIRE(idle.HasEnded());
      WaitUntil([&] { return relay.IsEmpty(); });
    });
  });
}

TEST_CASE("native front › never cuts off a parked poll") {
  TestRelay::Options options;
  options.timeouts = {300, 300, 300, 300};
  TestRelay relay(options);
  RunClients([&] {
    Client parked(relay.events_port);
    parked.Poll(5);
    WaitUntil([&] { return relay.polls.load() == 1; });
    Client idle(relay.events_port);
    REQUIRE(idle.HasEnded());  // every timeout of a connection has passed now
    Client sender(relay.crossings_port);
    sender.Send(Client::Crossing(5, "{}"));
    REQUIRE(sender.Answer() == 202);
    REQUIRE(parked.Answer() == 200);
  });
}

TEST_CASE("native front › stalls while its owner is behind, then catches up in short passes") {
  TestRelay::Options options;
  options.threads = 3;
  TestRelay relay(options);
  RunClients([&] {
    constexpr uint32_t kSenders = 1500;
    const std::string request = Client::Crossing(9, std::string(1000, 'x'));
    std::vector<Client> senders;
    for (uint32_t i = 0; i < kSenders; ++i) {
      senders.emplace_back(relay.crossings_port);
    }
    relay.paused.store(true);
    for (const Client& sender : senders) {
      sender.Send(request);
    }
    WaitUntil([&] { return relay.Gauges().stalled == 1; });
    REQUIRE(relay.Gauges().waiting < kSenders);
    relay.paused.store(false);
    for (Client& sender : senders) {
      REQUIRE(sender.Answer() == 202);
    }
    REQUIRE(relay.Gauges().stalled == 0);
    REQUIRE(relay.crossings.load() == kSenders);
    REQUIRE(relay.deliveries_max.load() == 1);
  });
}

TEST_CASE("native front › refuses with 503 at its limit and at the system's, and keeps serving") {
  ForEachThreading([](TestRelay::Options options) {
    options.connections_max = 100;
    TestRelay relay(options);
    RunClients([&] {
      std::vector<Client> clients;
      for (uint32_t i = 0; i < 100; ++i) {
        clients.emplace_back(relay.events_port);
        clients.back().Poll(i);
      }
      WaitUntil([&] { return relay.polls.load() == 100; });
      for (uint32_t i = 0; i < 20; ++i) {
        Client refused(relay.events_port);
        REQUIRE(refused.Answer() == 503);
        REQUIRE(refused.HasEnded());
      }
      clients.pop_back();
      WaitUntil([&] { return relay.Gauges().connections == 99; });
      Client accepted(relay.events_port);
      accepted.Poll(100);
      WaitUntil([&] { return relay.polls.load() == 101; });
    });
  });
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  ForEachThreading([&](const TestRelay::Options& options) {
    TestRelay relay(options);
    RunClients([&] {
      rlimit low = before;
      low.rlim_cur = 120;
      REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
      std::vector<Client> clients;
      // The front's file table holds more files than the clients' at the start, so it is full
      // first. Two threads have twice the room.
      bool is_refused = false;
      for (uint32_t i = 0; i < 116 && !is_refused; ++i) {
        clients.emplace_back(relay.events_port);
        clients.back().Poll(i);
        WaitUntil([&] { return relay.polls.load() == i + 1 || relay.Gauges().refused > 0; });
        is_refused = relay.Gauges().refused > 0;
      }
      if (options.threads == 0) {
        REQUIRE(is_refused);
        REQUIRE(clients.back().Answer() == 503);
        clients.pop_back();
        clients.pop_back();
        WaitUntil([&] { return relay.closed.load() == 1; });
        Client accepted(relay.events_port);
        accepted.Poll(777);
        WaitUntil([&] { return relay.Gauges().waiting == clients.size() + 1; });
      }
      REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    });
  });
}

TEST_CASE("native front › pauses without the reserve descriptor, then serves those who waited") {
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  ForEachThreading([&](const TestRelay::Options& options) {
    TestRelay relay(options);
    RunClients([&] {
      Client parked(relay.events_port);
      parked.Poll(1);
      WaitUntil([&] { return relay.polls.load() == 1; });
      Client connecting(relay.events_port, 1, 0, [&] {
        rlimit low = before;
        low.rlim_cur = 3;
        REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
      });
      connecting.Poll(2);
      // A loop that spins would use a whole processor.
      const uint64_t before_ms = ProcessorMs();
      constexpr timespec kPause = {0, 600'000'000};
      nanosleep(&kPause, nullptr);
      REQUIRE(ProcessorMs() - before_ms < 200);
      REQUIRE(relay.polls.load() == 1);
      REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
      WaitUntil([&] { return relay.polls.load() == 2; });
    });
    WaitUntil([&] { return relay.IsEmpty(); });
  });
}

TEST_CASE("native front › reports an outdated poll, and answers all requests in order") {
  ForEachThreading([](const TestRelay::Options& options) {
    TestRelay relay(options);
    RunClients([&] {
      Client desktop(relay.events_port);
      desktop.Poll(5);
      WaitUntil([&] { return relay.polls.load() == 1; });
      desktop.Poll(5);
      REQUIRE(desktop.Answer() == 200);
      WaitUntil([&] { return relay.polls.load() == 2; });
      REQUIRE(relay.outdated.load() == 1);
      // This request has a folded header. It is refused, after the answer to the poll before it.
      desktop.Send("GET / HTTP/1.1\r\n \r\n\r\n");
      REQUIRE(desktop.Answer() == 200);
      REQUIRE(desktop.Answer() == 400);
      REQUIRE(desktop.HasEnded());
      REQUIRE(relay.outdated.load() == 2);
    });
    WaitUntil([&] { return relay.IsEmpty(); });
  });
}

TEST_CASE("native front › drains idle connections now, and busy ones after their answer") {
  ForEachThreading([](const TestRelay::Options& options) {
    TestRelay relay(options);
    RunClients([&] {
      Client idle(relay.events_port);
      Client sender(relay.crossings_port);
      Client parked(relay.events_port);
      parked.Poll(5);
      idle.Send("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
      REQUIRE(idle.Answer() == 204);
      const std::string last = Client::Crossing(6, "{}");
      sender.Send(Client::Crossing(9, "{}") + last.substr(0, 40));
      REQUIRE(sender.Answer() == 202);
      WaitUntil([&] { return relay.polls.load() == 1; });
      relay.drain.store(true);
      REQUIRE(idle.HasEnded());
      REQUIRE(relay.Gauges().waiting == 1);
      sender.Send(last.substr(40));
      REQUIRE(sender.Answer() == 202);
      REQUIRE(sender.HasEnded());
    });
    WaitUntil([&] { return relay.IsEmpty(); });
  });
}

TEST_CASE("native front › answers those who had connected or asked when it drains") {
  ForEachThreading([](const TestRelay::Options& options) {
    TestRelay relay(options);
    RunClients([&] {
      Client kept(relay.crossings_port);
      kept.Send(Client::Crossing(1, "{}"));
      REQUIRE(kept.Answer() == 202);
      Client fresh(relay.crossings_port);
      Client silent(relay.crossings_port);
      WaitUntil([&] { return relay.Gauges().connections == 3; });
      relay.paused.store(true);
      kept.Send(Client::Crossing(2, "{}"));
      Client late(relay.crossings_port);
      late.Send(Client::Crossing(3, "{}"));
      relay.drain.store(true);
      WaitUntil([&] { return !relay.drain.load(); });
      relay.paused.store(false);
      fresh.Send(Client::Crossing(4, "{}"));
      for (Client* client : {&kept, &late, &fresh}) {
        REQUIRE(client->Answer() == 202);
        REQUIRE(client->HasEnded());
      }
      silent.Send("POST ");
      relay.drain.store(true);
      REQUIRE(silent.HasEnded());
    });
    WaitUntil([&] { return relay.IsEmpty(); });
  });
}

TEST_CASE("native front › frees everything when it closes with a crowd parked, repeatedly") {
  ForEachThreading([](const TestRelay::Options& options) {
    uint32_t files = 0;
    for (int round = 0; round < 3; ++round) {
      {
        TestRelay relay(options);
        RunClients([&] {
          std::vector<Client> clients;
          for (uint32_t i = 0; i < crowd; ++i) {
            clients.emplace_back(relay.events_port, 1 + static_cast<uint32_t>(round));
            clients.back().Poll(i);
          }
          WaitUntil([&] { return relay.polls.load() == crowd; });
          REQUIRE(relay.Gauges().connections == crowd);
          // Half of the clients reset, so that no port stays in TIME_WAIT, while the front closes
          // the other half.
          std::thread closer([&] {
            for (size_t i = 0; i < clients.size() / 2; ++i) {
              clients[i].Reset();
            }
          });
          closer.join();
        });
      }
      if (round == 0) {
        files = OpenFiles();
      }
      REQUIRE(OpenFiles() == files);
    }
  });
}

TEST_CASE("native front › does not grow over cycles of a crowd that connects, parks and leaves") {
  ForEachThreading([](const TestRelay::Options& options) {
    TestRelay relay(options);
    uint32_t files = 0;
    uint64_t resident = 0;
    uint32_t polls = 0;
    for (uint32_t cycle = 0; cycle < cycles; ++cycle) {
      RunClients([&] {
        std::vector<Client> clients;
        clients.reserve(crowd);
        for (uint32_t i = 0; i < crowd; ++i) {
          clients.emplace_back(relay.events_port, 1 + cycle);
          if (i % 10 == 9) {
            clients.back().Send("GET /v1/desktops/" + std::string(i % 2000, '1'));
          } else {
            clients.back().Poll(i);
            ++polls;
          }
        }
        WaitUntil(
            [&] { return relay.polls.load() == polls && relay.Gauges().connections == crowd; });
        for (uint32_t i = 0; i < crowd; ++i) {
          if (i % 100 == 0) {
            clients[i].Close();
          } else {
            clients[i].Reset();
          }
        }
      });
      // An I/O thread stops counting a connection before its owner learns of the end.
      WaitUntil([&] { return relay.IsEmpty() && relay.closed.load() == polls; });
      // The tables and malloc keep memory of the first cycles for the next.
      if (cycle == cycles / 4) {
        files = OpenFiles();
        resident = ResidentBytes();
      }
    }
    REQUIRE(OpenFiles() == files);
    const uint64_t now = ResidentBytes();
    const uint64_t grown = now - std::min(now, resident);
    printf("  grown by %lu KiB over %u cycles of %u\n", static_cast<unsigned long>(grown >> 10),
           cycles - cycles / 4 - 1, crowd);
    REQUIRE(grown < 4 << 20);
  });
}

}  // namespace
}  // namespace sprites

int main(int argc, char** argv) {
  rlimit files = {};
  getrlimit(RLIMIT_NOFILE, &files);
  for (int i = 1; i + 1 < argc; i += 2) {
    const uint32_t number = static_cast<uint32_t>(strtoul(argv[i + 1], nullptr, 10));
    if (strcmp(argv[i], "--cycles") == 0) {
      sprites::cycles = number;
    }
    if (strcmp(argv[i], "--crowd") == 0) {
      // The front and its clients each have a file table, with some other files in it.
      constexpr rlim_t kOtherFiles = 200;
      sprites::crowd =
          static_cast<uint32_t>(std::min<rlim_t>(number, files.rlim_cur - kOtherFiles));
    }
  }
  return doctest::Context(argc, argv).run();
}
