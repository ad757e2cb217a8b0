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
#include "core/picture/test_spr.h"

namespace sprites {
namespace {

// Answers when it is told to, and at once when it is cancelled.
class SlowTransport : public Transport {
 public:
  Answer Exchange(const Request& request) override {
    std::unique_lock lock(mutex_);
    begun_.insert(request.id);
    changed_.notify_all();
    changed_.wait(lock, [&] { return answers_.contains(request.id); });
    return answers_[request.id];
  }
  void Cancel(RequestId id) override { Give({id, 0}); }
  void Give(const Answer& answer) {
    const std::lock_guard lock(mutex_);
    answers_.try_emplace(answer.id, answer);
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
  std::map<RequestId, Answer> answers_;
  std::set<RequestId> begun_;
};

struct Fixture {
  Fixture()
      : folder(std::filesystem::temp_directory_path() /
               ("sprites-" + std::to_string(std::random_device{}()))),
        cache(folder, kCacheBytesDefault) {}
  ~Fixture() { std::filesystem::remove_all(folder); }

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

// Waits for so many answers.
std::vector<Answer> Await(Carrier* carrier, size_t count) {
  std::vector<Answer> answers;
  while (answers.size() < count) {
    for (Answer& answer : carrier->TakeAnswers()) {
      answers.push_back(std::move(answer));
    }
    std::this_thread::yield();
  }
  return answers;
}

TEST_CASE("carrier › a held poll blocks nothing else") {
  Fixture fixture;
  Carrier carrier(&fixture.transport, &fixture.cache, [] {});
  carrier.Send(Asking(1, Lane::kPoll));
  carrier.Send(Asking(2, Lane::kShort));
  fixture.transport.AwaitBegun(1);
  fixture.transport.Give({2, 202});
  CHECK(Await(&carrier, 1)[0].id == 2);
  CHECK(!carrier.IsIdle());
  fixture.transport.Give({1, 200});
  CHECK(Await(&carrier, 1)[0].status == 200);
}

TEST_CASE("carrier › answers what is cancelled, begun or not") {
  Fixture fixture;
  Carrier carrier(&fixture.transport, &fixture.cache, [] {});
  for (RequestId id = 1; id <= 3; id++) {
    carrier.Send(Asking(id, Lane::kPoll));
  }
  fixture.transport.AwaitBegun(1);
  fixture.transport.AwaitBegun(2);
  carrier.Cancel(3);
  carrier.Cancel(1);
  std::set<RequestId> answered;
  for (const Answer& answer : Await(&carrier, 2)) {
    CHECK(answer.status == 0);
    answered.insert(answer.id);
  }
  CHECK(answered == std::set<RequestId>{1, 3});
  CHECK(!fixture.transport.HasBegun(3));
}

TEST_CASE("carrier › ends while polls are held") {
  Fixture fixture;
  Carrier carrier(&fixture.transport, &fixture.cache, [] {});
  carrier.Send(Asking(1, Lane::kPoll));
  carrier.Send(Asking(2, Lane::kFile));
  fixture.transport.AwaitBegun(1);
}

TEST_CASE("carrying › takes a file from the cache, or brings it there once it is the right one") {
  Fixture fixture;
  const Bytes bytes = TestSpr();
  Request request = Asking(1, Lane::kFile);
  request.file = Sha256Hex(bytes);
  fixture.transport.Give({1, 200, std::string(AsText(bytes))});
  const Answer fetched = Carry(request, fixture.transport, fixture.cache);
  REQUIRE(fetched.sheet);
  CHECK(fetched.sheet->file == request.file);
  CHECK(fetched.body.empty());
  request.id = 2;  // nobody answers this one
  const Answer cached = Carry(request, fixture.transport, fixture.cache);
  CHECK(cached.id == 2);
  REQUIRE(cached.sheet);
  CHECK(!fixture.transport.HasBegun(2));
}

TEST_CASE("carrying › keeps no file that is another one, or none") {
  Fixture fixture;
  Request request = Asking(1, Lane::kFile);
  request.file = Sha256Hex(TestSpr(1));
  fixture.transport.Give({1, 200, std::string(AsText(TestSpr(2)))});
  CHECK(!Carry(request, fixture.transport, fixture.cache).sheet);
  request.id = 2;
  fixture.transport.Give({2, 200, "nonsense"});
  CHECK(!Carry(request, fixture.transport, fixture.cache).sheet);
  CHECK(!fixture.cache.Find(request.file));
}

TEST_CASE("carrying › uploads from the cache, and says 404 when the file is gone") {
  Fixture fixture;
  const SheetPointer sheet = KeepOwn(&fixture.cache, TestSpr());
  Request request = Asking(1, Lane::kFile);
  request.method = Method::kPut;
  request.file = sheet->file;
  fixture.transport.Give({1, 201});
  CHECK(Carry(request, fixture.transport, fixture.cache).status == 201);
  request.id = 2;
  request.file = std::string(64, '0');
  CHECK(Carry(request, fixture.transport, fixture.cache).status == 404);
}

}  // namespace
}  // namespace sprites
