// Where connections go to and where they come from.
//
// A local address has at most 64,512 ports towards one peer (28,232 with Linux' defaults), so a
// swarm beyond that spreads over several sources; on loopback every 127.x.y.z is one.
#ifndef LOADTEST_ENGINE_ADDRESS_H_
#define LOADTEST_ENGINE_ADDRESS_H_

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace swarm {

struct Endpoint {
  sockaddr_storage address{};
  socklen_t address_size = 0;
  std::string text;  // host:port as the Host header has it

  bool loopback() const;
};

// "host:port", "[v6]:port"; a name is looked up, once. Empty on success, else the sentence to
// print.
std::string ResolveEndpoint(std::string_view text, Endpoint* endpoint);

// The host:port of "http://host:port/…"; empty when it is not such a URL.
std::string_view AuthorityOf(std::string_view url);

class Sources {
 public:
  // "127.0.0.1-127.0.0.40", "10.0.0.5,10.0.0.6", both mixed; IPv4. Empty on success, else the
  // sentence to print.
  std::string Parse(std::string_view text);
  // 127.0.0.1 and the `count` − 1 after it.
  void UseLoopback(uint32_t count);

  bool empty() const { return hosts_.empty(); }
  uint32_t size() const { return static_cast<uint32_t>(hosts_.size()); }
  sockaddr_in At(uint32_t index) const;

 private:
  std::vector<uint32_t> hosts_;  // in the machine's byte order
};

// The few relays a slice talks to, by small index. A relay's answer may name another host:port than
// the one asked.
class Endpoints {
 public:
  static constexpr uint8_t kUnknown = 255;

  // Looks `authority` up the first time. kUnknown when it cannot be found, or there are too many.
  uint8_t IndexOf(std::string_view authority);
  const Endpoint& At(uint8_t index) const { return list_[index]; }

 private:
  std::vector<Endpoint> list_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_ADDRESS_H_
