// TLS on the swarm's connections (OpenSSL): a context for all of them, a session for each one.
//
// Every certificate is verified, and so is the name or address in it. Threads: one; a slice is a
// process. Memory: some 10 KB a session.
#ifndef LOADTEST_ENGINE_NET_TLS_H_
#define LOADTEST_ENGINE_NET_TLS_H_

#include <sys/types.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

struct ssl_ctx_st;
struct ssl_st;

namespace swarm {

class TlsContext {
 public:
  // `ca_file`: PEM; it is trusted instead of the system's authorities unless it is empty.
  // Throws std::runtime_error, a sentence, when the file cannot be used.
  explicit TlsContext(const std::string& ca_file);

 private:
  friend class TlsSession;
  std::shared_ptr<ssl_ctx_st> context_;
};

class TlsSession {
 public:
  enum class Handshake { kDone, kUnfinished, kFailed };

  // `fd`: a connected or connecting socket, which must outlive this. `host`: without the port.
  TlsSession(const TlsContext& context, const std::string& host, int fd);

  // Goes on with the handshake. Call again when the socket can be read or written.
  Handshake Advance();
  // Why the handshake failed.
  std::string WhyFailed() const;

  // Like recv: 0 at the end that the peer announced; −1 with EAGAIN when the socket is empty, or
  // with ECONNRESET when the connection broke, also when it ended without an announcement.
  ssize_t Receive(std::span<char> to);
  // Like send, but goes on until the socket is full: less than all of it was sent only when it is.
  ssize_t Send(std::string_view bytes);

 private:
  std::unique_ptr<ssl_st, void (*)(ssl_st*)> ssl_;
};

}  // namespace swarm

#endif  // LOADTEST_ENGINE_NET_TLS_H_
