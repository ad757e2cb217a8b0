// Connections over TLS against a server in the same process, with certificates made here.
#include "net/tls.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "net/address.h"
#include "net/connection.h"
#include "plan/clock.h"

namespace swarm {
namespace {

template <typename T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

struct Identity {
  Owned<EVP_PKEY> key{EVP_EC_gen("P-256"), EVP_PKEY_free};
  Owned<X509> certificate{X509_new(), X509_free};
  std::string file;  // the certificate, in PEM

  // `name`: as in subjectAltName. `from_s` and `until_s` are relative to now.
  explicit Identity(const std::string& name, long from_s = -60, long until_s = 3600) {
    X509* const x = certificate.get();
    X509_set_version(x, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
    X509_gmtime_adj(X509_getm_notBefore(x), from_s);
    X509_gmtime_adj(X509_getm_notAfter(x), until_s);
    X509_set_pubkey(x, key.get());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("relay"), -1, -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(x));
    const Owned<X509_EXTENSION> names(
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, name.c_str()),
        X509_EXTENSION_free);
    X509_add_ext(x, names.get(), -1);
    X509_sign(x, key.get(), EVP_sha256());
    file = "/tmp/sprites-tls-" + std::to_string(getpid()) + "-" + std::to_string(++count_) + ".pem";
    std::FILE* const out = std::fopen(file.c_str(), "w");
    REQUIRE(out != nullptr);
    PEM_write_X509(out, x);
    std::fclose(out);
  }
  ~Identity() { std::remove(file.c_str()); }
  Identity(const Identity&) = delete;
  Identity& operator=(const Identity&) = delete;

 private:
  static inline int count_ = 0;
};

// Accepts one connection and hands its TLS to `serve`; or the plain socket, when there is no
// identity.
class TlsServer {
 public:
  TlsServer(const Identity* identity, std::function<void(SSL*, int)> serve)
      : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    signal(SIGPIPE, SIG_IGN);  // as in a slice: OpenSSL writes without MSG_NOSIGNAL
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    REQUIRE_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    REQUIRE_EQ(listen(listener_, 1), 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port = std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this, identity, serve = std::move(serve)] {
      const int fd = accept(listener_, nullptr, nullptr);
      if (identity == nullptr) {
        serve(nullptr, fd);
        close(fd);
        return;
      }
      const Owned<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
      SSL_CTX_use_certificate(context.get(), identity->certificate.get());
      SSL_CTX_use_PrivateKey(context.get(), identity->key.get());
      const Owned<SSL> ssl(SSL_new(context.get()), SSL_free);
      SSL_set_fd(ssl.get(), fd);
      if (SSL_accept(ssl.get()) == 1) {
        serve(ssl.get(), fd);
      }
      close(fd);
    });
  }
  ~TlsServer() {
    thread_.join();
    close(listener_);
  }
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  std::string port;

 private:
  int listener_;
  std::thread thread_;
};

// A client whose events are handled until `done`, or for five seconds.
struct Client {
  int epoll = epoll_create1(0);
  Connection connection;
  std::string received;
  bool saw_end = false;
  int error = EINPROGRESS;  // of the connect
  Connection::ReadResult last = Connection::ReadResult::kDrained;

  Client(const std::string& origin, const std::string& ca_file) : endpoints_(ca_file) {
    const uint8_t index = endpoints_.IndexOf(origin);
    REQUIRE_NE(index, Endpoints::kUnknown);
    REQUIRE_EQ(connection.Connect(epoll, 1, endpoints_.At(index), Sources(), 0), 0);
    HandleUntil([this] { return error != EINPROGRESS; });
  }
  ~Client() { close(epoll); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void HandleUntil(const std::function<bool()>& done) {
    const int64_t until_ns = NowNs() + 5 * kNsPerSecond;
    while (!done() && NowNs() < until_ns) {
      epoll_event event{};
      if (epoll_wait(epoll, &event, 1, 100) == 1) {
        Handle(event.events);
      }
    }
    CHECK(done());
  }

 private:
  void Handle(uint32_t events) {
    if (error == EINPROGRESS) {
      error = connection.FinishConnect(events);
    }
    if (!connection.open()) {
      return;
    }
    if (!connection.Flush()) {
      connection.Close();
      return;
    }
    uint64_t bytes_in = 0;
    std::array<char, 1024> scratch;  // smaller than a record, so that records come in parts
    last = connection.Read(scratch, events, &bytes_in,
                           [this](std::span<char> bytes, bool at_end) -> std::optional<size_t> {
                             saw_end = saw_end || at_end;
                             received.append(bytes.data(), bytes.size());
                             return bytes.size();
                           });
    if (last == Connection::ReadResult::kClosedByPeer) {
      connection.Close();
    }
  }

  Endpoints endpoints_;
};

std::string Origin(const std::string& host, const TlsServer& server) {
  return "https://" + host + ":" + server.port;
}

}  // namespace

