// A connection against a server in the same process, so that the test decides what arrives
// together.
#include "net/connection.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "desktops/slice_state.h"

namespace swarm {
namespace {

class TestServer {
 public:
  TestServer() : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    REQUIRE_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    REQUIRE_EQ(listen(listener_, 1), 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    authority = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~TestServer() { close(listener_); }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  int Accept() const { return accept(listener_, nullptr, nullptr); }

  std::string authority;

 private:
  int listener_;
};

uint32_t WaitForEvents(int epoll) {
  epoll_event event{};
  REQUIRE_EQ(epoll_wait(epoll, &event, 1, 5000), 1);
  return event.events;
}

}  // namespace

TEST_CASE("connection: a partial answer and its end, in one event, are a broken connection") {
  const TestServer server;
  Endpoint endpoint;
  REQUIRE_EQ(ResolveEndpoint(server.authority, &endpoint), "");
  const int epoll = epoll_create1(0);
  Connection connection;
  REQUIRE_EQ(connection.Connect(epoll, 1, endpoint, Sources(), 0), 0);
  const int peer = server.Accept();
  REQUIRE_EQ(connection.FinishConnect(WaitForEvents(epoll)), 0);

  constexpr std::string_view kHalf = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello";
  REQUIRE_EQ(send(peer, kHalf.data(), kHalf.size(), 0), static_cast<ssize_t>(kHalf.size()));
  close(peer);
  const uint32_t events = WaitForEvents(epoll);
  REQUIRE((events & EPOLLRDHUP) != 0);  // both arrived before the event was read

  std::array<char, 1024> scratch;
  uint64_t bytes_in = 0;
  uint64_t responses = 0;
  const auto result = connection.ReadResponses(scratch, events, &bytes_in,
                                               [&](const HttpResponse&) { ++responses; });
  CHECK(result == Connection::ReadResult::kClosedByPeer);
  CHECK_EQ(bytes_in, kHalf.size());
  CHECK_EQ(responses, 0U);
  close(epoll);
}

TEST_CASE("connection: a whole answer and its end, in one event, are an answer and then the end") {
  const TestServer server;
  Endpoint endpoint;
  REQUIRE_EQ(ResolveEndpoint(server.authority, &endpoint), "");
  const int epoll = epoll_create1(0);
  Connection connection;
  REQUIRE_EQ(connection.Connect(epoll, 1, endpoint, Sources(), 0), 0);
  const int peer = server.Accept();
  REQUIRE_EQ(connection.FinishConnect(WaitForEvents(epoll)), 0);

  constexpr std::string_view kWhole = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
  REQUIRE_EQ(send(peer, kWhole.data(), kWhole.size(), 0), static_cast<ssize_t>(kWhole.size()));
  close(peer);
  const uint32_t events = WaitForEvents(epoll);
  std::array<char, 1024> scratch;
  uint64_t bytes_in = 0;
  uint64_t responses = 0;
  const auto result = connection.ReadResponses(scratch, events, &bytes_in,
                                               [&](const HttpResponse&) { ++responses; });
  CHECK(result == Connection::ReadResult::kClosedByPeer);
  CHECK_EQ(responses, 1U);
  close(epoll);
}

}  // namespace swarm
