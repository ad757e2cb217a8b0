// A listening socket whose options every accepted connection inherits, so that accepting one costs
// one call.
#ifndef SERVER_NATIVE_LISTENER_H_
#define SERVER_NATIVE_LISTENER_H_

#include <cstdint>
#include <string>

#include "request_parser.h"

namespace sprites {

struct ListenerOptions {
  std::string host;  // a numeric address, IPv4 or IPv6
  uint16_t port = 0;
  bool shared = false;  // others may listen on this port too, each taking its part (SO_REUSEPORT)
  Route route = Route::kEvents;
  bool hands_over = false;  // everything but hot requests goes to Node
};

// The descriptor, or −errno.
int OpenListener(const ListenerOptions& options, bool reuse_port);

// The port a listener got.
uint16_t PortOf(int descriptor);

}  // namespace sprites

#endif  // SERVER_NATIVE_LISTENER_H_
