#include "net/tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <stdexcept>

namespace swarm {
namespace {

// HTTP/1.1 only: with HTTP/2 a proxy would answer in another protocol.
constexpr std::array<unsigned char, 9> kProtocols = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

bool IsAddress(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address;
  return inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

// Where the authorities that a system trusts are, apart from OpenSSL's own folder: the engine may
// run on another system than the one it was built for.
constexpr std::array<const char*, 4> kSystemFiles = {
    "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",    // Amazon Linux, Fedora
    "/etc/ssl/ca-bundle.pem",              // SUSE
    "/etc/ssl/cert.pem",                   // Alpine
};

bool TrustSystem(SSL_CTX* context) {
  const bool has_folder = SSL_CTX_set_default_verify_paths(context) == 1;
  const bool has_file = std::any_of(
      kSystemFiles.begin(), kSystemFiles.end(),
      [context](const char* file) { return SSL_CTX_load_verify_file(context, file) == 1; });
  ERR_clear_error();
  return has_folder || has_file;
}

// What an operation that did not succeed means, as errno.
int ErrorOf(ssl_st* ssl, int result) {
  switch (SSL_get_error(ssl, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return EAGAIN;
    default:
      return ECONNRESET;
  }
}

}  // namespace

TlsContext::TlsContext(const std::string& ca_file)
    : context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
  SSL_CTX* const context = context_.get();
  if (context == nullptr) {
    throw std::runtime_error("OpenSSL has no TLS");
  }
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  // The buffers of an idle connection are freed, which are most of its memory.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_alpn_protos(context, kProtocols.data(), kProtocols.size());
  const bool is_trusting = ca_file.empty()
                               ? TrustSystem(context)
                               : SSL_CTX_load_verify_file(context, ca_file.c_str()) == 1;
  if (!is_trusting) {
    throw std::runtime_error(ca_file.empty() ? "the system's certificates cannot be read"
                                             : "'" + ca_file + "' has no certificate in PEM");
  }
}

TlsSession::TlsSession(const TlsContext& context, const std::string& host, int fd)
    : ssl_(SSL_new(context.context_.get()), SSL_free) {
  SSL* const ssl = ssl_.get();
  if (ssl == nullptr) {
    throw std::bad_alloc();
  }
  if (IsAddress(host)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str());
  } else {
    SSL_set_tlsext_host_name(ssl, host.c_str());
    SSL_set1_host(ssl, host.c_str());
  }
  SSL_set_fd(ssl, fd);
  SSL_set_connect_state(ssl);
}

TlsSession::Handshake TlsSession::Advance() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (result == 1) {
    return Handshake::kDone;
  }
  return ErrorOf(ssl_.get(), result) == EAGAIN ? Handshake::kUnfinished : Handshake::kFailed;
}

std::string TlsSession::WhyFailed() const {
  const long verified = SSL_get_verify_result(ssl_.get());
  if (verified != X509_V_OK) {
    return std::string("its certificate was rejected: ") + X509_verify_cert_error_string(verified);
  }
  const unsigned long error = ERR_peek_last_error();
  const char* const reason = error == 0 ? nullptr : ERR_reason_error_string(error);
  return std::string("no TLS: ") + (reason == nullptr ? "the connection ended" : reason);
}

ssize_t TlsSession::Receive(std::span<char> to) {
  ERR_clear_error();
  const int got =
      SSL_read(ssl_.get(), to.data(), static_cast<int>(std::min<size_t>(to.size(), INT_MAX)));
  if (got > 0) {
    return got;
  }
  if (SSL_get_error(ssl_.get(), got) == SSL_ERROR_ZERO_RETURN) {
    return 0;
  }
  errno = ErrorOf(ssl_.get(), got);
  return -1;
}

ssize_t TlsSession::Send(std::string_view bytes) {
  size_t sent = 0;
  while (sent < bytes.size()) {
    ERR_clear_error();
    const std::string_view rest = bytes.substr(sent);
    const int wrote = SSL_write(ssl_.get(), rest.data(),
                                static_cast<int>(std::min<size_t>(rest.size(), INT_MAX)));
    if (wrote <= 0) {
      errno = ErrorOf(ssl_.get(), wrote);
      return sent > 0 && errno == EAGAIN ? static_cast<ssize_t>(sent) : -1;
    }
    sent += static_cast<size_t>(wrote);
  }
  return static_cast<ssize_t>(sent);
}

}  // namespace swarm
