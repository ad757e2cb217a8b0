#include "core/relay/transport.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "core/picture/png.h"

namespace sprites {

namespace {

constexpr int kNoContent = 204;
constexpr int kNotFound = 404;

Response SendFile(Request request, Transport& transport, FileCache& cache) {
  const auto bytes = cache.Find(request.file);
  if (!bytes) {
    return {request.id, kNotFound};
  }
  request.body.assign(AsText(*bytes));
  return transport.Exchange(request);
}

Response ReceiveFile(const Request& request, Transport& transport, FileCache& cache) {
  if (const auto bytes = cache.Find(request.file)) {
    return {request.id, 200, "", 0,
            request.keeps_file ? StoreOwn(&cache, *bytes) : ReadSheet(*bytes)};
  }
  Response response = transport.Exchange(request);
  if (response.status == 200) {
    const std::string body = std::exchange(response.body, "");
    const SheetPointer sheet = ReadSheet(AsBytes(body));
    if (sheet->file == request.file) {
      cache.Store(request.file, AsBytes(body),
                  request.keeps_file ? Origin::kOwn : Origin::kReceived);
      response.sheet = sheet;
    }
  }
  return response;
}

}  // namespace

int ConnectMs(const Request& request) {
  return static_cast<int>(std::min<uint32_t>(request.timeout_ms, kConnectMsMax));
}

int RetryAfterSeconds(int64_t asked_s) {
  return static_cast<int>(std::clamp<int64_t>(asked_s, 0, kRetryAfterSecondsMax));
}

bool AddToBody(std::string_view received, size_t bytes_max, std::string* body) {
  const bool fits = received.size() <= bytes_max && body->size() <= bytes_max - received.size();
  if (fits) {
    body->append(received);
  }
  return fits;
}

Response Perform(const Request& request, Transport& transport, FileCache& cache) {
  try {
    if (request.file.empty()) {
      return transport.Exchange(request);
    }
    if (request.method == Method::kDelete) {
      cache.RemoveReceived(request.file);
      return {request.id, kNoContent};
    }
    return request.method == Method::kPut ? SendFile(request, transport, cache)
                                          : ReceiveFile(request, transport, cache);
  } catch (const std::exception&) {
    // The file is not a .spr, or there is no memory for it. The sprite stays a parcel.
    return {request.id, 0};
  }
}

}  // namespace sprites
