// The addresses that connections go to and come from.
//
// A local address has at most 64,512 ports for one peer (28,232 with the defaults of Linux), so a
// larger swarm uses several source addresses. On loopback every 127.x.y.z is one.
#ifndef LOADTEST_ENGINE_NET_ADDRESS_H_
#define LOADTEST_ENGINE_NET_ADDRESS_H_

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/tls.h"

namespace swarm {

struct Endpoint {
  sockaddr_storage address{};
  socklen_t address_size = 0;
  std::string text;  // host:port, as in the Host header
  std::string host;  // without the port and brackets, as in a certificate
  bool secure = false;
  const TlsContext* tls = nullptr;  // set by Endpoints when it is secure

  bool loopback() const;
};

// Resolves "host:port" or "[v6]:port", with a scheme before it or without one. With a scheme the
// port may be left out. Returns the empty string, or what is wrong.
std::string ResolveEndpoint(std::string_view text, Endpoint* endpoint);

// Returns the scheme://host:port of a URL with a path; empty when its scheme is not http, https, ws
// or wss.
std::string_view OriginOf(std::string_view url);

class Sources {
 public:
  // Parses IPv4 addresses and ranges: "127.0.0.1-127.0.0.40", "10.0.0.5,10.0.0.6", or a mix.
  // Returns the empty string, or what is wrong.
  std::string Parse(std::string_view text);
  // Uses 127.0.0.1 and the `count` − 1 addresses after it.
  void UseLoopback(uint32_t count);

  bool empty() const { return hosts_.empty(); }
  uint32_t size() const { return static_cast<uint32_t>(hosts_.size()); }
  sockaddr_in At(uint32_t index) const;

 private:
  std::vector<uint32_t> hosts_;  // in host byte order
};

// The few relays that a slice talks to, each with a small index. There may be several, because the
// answer to a join may name other addresses.
class Endpoints {
 public:
  static constexpr uint8_t kUnknown = 255;

  // `ca_file` as in TlsContext.
  explicit Endpoints(std::string ca_file) : ca_file_(std::move(ca_file)) {}

  // Resolves `origin` the first time. Returns kUnknown when that fails or the list is full.
  uint8_t IndexOf(std::string_view origin);
  const Endpoint& At(uint8_t index) const { return list_[index].endpoint; }

 private:
  struct Known {
    std::string origin;
    Endpoint endpoint;
  };

  std::string ca_file_;
  std::unique_ptr<TlsContext> tls_;  // made for the first secure endpoint
  std::vector<Known> list_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_NET_ADDRESS_H_
