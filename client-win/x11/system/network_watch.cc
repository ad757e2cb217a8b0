#include "x11/system/network_watch.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace sprites {

NetworkWatch::NetworkWatch()
    : socket_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE)) {
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
  if (socket_.get() >= 0 &&
      bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    socket_.reset();
  }
}

bool NetworkWatch::HasChanged() {
  char bytes[4096];
  bool has_changed = false;
  while (socket_.get() >= 0 && recv(socket_.get(), bytes, sizeof bytes, 0) > 0) {
    has_changed = true;
  }
  return has_changed;
}

}  // namespace sprites
