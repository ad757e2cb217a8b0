#include "posix/curl_transport.h"

#include <openssl/x509_vfy.h>

#include <memory>
#include <string>

#include "core/desktop/version.h"

namespace sprites {

namespace {

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

const char* NameOf(Method method) {
  constexpr const char* kNames[] = {"GET", "POST", "PUT", "DELETE"};
  return kNames[static_cast<size_t>(method)];
}

// What is wrong with the certificate that libcurl has refused.
CertificateFault FaultOf(CURL* curl) {
  long result = 0;
  curl_easy_getinfo(curl, CURLINFO_SSL_VERIFYRESULT, &result);
  switch (result) {
    case X509_V_OK:  // it is trusted, so it is its name
      return CertificateFault::kName;
    case X509_V_ERR_CERT_NOT_YET_VALID:
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return CertificateFault::kDate;
    default:
      return CertificateFault::kUnknown;
  }
}

}  // namespace

struct CurlTransport::Exchanged {
  CurlTransport* transport;
  const Request* request;
  std::string body;
};

CurlTransport::CurlTransport() { curl_global_init(CURL_GLOBAL_DEFAULT); }

CurlTransport::~CurlTransport() {
  for (CURL* handle : idle_) {
    curl_easy_cleanup(handle);
  }
  curl_global_cleanup();
}

Response CurlTransport::Exchange(const Request& request) {
  CURL* curl = AcquireHandle();
  if (curl == nullptr) {
    return {request.id, 0};
  }
  Exchanged exchanged{this, &request, {}};
  std::unique_ptr<curl_slist, FreeList> headers;
  const auto add = [&](const std::string& line) {
    headers.reset(curl_slist_append(headers.release(), line.c_str()));
  };
  add("Expect:");
  if (!request.token.empty()) {
    add("Authorization: Bearer " + request.token);
  }
  if (!request.content_type.empty()) {
    add("Content-Type: " + request.content_type);
  }
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_USERAGENT,
                   "Sprites/" SPRITES_VERSION " (Linux)");  // the relay counts by it
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, NameOf(request.method));
  if (request.method == Method::kPost || request.method == Method::kPut) {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
  }
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(ConnectMs(request)));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout_ms));
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &OnBytes);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &exchanged);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &OnProgress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &exchanged);

  Response response{request.id, 0};
  const CURLcode code = curl_easy_perform(curl);
  if (code == CURLE_PEER_FAILED_VERIFICATION) {
    response.certificate = FaultOf(curl);
  } else if (code == CURLE_OK) {
    long status = 0;
    curl_off_t retry_after = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &retry_after);
    response.status = static_cast<int>(status);
    response.retry_after_s = RetryAfterSeconds(retry_after);
    response.body = std::move(exchanged.body);
  }
  ReleaseHandle(curl, request.id);
  return response;
}

void CurlTransport::Cancel(RequestId id) {
  const std::lock_guard lock(mutex_);
  cancelled_.insert(id);
}

size_t CurlTransport::OnBytes(char* bytes, size_t size, size_t count, void* exchanged) {
  auto* own = static_cast<Exchanged*>(exchanged);
  const size_t more = size * count;
  const size_t bytes_max = own->request->response_bytes_max;
  return AddToBody({bytes, more}, bytes_max, &own->body) ? more : 0;  // 0 aborts the exchange
}

int CurlTransport::OnProgress(void* exchanged, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto* own = static_cast<Exchanged*>(exchanged);
  return own->transport->IsCancelled(own->request->id) ? 1 : 0;
}

bool CurlTransport::IsCancelled(RequestId id) {
  const std::lock_guard lock(mutex_);
  return cancelled_.contains(id);
}

CURL* CurlTransport::AcquireHandle() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      CURL* handle = idle_.back();
      idle_.pop_back();
      return handle;
    }
  }
  return curl_easy_init();
}

void CurlTransport::ReleaseHandle(CURL* handle, RequestId id) {
  curl_easy_reset(handle);  // keeps its connections
  const std::lock_guard lock(mutex_);
  cancelled_.erase(id);
  idle_.push_back(handle);
}

}  // namespace sprites
