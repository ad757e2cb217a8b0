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

constexpr char kOther[] = "http://other.example";

// The person goes to another relay, which grants a seat there.
void GoToOther(TestDesktop* fixture) {
  Settings settings = TestDesktop::Given();
  settings.relay = kOther;
  fixture->desktop.SetSettings(settings);
  fixture->Respond(fixture->Pop("/v1/desktops/1-1", Method::kDelete), 204);
  const std::string base = std::string(kOther) + "/v1/desktops/2-2";
  fixture->Join("2-2", {{"events", base + "/events"}, {"crossings", base + "/crossings"}});
}

TEST_CASE("desktop › a late answer of the relay before says nothing about versions") {
  TestDesktop fixture;
  fixture.Join();
  fixture.desktop.updates().Check();
  const Request late = fixture.Pop("/client/latest.json", Method::kGet);
  GoToOther(&fixture);
  fixture.Respond(late, 200,
                  {{"version", "9999.0.0"}, {"sha256", std::string(64, 'a')}, {"size", 2}});
  CHECK(!fixture.desktop.PopOutbox().update);
  CHECK(!fixture.desktop.updates().newest());
  // What the person wanted to know is asked of this relay.
  const Request now = fixture.Pop("/client/latest.json", Method::kGet);
  CHECK(now.url.starts_with(kOther));
  fixture.Respond(now, 404);
  const auto news = fixture.desktop.PopOutbox().update;
  REQUIRE(news);
  CHECK(news->was_asked);
}

TEST_CASE("desktop › a download from the relay before has failed, and its late end means nothing") {
  TestDesktop fixture;
  fixture.Join();
  fixture.desktop.updates().Check();
  fixture.Respond(fixture.Pop("/client/latest.json", Method::kGet), 200,
                  {{"version", "9999.0.0"}, {"sha256", std::string(64, 'a')}, {"size", 2}});
  fixture.desktop.updates().Fetch();
  const Request late = fixture.Pop("/download/Sprites-Setup.exe", Method::kGet);
  Settings settings = TestDesktop::Given();
  settings.relay = kOther;
  fixture.desktop.SetSettings(settings);
  CHECK(fixture.desktop.PopOutbox().installer == "");
  fixture.Respond(late, 404);
  CHECK(!fixture.desktop.PopOutbox().installer);
  CHECK(!fixture.desktop.updates().newest());
}

TEST_CASE("desktop › a late answer of the relay before says nothing about files at this one") {
  TestDesktop fixture;
  const SpriteId id = fixture.DropInOwn();
  fixture.Join();
  fixture.desktop.sprites().ThrowTo(id, Edge::kRight);
  const Request late = fixture.Pop("/v1/sprites/" + fixture.sheet->file, Method::kPut);
  GoToOther(&fixture);
  REQUIRE(fixture.desktop.simulation().sprites().size() == 1);
  fixture.desktop.sprites().ThrowTo(fixture.desktop.simulation().sprites()[0].id, Edge::kRight);
  const Request upload = fixture.Pop("/v1/sprites/" + fixture.sheet->file, Method::kPut);
  CHECK(upload.url.starts_with(kOther));
  fixture.Respond(late, 201);
  fixture.Pass(100);
  CHECK(!fixture.Has("/crossings", Method::kPost));
  fixture.Respond(upload, 201);
  CHECK(fixture.Pop("/crossings", Method::kPost).url.starts_with(kOther));
}

TEST_CASE("desktop › asks each relay for pictures, whatever the one before says late") {
  TestDesktop fixture;
  fixture.Join();
  const SheetPointer picture = ReadSheet(TestSpr(3));
  fixture.Receive({Arriving(1, picture->file)});
  const Request late = fixture.Pop("/v1/sprites/" + picture->file, Method::kGet);
  fixture.PopPoll();
  fixture.Pass(10);
  Settings settings = TestDesktop::Given();
  settings.world = "ours";
  fixture.desktop.SetSettings(settings);
  const Request left = fixture.Pop("/v1/desktops/1-1", Method::kDelete);
  fixture.Respond(left, 410, {{"code", "desktop-ended"}, {"cursor", fixture.Cursor()}});
  fixture.Join("2-2");
  const Request fetch = fixture.Pop("/v1/sprites/" + picture->file, Method::kGet);
  fixture.Respond(late, 404);
  fixture.desktop.HandleResponse({fetch.id, 200, "", 0, picture});
  CHECK(fixture.desktop.look().HasSheet(picture->file));
}

TEST_CASE("desktop › a late answer to what was said at the relay before means nothing") {
  TestDesktop fixture;
  fixture.Join();
  fixture.desktop.talk().Speak("Hello");
  const Request late = fixture.Pop("/sayings", Method::kPost);
  GoToOther(&fixture);
  fixture.Respond(late, 202, {{"heard", 4}});
  CHECK(fixture.desktop.talk().speech().accepted == 0);
  CHECK(fixture.desktop.talk().speech().IsRefused());
}

}  // namespace
}  // namespace sprites
