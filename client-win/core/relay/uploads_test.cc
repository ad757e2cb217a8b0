#include "core/relay/uploads.h"

#include <doctest/doctest.h>

#include <string>

#include "core/relay/crossings/departures.h"
#include "test/core/test_relay.h"

namespace sprites {
namespace {

Departure UploadOf(const std::string& file = kFile) {
  Departure departure;
  departure.sprite.file = file;
  return departure;
}

struct UploadsFixture {
  std::optional<Request> Add(const Departure& departure) {
    return uploads.Add(departure, "http://relay.example", "1-1.00");
  }

  Uploads uploads;
};

TEST_CASE("uploads › send a file once for all departures that wait for it") {
  UploadsFixture fixture;
  const auto request = fixture.Add(UploadOf());
  REQUIRE(request);
  CHECK(request->method == Method::kPut);
  CHECK(request->url == "http://relay.example/v1/sprites/" + kFile);
  CHECK(request->token == "1-1.00");
  CHECK(!fixture.Add(UploadOf()));
  CHECK(fixture.Add(UploadOf(std::string(64, 'b'))));
  CHECK(fixture.uploads.Waiting().size() == 3);
  CHECK(!fixture.uploads.IsAtRelay(kFile));
  const auto result = fixture.uploads.HandleResponse(kFile, {request->id, 201});
  CHECK(result.is_at_relay);
  CHECK(result.departures.size() == 2);
  CHECK(fixture.uploads.IsAtRelay(kFile));
  CHECK(fixture.uploads.Waiting().size() == 1);
}

TEST_CASE("uploads › say why a file was refused") {
  UploadsFixture fixture;
  const auto request = fixture.Add(UploadOf());
  const auto result = fixture.uploads.HandleResponse(
      kFile, {request->id, 503, R"({"code":"store-full","title":"Full."})"});
  CHECK(!result.is_at_relay);
  CHECK(result.problem.title == "Full.");
  CHECK(!fixture.uploads.IsAtRelay(kFile));
}

TEST_CASE("uploads › return nothing once no departure waits") {
  UploadsFixture fixture;
  const auto request = fixture.Add(UploadOf());
  CHECK(fixture.uploads.PopWaiting().size() == 1);
  CHECK(fixture.uploads.HandleResponse(kFile, {request->id, 204}).departures.empty());
  CHECK(fixture.uploads.IsAtRelay(kFile));
  fixture.uploads.ForgetFilesAtRelay();
  CHECK(!fixture.uploads.IsAtRelay(kFile));
}

TEST_CASE("uploads › are full for a file that as many wait for as may") {
  UploadsFixture fixture;
  for (size_t i = 0; i < kDeparturesMax; i++) {
    CHECK(!fixture.uploads.IsFull(kFile));
    fixture.Add(UploadOf());
  }
  CHECK(fixture.uploads.IsFull(kFile));
}

TEST_CASE("uploads › files at the relay: one less than the limit, the limit, one more") {
  for (const size_t count : {kFilesAtRelayMax - 1, kFilesAtRelayMax, kFilesAtRelayMax + 1}) {
    Uploads uploads;
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
      uploads.MarkAtRelay(std::to_string(i));
    }
    for (size_t i = 0; i < count; i++) {
      known += uploads.IsAtRelay(std::to_string(i)) ? 1 : 0;
    }
    CAPTURE(count);
    CHECK(uploads.IsAtRelay(std::to_string(count - 1)));
    CHECK((known == count) == (count <= kFilesAtRelayMax));
    CHECK(known <= kFilesAtRelayMax);
  }
}

}  // namespace
}  // namespace sprites
