// What the benches' load programs (crowd, posters) share: latencies, connections to this machine,
// and enough of HTTP to read one response at a time.
#ifndef SERVER_BENCH_LOAD_CLIENT_H_
#define SERVER_BENCH_LOAD_CLIENT_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

// Ends the program, and prints why.
[[noreturn]] inline void Fail(const std::string& why) {
  fprintf(stderr, "%s: %s\n", program_invocation_short_name, why.c_str());
  exit(1);
}

// Latencies in µs: 32 buckets for each power of two.
class Histogram {
 public:
  void Add(uint64_t us) {
    ++buckets_[BucketOf(us)];
    ++count_;
    max_ = std::max(max_, us);
  }
  // The upper bound of the bucket with this share of the latencies.
  uint64_t Percentile(double share) const {
    uint64_t left = static_cast<uint64_t>(static_cast<double>(count_) * share);
    for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      if (buckets_[bucket] > left) {
        return std::min(max_, UpperBoundOf(bucket));
      }
      left -= buckets_[bucket];
    }
    return max_;
  }
  uint64_t max() const { return max_; }

 private:
  static size_t BucketOf(uint64_t us) {
    if (us < 32) {
      return us;
    }
    const int power = 63 - __builtin_clzll(us);
    return static_cast<size_t>(power - 4) * 32 + ((us >> (power - 5)) & 31);
  }
  static uint64_t UpperBoundOf(size_t bucket) {
    if (bucket < 32) {
      return bucket;
    }
    const size_t power = bucket / 32 + 4;
    return ((32 + bucket % 32 + 1) << (power - 5)) - 1;
  }

  std::array<uint64_t, 61 * 32> buckets_ = {};
  uint64_t count_ = 0;
  uint64_t max_ = 0;
};

// Opens a connection to a port of this machine, from one of its addresses. Returns its descriptor,
// which `epoll` reports as `number` when there is something to read.
inline int Connect(uint16_t port, int epoll, uint32_t number, in_addr_t source = INADDR_LOOPBACK) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) {
    Fail(std::string("socket: ") + strerror(errno));
  }
  const int on = 1;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  if (source != INADDR_LOOPBACK) {
    // The port is chosen with the other end, so that an address has all ports for each of them.
    setsockopt(descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    address.sin_addr.s_addr = htonl(source);
    if (bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      Fail(std::string("bind: ") + strerror(errno));
    }
  }
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    Fail(std::string("connect: ") + strerror(errno));
  }
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
inline bool ReadResponse(std::string_view bytes, Response* response) {
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
inline std::string_view TextAfter(std::string_view body, std::string_view key) {
  const size_t at = body.find(key);
  if (at == std::string_view::npos) {
    Fail("a response without " + std::string(key));
  }
  const size_t start = at + key.size();
  return body.substr(start, body.find('"', start) - start);
}

// Reads `PID,PID…`, and overwrites the commas.
inline std::vector<int> PidsIn(char* list) {
  std::vector<int> pids;
  for (char* pid = strtok(list, ","); pid != nullptr; pid = strtok(nullptr, ",")) {
    pids.push_back(atoi(pid));
  }
  return pids;
}

#endif  // SERVER_BENCH_LOAD_CLIENT_H_
