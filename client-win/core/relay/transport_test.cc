#include "core/relay/transport.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>

#include "core/picture/png.h"
#include "test/core/test_spr.h"

namespace sprites {
namespace {

// Returns the responses that it was given.
class FakeTransport : public Transport {
 public:
  Response Exchange(const Request& request) override {
    begun_.insert(request.id);
    return responses_[request.id];
  }
  void Cancel(RequestId) override {}
  void Give(const Response& response) { responses_[response.id] = response; }
  bool HasBegun(RequestId id) const { return begun_.contains(id); }

 private:
  std::map<RequestId, Response> responses_;
  std::set<RequestId> begun_;
};

struct TransportFixture {
  TransportFixture()
      : folder(std::filesystem::temp_directory_path() /
               ("sprites-" + std::to_string(std::random_device{}()))),
        cache(folder, kCacheBytesDefault) {}
  ~TransportFixture() { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
  FileCache cache;
  FakeTransport transport;
};

Request RequestForFile(RequestId id) {
  Request request;
  request.id = id;
  request.lane = Lane::kFile;
  return request;
}

TEST_CASE("transport › a wait that is asked for: below the limit, the limit, above it") {
  for (const int asked : {kRetryAfterSecondsMax - 1, kRetryAfterSecondsMax}) {
    CHECK(RetryAfterSeconds(asked) == asked);
  }
  CHECK(RetryAfterSeconds(kRetryAfterSecondsMax + 1) == kRetryAfterSecondsMax);
  CHECK(RetryAfterSeconds(INT64_MAX) == kRetryAfterSecondsMax);
  CHECK(RetryAfterSeconds(1) == 1);
  CHECK(RetryAfterSeconds(0) == 0);
  CHECK(RetryAfterSeconds(-1) == 0);
}

TEST_CASE("transport › time to connect: below the limit, the limit, above it") {
  Request request;
  for (const int timeout_ms : {kConnectMsMax - 1, kConnectMsMax}) {
    request.timeout_ms = static_cast<uint32_t>(timeout_ms);
    CHECK(ConnectMs(request) == timeout_ms);
  }
  for (const uint32_t timeout_ms : {uint32_t{kConnectMsMax} + 1, UINT32_MAX}) {
    request.timeout_ms = timeout_ms;
    CHECK(ConnectMs(request) == kConnectMsMax);
  }
}

TEST_CASE("transport › bytes of a body: one less than its limit, the limit; more is rejected") {
  for (const size_t more : {5, 6, 7}) {
    std::string body(4, 'a');
    CHECK(AddToBody(std::string(more, 'b'), 10, &body) == (more <= 6));
    CHECK(body.size() == (more <= 6 ? 4 + more : 4));
  }
  std::string body = "too long";
  CHECK(!AddToBody("b", 0, &body));
}

TEST_CASE("perform › returns a file from the cache, or stores it there after checking its hash") {
  TransportFixture fixture;
  const Bytes bytes = TestSpr();
  Request request = RequestForFile(1);
  request.file = Sha256Hex(bytes);
  fixture.transport.Give({1, 200, std::string(AsText(bytes))});
  const Response fetched = Perform(request, fixture.transport, fixture.cache);
  REQUIRE(fetched.sheet);
  CHECK(fetched.sheet->file == request.file);
  CHECK(fetched.body.empty());
  request.id = 2;  // the transport has no response for it
  const Response cached = Perform(request, fixture.transport, fixture.cache);
  CHECK(cached.id == 2);
  REQUIRE(cached.sheet);
  CHECK(!fixture.transport.HasBegun(2));
}

TEST_CASE(
    "perform › stores a file as an own one when the request says so, received before or not") {
  for (const bool was_received : {false, true}) {
    TransportFixture fixture;
    const Bytes bytes = TestSpr();
    Request request = RequestForFile(1);
    request.file = Sha256Hex(bytes);
    fixture.transport.Give({1, 200, std::string(AsText(bytes))});
    if (was_received) {
      CHECK(Perform(request, fixture.transport, fixture.cache).sheet);
    }
    CHECK(fixture.cache.Own().empty());
    request.keeps_file = true;
    CHECK(Perform(request, fixture.transport, fixture.cache).sheet);
    CHECK(fixture.cache.Own() == std::vector<std::string>{request.file});
  }
}

TEST_CASE("perform › stores neither another file than the wanted one nor a broken one") {
  TransportFixture fixture;
  Request request = RequestForFile(1);
  request.file = Sha256Hex(TestSpr(1));
  fixture.transport.Give({1, 200, std::string(AsText(TestSpr(2)))});
  CHECK(!Perform(request, fixture.transport, fixture.cache).sheet);
  request.id = 2;
  fixture.transport.Give({2, 200, "nonsense"});
  CHECK(!Perform(request, fixture.transport, fixture.cache).sheet);
  CHECK(!fixture.cache.Find(request.file));
}

TEST_CASE("perform › uploads from the cache, and returns 404 when the file is not there") {
  TransportFixture fixture;
  const SheetPointer sheet = StoreOwn(&fixture.cache, TestSpr());
  Request request = RequestForFile(1);
  request.method = Method::kPut;
  request.file = sheet->file;
  fixture.transport.Give({1, 201});
  CHECK(Perform(request, fixture.transport, fixture.cache).status == 201);
  request.id = 2;
  request.file = std::string(64, '0');
  CHECK(Perform(request, fixture.transport, fixture.cache).status == 404);
}

}  // namespace
}  // namespace sprites
