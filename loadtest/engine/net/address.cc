#include "net/address.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace swarm {
namespace {

constexpr std::array<std::string_view, 4> kSchemes = {"http", "https", "ws", "wss"};
constexpr uint32_t kSourcesMax = 65'536;  // so that a typing error does not fill the memory

bool ReadIpv4(std::string_view text, uint32_t* host) {
  in_addr address{};
  if (inet_pton(AF_INET, std::string(text).c_str(), &address) != 1) {
    return false;
  }
  *host = ntohl(address.s_addr);
  return true;
}

}  // namespace

bool Endpoint::loopback() const {
  if (address.ss_family != AF_INET) {
    return false;
  }
  sockaddr_in v4{};
  std::memcpy(&v4, &address, sizeof(v4));
  return ntohl(v4.sin_addr.s_addr) >> 24U == 127;
}

std::string ResolveEndpoint(std::string_view text, Endpoint* endpoint) {
  const size_t scheme_end = text.find("://");
  const bool has_scheme = scheme_end != std::string_view::npos;
  const std::string_view scheme = has_scheme ? text.substr(0, scheme_end) : "http";
  if (std::find(kSchemes.begin(), kSchemes.end(), scheme) == kSchemes.end()) {
    return "'" + std::string(text) + "' is not http or https";
  }
  endpoint->secure = scheme == "https" || scheme == "wss";
  std::string authority(has_scheme ? text.substr(scheme_end + 3) : text);
  if (has_scheme && authority.find(':', authority.rfind(']') + 1) == std::string::npos) {
    authority += endpoint->secure ? ":443" : ":80";
  }
  const size_t colon = authority.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == authority.size()) {
    return "'" + std::string(text) + "' is not host:port";
  }
  std::string host(authority.substr(0, colon));
  const std::string port(authority.substr(colon + 1));
  unsigned port_number = 0;
  const auto read = std::from_chars(port.data(), port.data() + port.size(), port_number);
  if (read.ec != std::errc() || read.ptr != port.data() + port.size() || port_number == 0 ||
      port_number > 65535) {
    return "'" + port + "' is not a port (1 … 65535)";
  }
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  int code = EAI_NONAME;
  // IPv4 first, because sources are IPv4 addresses.
  for (const int family : {AF_INET, AF_INET6}) {
    hints.ai_family = family;
    code = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
    if (code == 0) {
      break;
    }
  }
  if (code != 0) {
    return "cannot resolve '" + host + "': " + gai_strerror(code);
  }
  std::memcpy(&endpoint->address, found->ai_addr, found->ai_addrlen);
  endpoint->address_size = found->ai_addrlen;
  endpoint->text = authority;
  endpoint->host = host;
  freeaddrinfo(found);
  return {};
}

std::string_view OriginOf(std::string_view url) {
  const size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos ||
      std::find(kSchemes.begin(), kSchemes.end(), url.substr(0, scheme_end)) == kSchemes.end()) {
    return {};
  }
  return url.substr(0, url.find('/', scheme_end + 3));
}

std::string Sources::Parse(std::string_view text) {
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const size_t dash = item.find('-');
    uint32_t first = 0;
    if (!ReadIpv4(item.substr(0, dash), &first)) {
      return "'" + std::string(item) + "' is not an IPv4 address or a range of them";
    }
    uint32_t last = first;
    if (dash != std::string_view::npos && !ReadIpv4(item.substr(dash + 1), &last)) {
      return "'" + std::string(item) + "' is not a range of IPv4 addresses";
    }
    if (last < first || last - first >= kSourcesMax || hosts_.size() > kSourcesMax) {
      return "'" + std::string(item) + "' is an empty range or has more than 65536 addresses";
    }
    for (uint64_t host = first; host <= last; ++host) {
      hosts_.push_back(static_cast<uint32_t>(host));
    }
  }
  return hosts_.empty() ? "no source address given" : "";
}

void Sources::UseLoopback(uint32_t count) {
  constexpr uint32_t kFirst = 0x7f000001;
  for (uint32_t i = 0; i < count; ++i) {
    hosts_.push_back(kFirst + i);
  }
}

sockaddr_in Sources::At(uint32_t index) const {
  sockaddr_in source{};
  source.sin_family = AF_INET;
  source.sin_addr.s_addr = htonl(hosts_[index % hosts_.size()]);
  return source;
}

uint8_t Endpoints::IndexOf(std::string_view origin) {
  for (size_t i = 0; i < list_.size(); ++i) {
    if (list_[i].origin == origin) {
      return static_cast<uint8_t>(i);
    }
  }
  if (list_.size() >= kUnknown) {
    return kUnknown;
  }
  Endpoint endpoint;
  if (!ResolveEndpoint(origin, &endpoint).empty()) {
    return kUnknown;
  }
  if (endpoint.secure) {
    if (tls_ == nullptr) {
      tls_ = std::make_unique<TlsContext>(ca_file_);
    }
    endpoint.tls = tls_.get();
  }
  list_.push_back({std::string(origin), endpoint});
  return static_cast<uint8_t>(list_.size() - 1);
}

}  // namespace swarm
