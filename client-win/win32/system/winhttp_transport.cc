#include "win32/system/winhttp_transport.h"

#include <winsock2.h>
// After winsock2.h.
#include <mstcpip.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "core/desktop/version.h"
#include "win32/system/text16.h"

namespace sprites {

namespace {

constexpr size_t kReadBytes = 16'384;  // bytes per read: holds a usual batch of a poll
constexpr wchar_t kAgent[] = L"Sprites/" SPRITES_VERSION L" (Windows)";  // the relay counts by it
constexpr ULONG kKeepAliveMs = 45'000;      // of silence: below what routers forget after
constexpr ULONG kKeepAliveAgainMs = 5'000;  // until it is repeated, when nobody answers
constexpr DWORD kTcpKeepAlive = 152;  // WINHTTP_OPTION_TCP_KEEPALIVE, which older headers lack

// Shared with WinHTTP's threads, which write to it while Exchange waits. It lives until they are
// done with it, which may be long after Exchange has returned.
struct ExchangeState {
  OwnedHandle done{CreateEventW(nullptr, FALSE, FALSE, nullptr)};
  std::atomic<bool> failed = false;
  std::atomic<DWORD> read = 0;  // bytes
  std::atomic<CertificateFault> certificate = CertificateFault::kNone;
  std::string body;  // of the request
  std::array<char, kReadBytes> buffer;
};
using ExchangeStatePointer = std::shared_ptr<ExchangeState>;

CertificateFault FaultOf(DWORD flags) {
  constexpr DWORD kNoFault = WINHTTP_CALLBACK_STATUS_FLAG_SECURITY_CHANNEL_ERROR;  // no TLS at all
  return (flags & WINHTTP_CALLBACK_STATUS_FLAG_CERT_CN_INVALID) != 0     ? CertificateFault::kName
         : (flags & WINHTTP_CALLBACK_STATUS_FLAG_CERT_DATE_INVALID) != 0 ? CertificateFault::kDate
         : (flags & ~kNoFault) != 0 ? CertificateFault::kUnknown
                                    : CertificateFault::kNone;
}

void CALLBACK OnStatus(HINTERNET, DWORD_PTR context, DWORD status, void* about, DWORD size) {
  auto* held = reinterpret_cast<ExchangeStatePointer*>(context);
  if (held == nullptr) {
    return;
  }
  ExchangeState& state = **held;
  switch (status) {
    case WINHTTP_CALLBACK_STATUS_READ_COMPLETE:
      state.read = size;
      SetEvent(state.done.get());
      break;
    case WINHTTP_CALLBACK_STATUS_SENDREQUEST_COMPLETE:
    case WINHTTP_CALLBACK_STATUS_HEADERS_AVAILABLE:
      SetEvent(state.done.get());
      break;
    case WINHTTP_CALLBACK_STATUS_SECURE_FAILURE:  // before the error
      state.certificate = FaultOf(*static_cast<const DWORD*>(about));
      break;
    case WINHTTP_CALLBACK_STATUS_REQUEST_ERROR:
      state.failed = true;
      SetEvent(state.done.get());
      break;
    case WINHTTP_CALLBACK_STATUS_HANDLE_CLOSING:
      delete held;
      break;
    default:
      break;
  }
}

const wchar_t* NameOf(Method method) {
  constexpr const wchar_t* kNames[] = {L"GET", L"POST", L"PUT", L"DELETE"};
  return kNames[static_cast<size_t>(method)];
}

struct Address {
  std::wstring host;
  std::wstring path;
  INTERNET_PORT port = 0;
  bool is_secure = false;
};

std::optional<Address> AddressOf(const std::string& url) {
  const std::wstring wide = Wide(url);
  URL_COMPONENTS parts{};
  parts.dwStructSize = sizeof parts;
  parts.dwHostNameLength = static_cast<DWORD>(-1);
  parts.dwUrlPathLength = static_cast<DWORD>(-1);
  if (!WinHttpCrackUrl(wide.c_str(), static_cast<DWORD>(wide.size()), 0, &parts)) {
    return std::nullopt;
  }
  // The path is a pointer into `wide`; the query follows it there.
  const std::wstring path = wide.substr(static_cast<size_t>(parts.lpszUrlPath - wide.data()));
  return Address{{parts.lpszHostName, parts.dwHostNameLength},
                 path.empty() ? L"/" : path,
                 parts.nPort,
                 parts.nScheme == INTERNET_SCHEME_HTTPS};
}

std::wstring HeadersOf(const Request& request) {
  std::wstring headers;
  if (!request.token.empty()) {
    headers += L"Authorization: Bearer " + Wide(request.token) + L"\r\n";
  }
  if (!request.content_type.empty()) {
    headers += L"Content-Type: " + Wide(request.content_type) + L"\r\n";
  }
  return headers;
}

// Returns a number from the response's headers; 0 if there is none.
DWORD HeaderNumber(HINTERNET handle, DWORD query) {
  DWORD number = 0;
  DWORD size = sizeof number;
  const BOOL found =
      WinHttpQueryHeaders(handle, query | WINHTTP_QUERY_FLAG_NUMBER, WINHTTP_HEADER_NAME_BY_INDEX,
                          &number, &size, WINHTTP_NO_HEADER_INDEX);
  return found ? number : 0;
}

void SetOption(HINTERNET handle, DWORD option, DWORD value) {
  WinHttpSetOption(handle, option, &value, sizeof value);  // an older Windows does not know some
}

void SetSessionOptions(HINTERNET session) {
  SetOption(session, WINHTTP_OPTION_REDIRECT_POLICY, WINHTTP_OPTION_REDIRECT_POLICY_NEVER);
  // Both kinds of addresses at once: on many networks IPv6 leads nowhere.
  SetOption(session, WINHTTP_OPTION_IPV6_FAST_FALLBACK, TRUE);
  // A poll is silent for minutes: so routers don't forget it, and a dead relay is noticed.
  tcp_keepalive keeping{TRUE, kKeepAliveMs, kKeepAliveAgainMs};
  WinHttpSetOption(session, kTcpKeepAlive, &keeping, sizeof keeping);
}

void SetRequestOptions(HINTERNET handle, const Request& request) {
  SetOption(handle, WINHTTP_OPTION_DISABLE_FEATURE, WINHTTP_DISABLE_COOKIES);
  // A relay is a stranger: never prove to it by NTLM who is logged on here.
  SetOption(handle, WINHTTP_OPTION_AUTOLOGON_POLICY, WINHTTP_AUTOLOGON_SECURITY_LEVEL_HIGH);
  const int timeout_ms = static_cast<int>(request.timeout_ms);
  const int connect_ms = ConnectMs(request);  // and as long to resolve the name
  WinHttpSetTimeouts(handle, connect_ms, connect_ms, timeout_ms, timeout_ms);
}

// The steps of one exchange. Each step waits until it completes, times out or is cancelled; it
// fails in the last two cases.
class Steps {
 public:
  Steps(HINTERNET handle, const ExchangeStatePointer& state, HANDLE cancelled, uint32_t timeout_ms)
      : handle_(handle),
        state_(state),
        cancelled_(cancelled),
        until_ms_(GetTickCount64() + timeout_ms) {}

