// A desktop whose relay stops for good; the rules are tested in core/relay/poller_test.cc.
#include <doctest/doctest.h>

#include <string>

#include "test/core/test_desktop.h"

namespace sprites {
namespace {

TEST_CASE("desktop › moves to the relay that is named, and its settings stay") {
  TestDesktop fixture;
  fixture.Join();
  const std::string there = "http://r2.example";
  const Json bye = {{"type", "bye"}, {"retryAfterMs", 3000}, {"join", there + "/v1/desktops"}};
  fixture.Receive({bye});
  const Request join = fixture.Pop("/v1/desktops", Method::kPost);
  CHECK(join.url == there + "/v1/desktops");
  const std::string base = there + "/v1/desktops/1-1";
  fixture.Respond(join, 201,
                  {{"desktop", "1-1"},
                   {"token", "1-1.00"},
                   {"world", "garden"},
                   {"cursor", fixture.Cursor()},
                   {"invitation", "1a2b.00112233445566778899aabbccddeeff"},
                   {"events", base + "/events"},
                   {"crossings", base + "/crossings"}});
  fixture.MeetNeighbours();
  CHECK(fixture.desktop.relay().link() == Link::kConnected);
  CHECK(fixture.desktop.settings().relay == TestDesktop::Given().relay);
  CHECK(fixture.desktop.relay().InvitationLink().starts_with(there + "/#near="));
  fixture.Pass(10'000);

  TestDesktop again(TestDesktop::Given(), fixture.saved);
  CHECK(again.desktop.relay().seat());
  CHECK(again.Pop("/v1/desktops/1-1", Method::kGet).url == base);
}

}  // namespace
}  // namespace sprites
