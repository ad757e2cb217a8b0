#include "posix/curl_transport.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <string>
#include <thread>

#include "posix/owned_fd.h"

namespace sprites {
namespace {

constexpr uint32_t kLongMs = 60'000;

// A server that gives one answer, byte by byte as it is given, to one request.
class Server {
 public:
  // An empty answer: it holds the connection until the client closes it.
  explicit Server(std::string answer)
      : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), answer_(std::move(answer)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(listen(listener_.get(), 1) == 0);
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { Run(); });
  }
  ~Server() { thread_.join(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const std::string& url() const { return url_; }
  void WaitForRequest() { requested_.get_future().wait(); }

 private:
  void Run() {
    const OwnedFd client(accept(listener_.get(), nullptr, nullptr));
    std::string request;
    char bytes[4096];
    ssize_t size = 0;
    while (request.find("\r\n\r\n") == std::string::npos &&
           (size = recv(client.get(), bytes, sizeof bytes, 0)) > 0) {
      request.append(bytes, static_cast<size_t>(size));
    }
    requested_.set_value();
    std::string_view left = answer_;
    while (!left.empty() &&
           (size = send(client.get(), left.data(), left.size(), MSG_NOSIGNAL)) > 0) {
      left.remove_prefix(static_cast<size_t>(size));
    }
    while (answer_.empty() && recv(client.get(), bytes, sizeof bytes, 0) > 0) {
    }
  }

  OwnedFd listener_;
  std::string answer_;
  std::string url_;
  std::promise<void> requested_;
  std::thread thread_;
};

std::string AnswerOf(const std::string& status, const std::string& headers, size_t body) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body) +
         "\r\nConnection: close\r\n" + headers + "\r\n" + std::string(body, 'x');
}

Request RequestTo(const Server& server) {
  Request request;
  request.id = 7;
  request.url = server.url() + "/";
  request.timeout_ms = kLongMs;
  request.response_bytes_max = 1'000;
  return request;
}

TEST_CASE("curl transport › bytes of a response: one less than the limit, the limit, one more") {
  CurlTransport transport;
  for (const size_t size : {size_t{0}, size_t{999}, size_t{1'000}, size_t{1'001}}) {
    const Server server(AnswerOf("200 OK", "", size));
    const Response response = transport.Exchange(RequestTo(server));
    CHECK(response.id == 7);
    CHECK(response.status == (size <= 1'000 ? 200 : 0));
    CHECK(response.body.size() == (size <= 1'000 ? size : 0));
  }
}

TEST_CASE("curl transport › the time to wait is at most a day, and never negative") {
  CurlTransport transport;
  for (const auto& header :
       {std::pair{"0", 0}, {"86399", 86'399}, {"86400", 86'400}, {"86401", 86'400}, {"-5", 0}}) {
    const auto& said = header.first;
    const auto read = header.second;
    const Server server(AnswerOf("503 Busy", std::string("Retry-After: ") + said + "\r\n", 2));
    const Response response = transport.Exchange(RequestTo(server));
    CHECK(response.status == 503);
    CHECK_MESSAGE(response.retry_after_s == read, said);
  }
}

TEST_CASE("curl transport › follows no redirect, and speaks http and https only") {
  CurlTransport transport;
  const Server server(AnswerOf("302 Found", "Location: file:///etc/passwd\r\n", 0));
  CHECK(transport.Exchange(RequestTo(server)).status == 302);
  for (const char* url : {"file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/"}) {
    Request request;
    request.url = url;
    request.timeout_ms = kLongMs;
    request.response_bytes_max = 1'000;
    CHECK_MESSAGE(transport.Exchange(request).status == 0, url);
  }
}

TEST_CASE("curl transport › an exchange that is cancelled ends, and the next one works") {
  CurlTransport transport;
  {
    Server server("");
    std::thread canceller([&] {
      server.WaitForRequest();
      transport.Cancel(7);
    });
    CHECK(transport.Exchange(RequestTo(server)).status == 0);
    canceller.join();
  }
  const Server server(AnswerOf("200 OK", "", 3));
  CHECK(transport.Exchange(RequestTo(server)).body == "xxx");
}

}  // namespace
}  // namespace sprites
