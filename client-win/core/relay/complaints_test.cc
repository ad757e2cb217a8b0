#include "core/relay/complaints.h"

#include <doctest/doctest.h>

#include "core/text/json.h"

namespace sprites {
namespace {

constexpr char kRelay[] = "http://relay.example:8080";
const Seat kSeat{.desktop = "1a2b-3f", .token = "1a2b-3f.00"};

TEST_CASE("complaints › mute and unmute a neighbour by its id") {
  const Request mute = MuteRequest(kRelay, kSeat, "9-3e", true, 1);
  CHECK(mute.method == Method::kPost);
  CHECK(mute.url == "http://relay.example:8080/v1/desktops/1a2b-3f/mutes");
  CHECK(mute.token == kSeat.token);
  CHECK(Json::parse(mute.body) == Json({{"desktop", "9-3e"}}));
  const Request unmute = MuteRequest(kRelay, kSeat, "9/../3e", false, 2);
  CHECK(unmute.method == Method::kDelete);
  CHECK(unmute.url == "http://relay.example:8080/v1/desktops/1a2b-3f/mutes/9%2F..%2F3e");
  CHECK(unmute.body.empty());
}

TEST_CASE("complaints › report a picture, with a reason within the relay's limit or none") {
  const std::string file(64, 'a');
  const auto body = [&](const std::string& reason) {
    return Json::parse(ReportRequest(kRelay, kSeat, file, reason, 1).body);
  };
  CHECK(body("") == Json({{"file", file}}));
  CHECK(body("\n\u200b") == Json({{"file", file}}));
  CHECK(body("It is\n rude") == Json({{"file", file}, {"reason", "It is rude"}}));
  CHECK(body(std::string(kReasonBytesMax - 1, 'x'))["reason"].get<std::string>().size() == 199);
  CHECK(body(std::string(kReasonBytesMax, 'x'))["reason"].get<std::string>().size() == 200);
  CHECK(body(std::string(kReasonBytesMax + 1, 'x'))["reason"].get<std::string>().size() == 200);
  CHECK(ReportRequest(kRelay, kSeat, file, "", 1).token == kSeat.token);
}

}  // namespace
}  // namespace sprites
