#include "core/relay/carrier.h"

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>

#include "core/picture/png.h"
#include "test/core/test_spr.h"

namespace sprites {
namespace {

// Returns each response when it is given, or at once when the request is cancelled.
class SlowTransport : public Transport {
 public:
  Response Exchange(const Request& request) override {
    std::unique_lock lock(mutex_);
    begun_.insert(request.id);
    changed_.notify_all();
    changed_.wait(lock, [&] { return responses_.contains(request.id); });
    return responses_[request.id];
  }
  void Cancel(RequestId id) override { Give({id, 0}); }
  void Give(const Response& response) {
    const std::lock_guard lock(mutex_);
    responses_.try_emplace(response.id, response);
    changed_.notify_all();
  }
  void AwaitBegun(RequestId id) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_.contains(id); });
  }
  bool HasBegun(RequestId id) {
    const std::lock_guard lock(mutex_);
    return begun_.contains(id);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<RequestId, Response> responses_;
  std::set<RequestId> begun_;
};

struct CarrierFixture {
  CarrierFixture()
      : folder(std::filesystem::temp_directory_path() /
               ("sprites-" + std::to_string(std::random_device{}()))),
        cache(folder, kCacheBytesDefault) {}
  ~CarrierFixture() { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
  FileCache cache;
  SlowTransport transport;
};

Request Asking(RequestId id, Lane lane) {
  Request request;
  request.id = id;
  request.lane = lane;
  return request;
}

// Waits for `count` responses.
std::vector<Response> Await(Carrier* carrier, size_t count) {
  std::vector<Response> responses;
  while (responses.size() < count) {
    for (Response& response : carrier->PopResponses()) {
      responses.push_back(std::move(response));
    }
    std::this_thread::yield();
  }
  return responses;
}

TEST_CASE("carrier › a held poll blocks nothing else") {
  CarrierFixture fixture;
  Carrier carrier(&fixture.transport, &fixture.cache, [] {});
  carrier.Send(Asking(1, Lane::kPoll));
  carrier.Send(Asking(2, Lane::kShort));
  fixture.transport.AwaitBegun(1);
  fixture.transport.Give({2, 202});
  CHECK(Await(&carrier, 1)[0].id == 2);
  fixture.transport.Give({1, 200});
  CHECK(Await(&carrier, 1)[0].status == 200);
}

TEST_CASE("carrier › responds to cancelled requests, begun or not") {
  CarrierFixture fixture;
  Carrier carrier(&fixture.transport, &fixture.cache, [] {});
  for (RequestId id = 1; id <= 3; id++) {
    carrier.Send(Asking(id, Lane::kPoll));
  }
  fixture.transport.AwaitBegun(1);
  fixture.transport.AwaitBegun(2);
  carrier.Cancel(3);
  carrier.Cancel(1);
  std::set<RequestId> answered;
  for (const Response& response : Await(&carrier, 2)) {
    CHECK(response.status == 0);
    answered.insert(response.id);
  }
  CHECK(answered == std::set<RequestId>{1, 3});
  CHECK(!fixture.transport.HasBegun(3));
}

TEST_CASE("carrier › can be destroyed while polls are held") {
  CarrierFixture fixture;
  Carrier carrier(&fixture.transport, &fixture.cache, [] {});
  carrier.Send(Asking(1, Lane::kPoll));
  carrier.Send(Asking(2, Lane::kFile));
  fixture.transport.AwaitBegun(1);
}

}  // namespace
}  // namespace sprites
