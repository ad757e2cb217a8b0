#include "core/relay/transport.h"

#include <exception>
#include <utility>

#include "core/picture/png.h"

namespace sprites {

namespace {

constexpr int kGone = 404;

Response SendFile(Request request, Transport& transport, FileCache& cache) {
  const auto bytes = cache.Find(request.file);
  if (!bytes) {
    return {request.id, kGone};
  }
  request.body.assign(AsText(*bytes));
  return transport.Exchange(request);
}

Response ReceiveFile(const Request& request, Transport& transport, FileCache& cache) {
  if (const auto bytes = cache.Find(request.file)) {
    return {request.id, 200, "", 0, ReadSheet(*bytes)};
  }
  Response response = transport.Exchange(request);
  if (response.status == 200) {
    const std::string body = std::exchange(response.body, "");
    const SheetPointer sheet = ReadSheet(AsBytes(body));
    if (sheet->file == request.file) {
      cache.Keep(request.file, AsBytes(body), Origin::kReceived);
      response.sheet = sheet;
    }
  }
  return response;
}

}  // namespace

Response Perform(const Request& request, Transport& transport, FileCache& cache) {
  try {
    if (request.file.empty()) {
      return transport.Exchange(request);
    }
    return request.method == Method::kPut ? SendFile(request, transport, cache)
                                          : ReceiveFile(request, transport, cache);
  } catch (const std::exception&) {
    // A file that is none, or no memory for it: the sprite keeps its parcel.
    return {request.id, 0};
  }
}

}  // namespace sprites