TEST_CASE("tls: much data goes both ways, in records that come in parts and with a full socket") {
  const Identity identity("IP:127.0.0.1");
  constexpr size_t kBytes = size_t{8} << 20U;
  const TlsServer server(&identity, [](SSL* ssl, int) {
    usleep(50'000);  // so that the client's socket is full
    std::string got;
    std::array<char, 16384> some;
    while (got.size() < kBytes) {
      const int n = SSL_read(ssl, some.data(), some.size());
      if (n <= 0) {
        return;
      }
      got.append(some.data(), static_cast<size_t>(n));
    }
    for (size_t at = 0; at < got.size();) {
      at += static_cast<size_t>(SSL_write(ssl, got.data() + at, static_cast<int>(got.size() - at)));
    }
    SSL_shutdown(ssl);
  });
  Client client(Origin("127.0.0.1", server), identity.file);
  REQUIRE_EQ(client.error, 0);
  CHECK(client.connection.secure());
  std::string sent(kBytes, '\0');
  for (size_t i = 0; i < kBytes; ++i) {
    sent[i] = static_cast<char>(i * 31 + i / 251);
  }
  REQUIRE(client.connection.Send(sent));
  client.HandleUntil([&] { return client.last == Connection::ReadResult::kClosedByPeer; });
  CHECK((client.received == sent));
  CHECK(client.saw_end);
}

TEST_CASE("tls: an answer that is read in one turn needs no further event") {
  const Identity identity("IP:127.0.0.1");
  const std::string answer(5000, 'a');  // five reads of the client
  const TlsServer server(&identity, [&](SSL* ssl, int) {
    std::array<char, 100> some;
    SSL_read(ssl, some.data(), some.size());
    SSL_write(ssl, answer.data(), static_cast<int>(answer.size()));
    SSL_read(ssl, some.data(), some.size());
  });
  Client client(Origin("127.0.0.1", server), identity.file);
  REQUIRE_EQ(client.error, 0);
  REQUIRE(client.connection.Send("hello"));
  client.HandleUntil([&] { return client.received.size() >= answer.size(); });
  CHECK_EQ(client.received, answer);
  client.connection.Close();
}

TEST_CASE("tls: a certificate that is not trusted, has another name or is too old is refused") {
  const Identity good("IP:127.0.0.1");
  const Identity other_name("DNS:relay.example,IP:127.0.0.9");
  const Identity old("IP:127.0.0.1", -7200, -3600);
  struct Case {
    const char* what;
    const Identity* shown;
    const Identity* trusted;
  };
  for (const Case& one : {Case{"not trusted", &good, &old}, Case{"name", &other_name, &other_name},
                          Case{"old", &old, &old}}) {
    CAPTURE(one.what);
    const TlsServer server(one.shown, [](SSL*, int) {});
    const Client client(Origin("127.0.0.1", server), one.trusted->file);
    CHECK_EQ(client.error, EPROTO);
    CHECK(client.connection.state() == Connection::State::kClosed);
  }
}

TEST_CASE("tls: a name is checked as a name") {
  const Identity identity("DNS:localhost");
  const TlsServer server(&identity, [](SSL* ssl, int) { SSL_shutdown(ssl); });
  const Client client(Origin("localhost", server), identity.file);
  CHECK_EQ(client.error, 0);
}

TEST_CASE("tls: a server without TLS is refused, and says why") {
  const Identity identity("IP:127.0.0.1");
  const auto plain = [](SSL*, int fd) {
    std::array<char, 1000> some;
    [[maybe_unused]] const ssize_t got = recv(fd, some.data(), some.size(), 0);
    send(fd, "HTTP/1.1 400 Bad\r\n\r\n", 20, MSG_NOSIGNAL);
  };
  const TlsServer server(nullptr, plain);
  CHECK_EQ(Client(Origin("127.0.0.1", server), identity.file).error, EPROTO);
}

TEST_CASE("tls: an end that the server did not announce is a broken connection, not an end") {
  const Identity identity("IP:127.0.0.1");
  const TlsServer server(&identity, [](SSL* ssl, int) { SSL_write(ssl, "half", 4); });
  Client client(Origin("127.0.0.1", server), identity.file);
  REQUIRE_EQ(client.error, 0);
  client.HandleUntil([&] { return client.connection.state() == Connection::State::kClosed; });
  CHECK_EQ(client.received, "half");
  CHECK(!client.saw_end);
}

TEST_CASE("tls: a file without certificates is an error that says so") {
  CHECK_THROWS_WITH_AS(TlsContext("/nowhere.pem"), "'/nowhere.pem' has no certificate in PEM",
                       std::runtime_error);
}

TEST_CASE("tls: origins have a scheme, and its port unless they have one") {
  for (const auto& [text, authority, host, secure] :
       {std::tuple{"127.0.0.1:8080", "127.0.0.1:8080", "127.0.0.1", false},
        std::tuple{"https://127.0.0.1", "127.0.0.1:443", "127.0.0.1", true},
        std::tuple{"wss://127.0.0.1:8443", "127.0.0.1:8443", "127.0.0.1", true},
        std::tuple{"http://127.0.0.1", "127.0.0.1:80", "127.0.0.1", false},
        std::tuple{"https://[::1]", "[::1]:443", "::1", true},
        std::tuple{"ws://[::1]:8080", "[::1]:8080", "::1", false}}) {
    CAPTURE(text);
    Endpoint endpoint;
    CHECK_EQ(ResolveEndpoint(text, &endpoint), "");
    CHECK_EQ(endpoint.text, authority);
    CHECK_EQ(endpoint.host, host);
    CHECK_EQ(endpoint.secure, secure);
  }
  Endpoint endpoint;
  for (const char* const wrong : {"127.0.0.1", "ftp://127.0.0.1:21", "https://", ":80", "a:0"}) {
    CAPTURE(wrong);
    CHECK_NE(ResolveEndpoint(wrong, &endpoint), "");
  }
  CHECK_EQ(OriginOf("https://relay.example/v1/desktops"), "https://relay.example");
  CHECK_EQ(OriginOf("ws://10.0.0.1:8080/v1"), "ws://10.0.0.1:8080");
  CHECK_EQ(OriginOf("relay:80/v1"), "");
  CHECK_EQ(OriginOf("gopher://relay:80/v1"), "");
}

}  // namespace swarm
