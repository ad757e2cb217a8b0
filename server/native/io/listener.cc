#include "io/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sprites {
namespace {

// Above the longest ping, 660 s: only a peer that receives no answers is probed. The kernel's
// timers of minutes are coarse, so the probes of many connections leave at once; more than the
// queue of a network interface are lost, and after four losses the connection is closed.
constexpr int kKeepAliveIdleS = 750;
constexpr int kKeepAliveIntervalS = 15;
constexpr int kKeepAliveProbes = 4;

bool SetOption(int descriptor, int level, int name, int value) {
  return setsockopt(descriptor, level, name, &value, sizeof value) == 0;
}

}  // namespace

int OpenListener(const ListenerOptions& options, bool reuse_port) {
  sockaddr_in6 address6 = {};
  sockaddr_in address4 = {};
  const bool is_ipv4 = inet_pton(AF_INET, options.host.c_str(), &address4.sin_addr) == 1;
  if (!is_ipv4 && inet_pton(AF_INET6, options.host.c_str(), &address6.sin6_addr) != 1) {
    return -EINVAL;
  }
  const int family = is_ipv4 ? AF_INET : AF_INET6;
  const int descriptor = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) {
    return -errno;
  }
  address4.sin_family = AF_INET;
  address4.sin_port = htons(options.port);
  address6.sin6_family = AF_INET6;
  address6.sin6_port = htons(options.port);
  bool ok = SetOption(descriptor, SOL_SOCKET, SO_REUSEADDR, 1) &&
            (!reuse_port || SetOption(descriptor, SOL_SOCKET, SO_REUSEPORT, 1)) &&
            (is_ipv4 || SetOption(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 0)) &&
            SetOption(descriptor, IPPROTO_TCP, TCP_NODELAY, 1) &&
            SetOption(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1) &&
            SetOption(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveIdleS) &&
            SetOption(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveIntervalS) &&
            SetOption(descriptor, IPPROTO_TCP, TCP_KEEPCNT, kKeepAliveProbes);
  if (ok) {
    const sockaddr* address = is_ipv4 ? reinterpret_cast<const sockaddr*>(&address4)
                                      : reinterpret_cast<const sockaddr*>(&address6);
    const socklen_t size = is_ipv4 ? sizeof address4 : sizeof address6;
    ok = bind(descriptor, address, size) == 0 && listen(descriptor, kBacklog) == 0;
  }
  if (ok) {
    return descriptor;
  }
  const int error = errno;
  close(descriptor);
  return -error;
}

uint16_t PortOf(int descriptor) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return 0;
  }
  return ntohs(address.ss_family == AF_INET
                   ? reinterpret_cast<const sockaddr_in*>(&address)->sin_port
                   : reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port);
}

}  // namespace sprites