  bool Send(const std::wstring& headers) {
    std::string& body = state_->body;
    const auto size = static_cast<DWORD>(body.size());
    return WinHttpSendRequest(handle_, headers.c_str(), static_cast<DWORD>(headers.size()),
                              body.data(), size, size, 0) &&
           WaitForStep() && WinHttpReceiveResponse(handle_, nullptr) && WaitForStep();
  }

  // Returns the body; nullopt if it breaks off or is longer than `bytes_max`.
  std::optional<std::string> Read(size_t bytes_max) {
    std::string body;
    for (;;) {
      state_->read = 0;
      if (!WinHttpReadData(handle_, state_->buffer.data(), kReadBytes, nullptr) || !WaitForStep()) {
        return std::nullopt;
      }
      const DWORD read = state_->read;
      if (read == 0) {
        return body;
      }
      if (!AddToBody({state_->buffer.data(), read}, bytes_max, &body)) {
        return std::nullopt;
      }
    }
  }

 private:
  bool WaitForStep() {
    const uint64_t now_ms = GetTickCount64();
    const HANDLE events[] = {state_->done.get(), cancelled_};
    const DWORD left_ms = now_ms < until_ms_ ? static_cast<DWORD>(until_ms_ - now_ms) : 0;
    return WaitForMultipleObjects(2, events, FALSE, left_ms) == WAIT_OBJECT_0 && !state_->failed;
  }

