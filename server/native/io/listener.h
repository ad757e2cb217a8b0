// Opens listening sockets. Accepted connections inherit their options, so that accepting one costs
// no further call.
#ifndef SERVER_NATIVE_IO_LISTENER_H_
#define SERVER_NATIVE_IO_LISTENER_H_

#include <cstdint>
#include <string>

#include "http/request_parser.h"

namespace sprites {

// Connections that wait, at most: the kernel's default bound (somaxconn). After an outage all clients
// reconnect at once.
constexpr uint32_t kBacklog = 4096;

struct ListenerOptions {
  std::string host;  // a numeric address, IPv4 or IPv6
  uint16_t port = 0;
  bool shared = false;  // other processes listen on this port too (SO_REUSEPORT)
  Route route = Route::kEvents;
  bool hands_over = false;  // connections with other than hot requests go to Node
  int descriptor = -1;  // a socket that listens there already; the front owns it from now on
};

// Returns the descriptor, or −errno.
int OpenListener(const ListenerOptions& options, bool reuse_port);

// Returns the port that a listener is bound to.
uint16_t PortOf(int descriptor);

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_LISTENER_H_
