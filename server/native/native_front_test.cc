// The front without JavaScript, over real sockets: a domain of a few lines stands where native.ts
// would.
//
// The front runs on a thread of its own; the clients run on another one with a file table of its
// own, so that the front's descriptors can be counted and both sides may hold as many as the limit
// allows.
// `--cycles N --crowd M` sets the size of the storms; sanitizer builds run smaller ones.
#include "native_front.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "check.h"

namespace sprites {
namespace {

uint32_t cycles = 20;
uint32_t crowd = 10'000;

constexpr uint32_t kInboundBytes = 128 << 10;
constexpr uint32_t kLongAnswer =
    8 << 20;  // several times what a socket takes at once from a peer that does not read
constexpr int kSmallWindow = 512 << 10;
constexpr uint64_t kBufferBytesMax = 4 * uint64_t{kLongAnswer};
const std::string kEmptyAnswer = "{\"events\":[]}";

// Waits until something another thread does has come about. Generous: only a fault ever uses it up.
void Until(const std::function<bool()>& condition) {
  for (int i = 0; i < 60'000; ++i) {
    if (condition()) {
      return;
    }
    timespec pause = {0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
  EXPECT(!"waited a minute in vain");
}

// A front with the least of a domain: a poll parks, a crossing is taken and answers the poll of its
// own slot.
class Relay {
 public:
  struct Options {
    uint32_t threads = 0;
    uint32_t connections_max = 100'000;
    uint32_t event_bytes = 100;
    Timeouts timeouts;
  };

  explicit Relay(const Options& options) : options_(options), inbound_(kInboundBytes / 8) {
    auto shared = std::make_unique<SharedState>();
    shared->connections_max = options.connections_max;
    shared->timeouts = options.timeouts;
    shared->buffer_bytes_max = kBufferBytesMax;
    constexpr uint32_t kStatus[] = {400, 400, 413, 431, 404, 405, 408, 503};
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
          EXPECT(front_->Listen(&ports) == 0 && ports.size() == 2);
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
    Until([&] { return listening.load(); });
  }
  ~Relay() {
    stopping_.store(true);
    thread_.join();
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

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
        EXPECT(!"no listener hands over");
      }
      at += record.bytes;
    }
    front_->Send(answers_.data(), static_cast<uint32_t>(answers_.size()));
  }

  void Answer(uint64_t ticket, uint32_t status, const std::string& body) {
    const size_t at = answers_.size();
    const OutboundRecord head = {
        AlignedToEight(kOutboundHeadBytes + static_cast<uint32_t>(body.size())),
        static_cast<uint32_t>(ticket),
        static_cast<uint32_t>(ticket >> 32),
        status,
        static_cast<uint32_t>(body.size()),
        0,
        kOutboundHeadBytes,
        0};
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
  // The last byte of the address keeps many closed connections to one port apart.
  explicit Client(
      uint16_t port, uint32_t host = 1, int receive_bytes = 0,
      const std::function<void()>& before_it_connects = [] {}) {
    descriptor_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT(descriptor_ >= 0);
    if (receive_bytes != 0) {
      setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    }
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(0x7f000000 + host);
    before_it_connects();
    EXPECT(connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    timeval timeouts = {60, 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &timeouts, sizeof timeouts);
  }
  ~Client() { Close(); }
  Client(Client&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  Client& operator=(Client&&) = delete;

  void Send(const std::string& bytes) const {
    EXPECT(send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
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
  // The next whole answer's status and body size; 0 when the connection ended instead.
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
        EXPECT(got == 0 || errno != EAGAIN);
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

// Runs clients on a thread with a file table of its own.
void Outside(const std::function<void()>& clients) {
  std::thread thread([&] {
    EXPECT(unshare(CLONE_FILES) == 0);
    EXPECT(close_range(3, ~0u, 0) == 0);
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
  EXPECT(fscanf(file, "%lu %lu", &size, &resident) == 2);
  fclose(file);
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// What all threads of this process have taken of the processors.
uint64_t ProcessorMs() {
  timespec taken = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &taken);
  return static_cast<uint64_t>(taken.tv_sec) * 1000 +
         static_cast<uint64_t>(taken.tv_nsec) / 1'000'000;
}

void ForBothShapes(const std::function<void(Relay::Options)>& test) {
  for (const uint32_t threads : {0u, 2u}) {
    Relay::Options options;
    options.threads = threads;
    test(options);
  }
}

CASE("relays: a parked poll gets what a crossing brings, again and again on the same connections") {
  ForBothShapes([](const Relay::Options& options) {
    Relay relay(options);
    Outside([&] {
      Client desktop(relay.events_port);
      Client sender(relay.crossings_port);
      for (uint32_t i = 1; i <= 200; ++i) {
        desktop.Poll(5);
        Until([&] { return relay.polls.load() == i; });
        sender.Send(Client::Crossing(5, "{\"n\":1}"));
        EXPECT(sender.Answer() == 202 && desktop.Answer() == 200);
      }
      EXPECT(relay.closed.load() == 0);
    });
    Until([&] { return relay.IsEmpty(); });
  });
}

CASE("answers a hundred pipelined requests one by one, wherever the bytes are cut") {
  ForBothShapes([](const Relay::Options& options) {
    Relay relay(options);
    Outside([&] {
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
          EXPECT(sender.Answer() == 202);
        }
        writer.join();
      }
    });
  });
}

CASE("tells once of each parked poll whose client closes, half-closes or resets") {
  ForBothShapes([](const Relay::Options& options) {
    Relay relay(options);
    Outside([&] {
      std::vector<Client> clients;
      for (uint32_t i = 0; i < 300; ++i) {
        clients.emplace_back(relay.events_port);
        clients.back().Poll(i);
      }
      Until([&] { return relay.polls.load() == 300; });
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
      Until([&] { return relay.closed.load() == 300 && relay.IsEmpty(); });
    });
    EXPECT(relay.closed.load() == 300);
  });
}

CASE(
    "answers a request whose client has already said it will send no more, when the answer is "
    "there at once") {
  Relay relay({});
  Outside([&] {
    for (int i = 0; i < 50; ++i) {
      relay.paused.store(true);
      Client sender(relay.crossings_port);
      sender.Send(Client::Crossing(5, "{}"));
      sender.HalfClose();
      relay.paused.store(false);
      EXPECT(sender.Answer() == 202 && sender.HasEnded());
    }
  });
  Until([&] { return relay.IsEmpty(); });
}

CASE("brings a long answer to a slow reader whole, and goes on with the connection") {
  ForBothShapes([](Relay::Options options) {
    options.event_bytes = kLongAnswer;
    Relay relay(options);
    Outside([&] {
      Client desktop(relay.events_port, 1, kSmallWindow);
      Client sender(relay.crossings_port);
      // More of them than there is room for at once: each has to be given back.
      for (uint32_t i = 1; i <= 12; ++i) {
        desktop.Poll(5);
        Until([&] { return relay.polls.load() == i; });
        sender.Send(Client::Crossing(5, "{}"));
        EXPECT(sender.Answer() == 202);
        size_t bytes = 0;
        EXPECT(desktop.Answer(&bytes) == 200 && bytes == kLongAnswer);
      }
    });
  });
}

CASE("lets a long last answer be read whole though more has been sent behind its request") {
  ForBothShapes([](Relay::Options options) {
    options.event_bytes = kLongAnswer;
    Relay relay(options);
    Outside([&] {
      Client desktop(relay.events_port, 1, kSmallWindow);
      Client sender(relay.crossings_port);
      desktop.Send(
          "GET /v1/desktops/5-1/events HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
          "Authorization: Bearer 5-1.00000000000000000000000000000000\r\n\r\n" +
          std::string(100'000, 'x'));
      Until([&] { return relay.polls.load() == 1; });
      sender.Send(Client::Crossing(5, "{}"));
      EXPECT(sender.Answer() == 202);
      size_t bytes = 0;
      EXPECT(desktop.Answer(&bytes) == 200 && bytes == kLongAnswer && desktop.HasEnded());
    });
  });
}

CASE("survives resets in the middle of an answer, and keeps nothing of it") {
  ForBothShapes([](Relay::Options options) {
    options.event_bytes = kLongAnswer;
    Relay relay(options);
    Outside([&] {
      for (uint32_t round = 1; round <= 8; ++round) {
        Client desktop(relay.events_port, 1, kSmallWindow);
        Client sender(relay.crossings_port);
        desktop.Poll(5);
        Until([&] { return relay.polls.load() == round; });
        sender.Send(Client::Crossing(5, "{}"));
        EXPECT(sender.Answer() == 202);
        desktop.Reset();
      }
      Until([&] { return relay.IsEmpty(); });
      // On the owner's thread an answer is out when Send() returns; on its way to another one it
      // may meet the reset.
      EXPECT(relay.closed.load() == 0 || options.threads > 0);
    });
  });
}

CASE(
    "cuts off who does not finish a request, who is idle, and who does not read, each after its "
    "time") {
  ForBothShapes([](Relay::Options options) {
    options.timeouts = {600, 600, 600, 300};
    options.event_bytes = kLongAnswer;
    Relay relay(options);
    Outside([&] {
      Client half(relay.events_port);
      half.Send("GET /v1/desktops/");
      Client silent(relay.events_port);
      Client idle(relay.crossings_port);
      idle.Send(Client::Crossing(9, "{}"));
      EXPECT(idle.Answer() == 202);
      Client deaf(relay.events_port, 1, kSmallWindow);
      deaf.Poll(5);
      Until([&] { return relay.polls.load() == 1; });
      Client sender(relay.crossings_port);
      sender.Send(Client::Crossing(5, "{}"));
      EXPECT(sender.Answer() == 202);
      EXPECT(half.Answer() == 408 && half.HasEnded());
      EXPECT(silent.HasEnded() && idle.HasEnded());
      Until([&] { return relay.IsEmpty(); });
    });
  });
}

CASE("never cuts off a parked poll") {
  Relay::Options options;
  options.timeouts = {300, 300, 300, 300};
  Relay relay(options);
  Outside([&] {
    Client parked(relay.events_port);
    parked.Poll(5);
    Until([&] { return relay.polls.load() == 1; });
    Client idle(relay.events_port);
    EXPECT(idle.HasEnded());  // all the times of a connection have passed now
    Client sender(relay.crossings_port);
    sender.Send(Client::Crossing(5, "{}"));
    EXPECT(sender.Answer() == 202 && parked.Answer() == 200);
  });
}

CASE(
    "stops reading while its owner is behind, says so, loses nothing, and catches up in short "
    "passes") {
  Relay::Options options;
  options.threads = 3;
  Relay relay(options);
  Outside([&] {
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
    Until([&] { return relay.Gauges().stalled == 1; });
    EXPECT(relay.Gauges().waiting < kSenders);
    relay.paused.store(false);
    for (Client& sender : senders) {
      EXPECT(sender.Answer() == 202);
    }
    EXPECT(relay.Gauges().stalled == 0 && relay.crossings.load() == kSenders);
    EXPECT(relay.deliveries_max.load() == 1);
  });
}

CASE("refuses with 503 above its limit and at the system's, and serves on") {
  ForBothShapes([](Relay::Options options) {
    options.connections_max = 100;
    Relay relay(options);
    Outside([&] {
      std::vector<Client> clients;
      for (uint32_t i = 0; i < 100; ++i) {
        clients.emplace_back(relay.events_port);
        clients.back().Poll(i);
      }
      Until([&] { return relay.polls.load() == 100; });
      for (uint32_t i = 0; i < 20; ++i) {
        Client refused(relay.events_port);
        EXPECT(refused.Answer() == 503 && refused.HasEnded());
      }
      clients.pop_back();
      Until([&] { return relay.Gauges().connections == 99; });
      Client taken(relay.events_port);
      taken.Poll(100);
      Until([&] { return relay.polls.load() == 101; });
    });
  });
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  ForBothShapes([&](const Relay::Options& options) {
    Relay relay(options);
    Outside([&] {
      rlimit low = before;
      low.rlim_cur = 120;
      EXPECT(setrlimit(RLIMIT_NOFILE, &low) == 0);
      std::vector<Client> clients;
      // The front's table holds more than the clients' to begin with, and is full first. Two
      // threads have twice the room.
      bool is_refused = false;
      for (uint32_t i = 0; i < 116 && !is_refused; ++i) {
        clients.emplace_back(relay.events_port);
        clients.back().Poll(i);
        Until([&] { return relay.polls.load() == i + 1 || relay.Gauges().refused > 0; });
        is_refused = relay.Gauges().refused > 0;
      }
      if (options.threads == 0) {
        EXPECT(is_refused && clients.back().Answer() == 503);
        clients.pop_back();
        clients.pop_back();
        Until([&] { return relay.closed.load() == 1; });
        Client taken(relay.events_port);
        taken.Poll(777);
        Until([&] { return relay.Gauges().waiting == clients.size() + 1; });
      }
      EXPECT(setrlimit(RLIMIT_NOFILE, &before) == 0);
    });
  });
}

CASE("rests while not even the reserve descriptor can be had, and serves who has waited then") {
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  ForBothShapes([&](const Relay::Options& options) {
    Relay relay(options);
    Outside([&] {
      Client parked(relay.events_port);
      parked.Poll(1);
      Until([&] { return relay.polls.load() == 1; });
      Client knocking(relay.events_port, 1, 0, [&] {
        rlimit low = before;
        low.rlim_cur = 3;
        EXPECT(setrlimit(RLIMIT_NOFILE, &low) == 0);
      });
      knocking.Poll(2);
      // A loop that spins takes a processor of its own.
      const uint64_t before_ms = ProcessorMs();
      constexpr timespec kPause = {0, 600'000'000};
      nanosleep(&kPause, nullptr);
      EXPECT(ProcessorMs() - before_ms < 200);
      EXPECT(relay.polls.load() == 1);
      EXPECT(setrlimit(RLIMIT_NOFILE, &before) == 0);
      Until([&] { return relay.polls.load() == 2; });
    });
    Until([&] { return relay.IsEmpty(); });
  });
}

CASE("tells that a poll is outdated when more comes behind it, and answers all of it in order") {
  ForBothShapes([](const Relay::Options& options) {
    Relay relay(options);
    Outside([&] {
      Client desktop(relay.events_port);
      desktop.Poll(5);
      Until([&] { return relay.polls.load() == 1; });
      desktop.Poll(5);
      EXPECT(desktop.Answer() == 200);
      Until([&] { return relay.polls.load() == 2; });
      EXPECT(relay.outdated.load() == 1);
      // A fold begins here: it is refused, behind the answer of the poll before it.
      desktop.Send("GET / HTTP/1.1\r\n \r\n\r\n");
      EXPECT(desktop.Answer() == 200 && desktop.Answer() == 400 && desktop.HasEnded());
      EXPECT(relay.outdated.load() == 2);
    });
    Until([&] { return relay.IsEmpty(); });
  });
}

CASE("drains: idle connections end now, parked ones and half requests after their answer") {
  ForBothShapes([](const Relay::Options& options) {
    Relay relay(options);
    Outside([&] {
      Client idle(relay.events_port);
      Client sender(relay.crossings_port);
      Client parked(relay.events_port);
      parked.Poll(5);
      idle.Send("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
      EXPECT(idle.Answer() == 204);
      const std::string last = Client::Crossing(6, "{}");
      sender.Send(Client::Crossing(9, "{}") + last.substr(0, 40));
      EXPECT(sender.Answer() == 202);
      Until([&] { return relay.polls.load() == 1; });
      relay.drain.store(true);
      EXPECT(idle.HasEnded());
      EXPECT(relay.Gauges().waiting == 1);
      sender.Send(last.substr(40));
      EXPECT(sender.Answer() == 202 && sender.HasEnded());
    });
    Until([&] { return relay.IsEmpty(); });
  });
}

CASE("shuts down with a crowd parked and gives everything back, several times in one process") {
  ForBothShapes([](const Relay::Options& options) {
    uint32_t files = 0;
    for (int round = 0; round < 3; ++round) {
      {
        Relay relay(options);
        Outside([&] {
          std::vector<Client> clients;
          for (uint32_t i = 0; i < crowd; ++i) {
            clients.emplace_back(relay.events_port, 1 + static_cast<uint32_t>(round));
            clients.back().Poll(i);
          }
          Until([&] { return relay.polls.load() == crowd; });
          EXPECT(relay.Gauges().connections == crowd);
          // The clients' ends are reset, so that no port stays in TIME_WAIT; the front closes as
          // many at the same time.
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
      EXPECT(OpenFiles() == files);
    }
  });
}

CASE("does not grow over cycles of a crowd that connects, parks, half sends and leaves") {
  ForBothShapes([](const Relay::Options& options) {
    Relay relay(options);
    uint32_t files = 0;
    uint64_t resident = 0;
    uint32_t polls = 0;
    for (uint32_t cycle = 0; cycle < cycles; ++cycle) {
      Outside([&] {
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
        Until([&] { return relay.polls.load() == polls && relay.Gauges().connections == crowd; });
        for (uint32_t i = 0; i < crowd; ++i) {
          if (i % 100 == 0) {
            clients[i].Close();
          } else {
            clients[i].Reset();
          }
        }
      });
      // An I/O thread counts a connection out before its owner has been told.
      Until([&] { return relay.IsEmpty() && relay.closed.load() == polls; });
      // What the first cycles leave is what the tables and malloc keep for the next.
      if (cycle == cycles / 4) {
        files = OpenFiles();
        resident = ResidentBytes();
      }
    }
    EXPECT(OpenFiles() == files);
    const uint64_t now = ResidentBytes();
    const uint64_t grown = now - std::min(now, resident);
    printf("  grown by %lu KiB over %u cycles of %u\n", static_cast<unsigned long>(grown >> 10),
           cycles - cycles / 4 - 1, crowd);
    EXPECT(grown < 4 << 20);
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
      // The front and its clients have a table of their own each, and some files besides.
      constexpr rlim_t kOtherFiles = 200;
      sprites::crowd =
          static_cast<uint32_t>(std::min<rlim_t>(number, files.rlim_cur - kOtherFiles));
    }
  }
  return sprites::check::RunAll("native_front");
}