  HINTERNET handle_;
  ExchangeStatePointer state_;
  HANDLE cancelled_;
  uint64_t until_ms_;
};

}  // namespace

WinHttpTransport::WinHttpTransport() {
  session_.reset(WinHttpOpen(kAgent, WINHTTP_ACCESS_TYPE_AUTOMATIC_PROXY, WINHTTP_NO_PROXY_NAME,
                             WINHTTP_NO_PROXY_BYPASS, WINHTTP_FLAG_ASYNC));
  SetSessionOptions(session_.get());
  WinHttpSetStatusCallback(session_.get(), OnStatus, WINHTTP_CALLBACK_FLAG_ALL_NOTIFICATIONS, 0);
}

Response WinHttpTransport::Exchange(const Request& request) {
  const Response no_response{request.id, 0};
  const OwnedHandle cancelled(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  {
    const std::lock_guard lock(mutex_);
    if (cancelled_early_.erase(request.id) > 0) {
      return no_response;
    }
    in_progress_[request.id] = cancelled.get();
  }
  const auto forget = [this, &request](void*) {
    const std::lock_guard lock(mutex_);
    in_progress_.erase(request.id);
  };
  const std::unique_ptr<void, decltype(forget)> entry(this, forget);

  const auto address = AddressOf(request.url);
  if (!address) {
    return no_response;
  }
  const OwnedInternet host(WinHttpConnect(session_.get(), address->host.c_str(), address->port, 0));
  const OwnedInternet handle(
      host == nullptr
          ? nullptr
          : WinHttpOpenRequest(
                host.get(), NameOf(request.method), address->path.c_str(), nullptr,
                WINHTTP_NO_REFERER, WINHTTP_DEFAULT_ACCEPT_TYPES,
                (address->is_secure ? WINHTTP_FLAG_SECURE : 0) | WINHTTP_FLAG_ESCAPE_DISABLE));
  if (handle == nullptr) {
    return no_response;
  }
  const auto state = std::make_shared<ExchangeState>();
  state->body = request.body;
  auto* context = new ExchangeStatePointer(state);  // OnStatus deletes it when the handle is closed
  if (!WinHttpSetOption(handle.get(), WINHTTP_OPTION_CONTEXT_VALUE, &context, sizeof context)) {
    delete context;
    return no_response;
  }
  SetRequestOptions(handle.get(), request);

  Steps steps(handle.get(), state, cancelled.get(), request.timeout_ms);
  if (!steps.Send(HeadersOf(request))) {
    Response failed = no_response;
    failed.certificate = state->certificate;
    return failed;
  }
  auto body = steps.Read(request.response_bytes_max);
  if (!body) {
    return no_response;
  }
  Response response{request.id,
                    static_cast<int>(HeaderNumber(handle.get(), WINHTTP_QUERY_STATUS_CODE))};
  response.body = std::move(*body);
  response.retry_after_s = RetryAfterSeconds(HeaderNumber(handle.get(), WINHTTP_QUERY_RETRY_AFTER));
  return response;
}

void WinHttpTransport::Cancel(RequestId id) {
  const std::lock_guard lock(mutex_);
  const auto found = in_progress_.find(id);
  if (found == in_progress_.end()) {
    cancelled_early_.insert(id);
  } else {
    SetEvent(found->second);
  }
}

}  // namespace sprites
