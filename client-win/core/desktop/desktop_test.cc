#include "core/desktop/desktop.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/words/menus.h"
#include "test/core/test_desktop.h"

namespace sprites {
namespace {

// A neighbour who is not at any edge of this desktop.
const Json kMallory = {{"desktop", "9-Mallory"}, {"name", "Mallory"}};

std::string FileOf(uint8_t seed) { return ReadSheet(TestSpr(seed))->file; }

TEST_CASE(
    "desktop › uploads a file once before it throws, and loses the sprite once it is accepted") {
  TestDesktop fixture;
  const SpriteId id = fixture.DropInOwn();
  fixture.Join();
  fixture.desktop.sprites().ThrowTo(id, Edge::kRight);
  const Request upload = fixture.Pop("/v1/sprites/" + FileOf(0), Method::kPut);
  CHECK(upload.file == FileOf(0));
  CHECK(upload.lane == Lane::kFile);
  CHECK(!fixture.Has("/crossings", Method::kPost));
  CHECK(fixture.desktop.simulation().sprites().empty());
  fixture.Respond(upload, 201);
  const Request crossing = fixture.Pop("/crossings", Method::kPost);
  CHECK(Json::parse(crossing.body)["edge"] == "right");
  CHECK(fixture.desktop.traffic().on_the_way() == 1);
  fixture.Respond(crossing, 202, {{"to", nullptr}});
  CHECK(fixture.desktop.traffic().on_the_way() == 0);

  fixture.desktop.sprites().ThrowTo(fixture.desktop.sprites().DropIn(FileOf(0), Point{400, 560}),
                                    Edge::kLeft);
  fixture.Pop("/crossings", Method::kPost);
  CHECK(!fixture.Has("/v1/sprites/", Method::kPut));
}

TEST_CASE("desktop › lets a sprite bounce back when the relay refuses it, or its file") {
  for (const bool file_is_refused : {true, false}) {
    TestDesktop fixture;
    const SpriteId id = fixture.DropInOwn();
    fixture.Join();
    fixture.desktop.sprites().ThrowTo(id, Edge::kRight);
    const Request upload = fixture.Pop("/v1/sprites/" + FileOf(0), Method::kPut);
    const Json full = {{"code", "store-full"}, {"title", "No room."}};
    if (file_is_refused) {
      fixture.Respond(upload, 503, full);
    } else {
      fixture.Respond(upload, 204);
      fixture.Respond(fixture.Pop("/crossings", Method::kPost), 503, full);
    }
    REQUIRE(fixture.desktop.simulation().Find(id) != nullptr);
    CHECK(fixture.desktop.simulation().Find(id)->vx < 0);
    fixture.Pass(10);
    CHECK(fixture.toasts.back().text == "The relay has no room for new pictures.");
    CHECK(fixture.toasts.back().kind == ToastKind::kReturned);
  }
}

TEST_CASE("desktop › has edges that bounce while it is not connected") {
  TestDesktop fixture;
  const SpriteId id = fixture.DropInOwn();
  fixture.desktop.sprites().ThrowTo(id, Edge::kRight);
  fixture.Pass(2000);
  CHECK(fixture.desktop.simulation().Find(id) != nullptr);
  CHECK(fixture.desktop.traffic().on_the_way() == 0);
}

TEST_CASE("desktop › shows a parcel until the picture is here") {
  TestDesktop fixture;
  fixture.Join();
  fixture.Receive({Arriving(1, FileOf(3))});
  const Request fetch = fixture.Pop("/v1/sprites/" + FileOf(3), Method::kGet);
  CHECK(fetch.response_bytes_max == kSprBytesMax);
  CHECK(fetch.token.empty());
  CHECK(fixture.Pass(10).sprites[0].sheet == Parcel());
  fixture.desktop.HandleResponse({fetch.id, 200, "", 0, ReadSheet(TestSpr(3))});
  CHECK(fixture.Pass(10).sprites[0].sheet->file == FileOf(3));
  CHECK(fixture.desktop.simulation().sprites()[0].nature.width == 16);
  CHECK(fixture.toasts.back().title == "Guest has come");
}

TEST_CASE(
    "desktop › keeps the parcel when another file comes, and fetches again after reconnecting") {
  TestDesktop fixture;
  fixture.Join();
  fixture.Receive({Arriving(1, FileOf(3))});
  const Request fetch = fixture.Pop("/v1/sprites/" + FileOf(3), Method::kGet);
  fixture.desktop.HandleResponse({fetch.id, 200, "", 0, ReadSheet(TestSpr(4))});
  CHECK(fixture.Pass(1000).sprites[0].sheet == Parcel());
  CHECK(!fixture.Has("/v1/sprites/", Method::kGet));
  fixture.Respond(fixture.PopPoll(), 0);
  fixture.MeetNeighbours();
  fixture.Pop("/v1/sprites/" + FileOf(3), Method::kGet);
}

TEST_CASE("desktop › shows pictures as the settings say, and admits every sprite") {
  struct Case {
    Accept accept;
    const char* world;
    bool shown;
  };
  for (const Case& one :
       {Case{Accept::kEverybody, "commons", true}, Case{Accept::kFriends, "commons", false},
        Case{Accept::kFriends, "ours", true}, Case{Accept::kBundled, "ours", false}}) {
    Settings settings = TestDesktop::Given();
    settings.accept = one.accept;
    TestDesktop fixture(settings);
    fixture.Join("1-1", {{"world", one.world}});
    fixture.Receive({Arriving(1, FileOf(3))});
    fixture.Pass(100);
    CHECK(fixture.desktop.simulation().sprites().size() == 1);
    CHECK(fixture.Has("/v1/sprites/", Method::kGet) == one.shown);
  }
}

TEST_CASE("desktop › sprites look at the pointer and enjoy being stroked, and are drawn at once") {
  TestDesktop fixture(TestDesktop::Lively());
  const SpriteId id = fixture.DropInOwn();
  const auto mode = [&] { return fixture.desktop.simulation().Find(id)->mode; };
  for (int i = 0; i < 300 && mode() != Mode::kIdle; i++) {
    fixture.Pass(10);
  }
  const double x = fixture.desktop.simulation().Find(id)->x;
  fixture.desktop.sprites().MovePointer({x + 60, 520});
  CHECK(fixture.Pass(20).idle_ms == 0);
  CHECK(mode() == Mode::kLook);
  for (int i = 0; i < 40 && mode() != Mode::kPet; i++) {
    fixture.desktop.sprites().MovePointer({x + (i % 2 == 0 ? 3 : -3), 555});
    fixture.Pass(10);
  }
  CHECK(mode() == Mode::kPet);
}

TEST_CASE("desktop › has sprites that yawn in the evening, but not while it saves power") {
  for (const bool saves_power : {false, true}) {
    CAPTURE(saves_power);
    TestDesktop fixture(TestDesktop::Lively());
    fixture.desktop.sprites().SetClock({0, 22 * 3'600});
    fixture.desktop.look().SetSavingPower(saves_power);
    const SpriteId id = fixture.DropInOwn();
    bool has_yawned = false;
    for (int i = 0; i < 4000; i++) {
      fixture.Pass(10);
      has_yawned = has_yawned || fixture.desktop.simulation().Find(id)->mode == Mode::kYawn;
    }
    CHECK(has_yawned == !saves_power);
  }
}

TEST_CASE("desktop › saves what arrived before it acknowledges it to the relay") {
  TestDesktop fixture;
  fixture.Join();
  fixture.Receive({Arriving(1, FileOf(3))});
  fixture.requests.clear();
  fixture.saved.clear();
  fixture.desktop.Tick(fixture.now + 100);
  const Outbox outbox = fixture.desktop.PopOutbox();
  REQUIRE(std::ranges::any_of(outbox.requests, [](const Request& request) {
    return request.url.ends_with("?cursor=6a1f03c2-1");
  }));
  const Json saved = Json::parse(outbox.saved_state);
  CHECK(saved["sprites"][0]["file"] == FileOf(3));
  CHECK(saved["seq"] == 1);
  CHECK(saved["seat"]["cursor"] == "6a1f03c2-1");
}

TEST_CASE("desktop › admits no sprite twice") {
  TestDesktop fixture;
  fixture.Join();
  fixture.Receive({Arriving(1, FileOf(3)), Arriving(2, FileOf(3))});
  fixture.Receive({Arriving(2, FileOf(3)), Arriving(3, FileOf(3))});
  CHECK(fixture.desktop.simulation().sprites().size() == 3);
}

TEST_CASE("desktop › takes a removed picture off itself, and lets no sprite of it in any more") {
  Settings settings = TestDesktop::Given();
  settings.sprite_limit = 3;
  TestDesktop fixture(settings);
  fixture.DropInOwn();
  fixture.Join();
  const std::string removed = FileOf(3);
  fixture.Receive({Arriving(1, removed), Arriving(2, FileOf(4)), Arriving(3, removed)});
  CHECK(fixture.desktop.traffic().waiting() == 0);
  fixture.Receive({Arriving(4, removed), Arriving(5, removed)});
  CHECK(fixture.desktop.traffic().waiting() == 2);
  fixture.Receive({Arriving(6, removed),
                   {{"type", "removed"}, {"file", removed}},
                   {{"type", "removed"}, {"file", FileOf(0)}},
                   {{"type", "announcement"}, {"text", "Good night"}}});
  fixture.Pass(10);
  REQUIRE(fixture.desktop.simulation().sprites().size() == 1);
  CHECK(fixture.desktop.simulation().sprites()[0].file == FileOf(4));
  CHECK(fixture.desktop.traffic().waiting() == 0);
  CHECK(fixture.desktop.look().shelf().empty());
  CHECK(fixture.toasts.back().text == "Good night");
  const auto deletes = std::ranges::count_if(fixture.requests, [&](const Request& request) {
    return request.method == Method::kDelete && request.file == removed;
  });
  CHECK(deletes == 1);
  fixture.Receive({Arriving(7, removed)});
  fixture.Pass(100);
  CHECK(fixture.desktop.simulation().sprites().size() == 1);
  // The relay has passed the last batch on, of which nothing is here.
  fixture.Respond(fixture.PopPoll(), 410, {{"code", "desktop-ended"}});
  CHECK(fixture.desktop.simulation().sprites().size() == 1);
}

TEST_CASE("desktop › does not take back a throw whose picture was removed meanwhile") {
  TestDesktop fixture;
  const SpriteId id = fixture.DropInOwn();
  fixture.Join();
  fixture.desktop.sprites().ThrowTo(id, Edge::kRight);
  fixture.Respond(fixture.Pop("/v1/sprites/" + FileOf(0), Method::kPut), 204);
  const Request crossing = fixture.Pop("/crossings", Method::kPost);
  const Json removed = {{"type", "removed"}, {"file", FileOf(0)}};
  fixture.Receive({removed});
  fixture.Respond(crossing, 403, {{"code", "picture-refused"}});
  CHECK(fixture.desktop.simulation().sprites().empty());
  CHECK(fixture.desktop.traffic().on_the_way() == 0);
}

TEST_CASE("desktop › removes the last batch, and only it, when the relay has passed it on") {
  Settings settings = TestDesktop::Given();
  settings.sprite_limit = 3;
  TestDesktop fixture(settings);
  fixture.Join();
  fixture.Receive({Arriving(1, FileOf(3))});
  fixture.Receive({Arriving(2, FileOf(3)), Arriving(3, FileOf(3)), Arriving(4, FileOf(3))});
  CHECK(fixture.desktop.simulation().sprites().size() == 3);
  CHECK(fixture.desktop.traffic().waiting() == 1);
  const Request poll = fixture.PopPoll();
  fixture.Respond(poll, 410, {{"code", "desktop-ended"}});
  CHECK(fixture.desktop.simulation().sprites().size() == 1);
  CHECK(fixture.desktop.traffic().waiting() == 0);
  fixture.Join("2-2");
  fixture.Receive({Arriving(1, FileOf(3))});
  CHECK(fixture.desktop.simulation().sprites().size() == 2);
}

TEST_CASE("desktop › restores its sprites, departures and seat") {
  TestDesktop before;
  const SpriteId stays = before.DropInOwn();
  const SpriteId goes = before.DropInOwn();
  before.Join();
  before.Receive({Arriving(1, FileOf(3))});
  before.desktop.sprites().ThrowTo(goes, Edge::kRight);
  before.Respond(before.Pop("/v1/sprites/" + FileOf(0), Method::kPut), 201);
  const Request crossing = before.Pop("/crossings", Method::kPost);
  before.Pass(20);
  CHECK(before.desktop.simulation().Find(stays) != nullptr);

  TestDesktop after(TestDesktop::Given(), before.saved);
  CHECK(after.desktop.simulation().sprites().size() == 2);
  CHECK(after.desktop.traffic().on_the_way() == 1);
  after.MeetNeighbours();
  CHECK(after.Pop("/crossings", Method::kPost).body == crossing.body);
  after.Pop("/events?cursor=6a1f03c2-1", Method::kGet);

  Settings renamed = TestDesktop::Given();
  renamed.name = "Other";
  TestDesktop elsewhere(renamed, before.saved);
  CHECK(elsewhere.Pop("/v1/desktops", Method::kPost).method == Method::kPost);
  CHECK(elsewhere.desktop.simulation().sprites().size() == 2);
}

TEST_CASE("desktop › starts empty when the saved state is broken") {
  for (const std::string& saved :
       {std::string("{"), std::string("[1,2]"), std::string(kSavedBytesMax + 1, ' '),
        std::string(
            R"({"sprites":[1,{"file":"x"},{"file":7}],"leaving":{},"waiting":[null],"seat":9})")}) {
    TestDesktop fixture(TestDesktop::Given(), saved);
    CHECK(fixture.desktop.simulation().sprites().empty());
    fixture.Pop("/v1/desktops", Method::kPost);
  }
}

TEST_CASE("desktop › own sprites stay; guests without room wait, then polling stops") {
  Settings settings = TestDesktop::Given();
  settings.sprite_limit = 2;
  TestDesktop fixture(settings);
  fixture.DropInOwn();
  fixture.DropInOwn();
  CHECK(fixture.desktop.sprites().DropIn(FileOf(0), std::nullopt) == kNobody);
  fixture.Join();
  std::vector<Json> events;
  for (int i = 1; i <= 64; i++) {
    events.push_back(Arriving(i, FileOf(3)));
  }
  fixture.Receive(events);
  CHECK(fixture.desktop.simulation().sprites().size() == 4);
  CHECK(std::ranges::count_if(fixture.desktop.simulation().sprites(), &Sprite::from_shelf) == 2);
  CHECK(fixture.desktop.traffic().waiting() == 62);
  fixture.Receive({Arriving(65, FileOf(3)), Arriving(66, FileOf(3))});
  CHECK(fixture.desktop.traffic().waiting() == 64);
  CHECK(!fixture.Has("/events", Method::kGet));
  fixture.Pass(kGuestStayMs);  // the oldest guest has been seen, and goes on
  CHECK(Json::parse(fixture.Pop("/crossings", Method::kPost).body)["edge"] == "right");
}

TEST_CASE("desktop › guests take no room of one's own sprites") {
  Settings settings = TestDesktop::Given();
  settings.sprite_limit = 2;
  TestDesktop fixture(settings);
  fixture.Join();
  fixture.Receive({Arriving(1, FileOf(3)), Arriving(2, FileOf(3)), Arriving(3, FileOf(3))});
  CHECK(fixture.desktop.guests().size() == 2);
  CHECK(fixture.DropInOwn() != kNobody);
  CHECK(fixture.DropInOwn() != kNobody);
  CHECK(fixture.DropInOwn() == kNobody);
  CHECK(fixture.desktop.simulation().sprites().size() == 4);
}

TEST_CASE("desktop › the guests of a muted neighbour go on, also after a restart; others stay") {
  TestDesktop before;
  before.DropInOwn();
  before.Join();
  before.Receive({Arriving(1, FileOf(3), kMallory), Arriving(2, FileOf(3))});
  before.Pass(3'000);
  CHECK(before.desktop.guests().size() == 2);

  TestDesktop after(TestDesktop::Given(), before.saved);
  after.MeetNeighbours();
  CHECK(after.desktop.guests().size() == 2);
  // The same name is another desktop.
  after.desktop.Mute({"9-Other", "Mallory"}, true);
  after.Pass(3'000);
  CHECK(after.desktop.simulation().sprites().size() == 3);
  after.desktop.Mute({"9-Mallory", "Mallory"}, true);
  after.Pass(3'000);
  const Request crossing = after.Pop("/crossings", Method::kPost);
  CHECK(after.desktop.simulation().sprites().size() == 2);
  after.Respond(crossing, 202, {{"to", kBob}});
  CHECK(after.desktop.guests().size() == 1);
  after.desktop.guests().SendAllOn();
  after.Pass(3'000);
  after.Pop("/crossings", Method::kPost);
  REQUIRE(after.desktop.simulation().sprites().size() == 1);
  CHECK(after.desktop.simulation().sprites()[0].from_shelf);
}

TEST_CASE("desktop › forwards sprites of a muted neighbour, and admits those that are refused") {
  TestDesktop fixture;
  fixture.Join();
  fixture.desktop.Mute({"9-Mallory", "Mallory"}, true);
  fixture.Receive({Arriving(1, FileOf(3), kMallory), Arriving(2, FileOf(3))});
  CHECK(fixture.desktop.simulation().sprites().size() == 1);
  const Request crossing = fixture.Pop("/crossings", Method::kPost);
  CHECK(Json::parse(crossing.body)["edge"] == "right");
  CHECK(Json::parse(crossing.body)["vx"] == 300);
  fixture.Respond(crossing, 503, {{"code", "mailbox-full"}, {"title", "Full."}});
  CHECK(fixture.desktop.simulation().sprites().size() == 2);
}

TEST_CASE("desktop › limits the sprites that it forwards and those that wait") {
  Settings settings = TestDesktop::Given();
  settings.sprite_limit = 64;
  TestDesktop fixture(settings);
  fixture.Join();
  fixture.desktop.Mute({"9-Mallory", "Mallory"}, true);
  for (int round = 0; round < 4; round++) {
    std::vector<Json> events;
    for (int i = 1; i <= 64; i++) {
      events.push_back(Arriving(64 * round + i, FileOf(3), kMallory));
    }
    if (round < 2 || fixture.Has("/events", Method::kGet)) {
      fixture.Receive(events);
    }
    fixture.Pass(1000);
  }
  CHECK(fixture.desktop.traffic().on_the_way() == kCrossingsAhead);
  CHECK(fixture.desktop.simulation().sprites().size() == kGuestsOfOneMax);
  CHECK(fixture.desktop.traffic().waiting() == 2 * 64 - kCrossingsAhead - kGuestsOfOneMax);
  CHECK(!fixture.Has("/events", Method::kGet));
}

TEST_CASE("desktop › has edges that bounce while the limit of departures is reached") {
  for (const bool upload_is_answered : {true, false}) {
    CAPTURE(upload_is_answered);
    TestDesktop fixture;
    fixture.DropInOwn();
    fixture.Join();
    const size_t most = upload_is_answered ? kCrossingsAhead : kDeparturesMax;
    for (size_t i = 0; i <= most; i++) {
      CHECK(fixture.toasts.empty());
      const SpriteId id =
          i == 0 ? fixture.desktop.simulation().sprites()[0].id : fixture.DropInOwn();
      fixture.desktop.sprites().ThrowTo(id, Edge::kTop);
      fixture.Pass(1000);
      if (i == 0 && upload_is_answered) {
        fixture.Respond(fixture.Pop("/v1/sprites/" + FileOf(0), Method::kPut), 201);
      }
    }
    CHECK(fixture.desktop.simulation().sprites().size() == 1);
    REQUIRE(!fixture.toasts.empty());
    CHECK(fixture.toasts.back().text == "Too many are on the way.");
  }
}

TEST_CASE("desktop › lets refused forwarded sprites wait when it is full") {
  Settings settings = TestDesktop::Given();
  settings.sprite_limit = 2;
  TestDesktop fixture(settings);
  fixture.Join();
  fixture.desktop.Mute({"9-Mallory", "Mallory"}, true);
  std::vector<Json> events;
  for (int i = 1; i <= 10; i++) {
    events.push_back(Arriving(i, FileOf(3), kMallory));
  }
  fixture.Receive(events);
  for (int i = 0; i < 10; i++) {
    fixture.Respond(fixture.Pop("/crossings", Method::kPost), 503, {{"code", "mailbox-full"}});
  }
  CHECK(fixture.desktop.simulation().sprites().size() == 2);
  CHECK(fixture.desktop.traffic().waiting() == 8);
  fixture.Pass(10);
  CHECK(Json::parse(fixture.saved)["waiting"].size() == 8);
}

TEST_CASE("desktop › restores all waiting sprites, up to the limit") {
  Json saved = {{"waiting", Json::array()}};
  for (size_t i = 0; i < kWaitingMax; i++) {
    saved["waiting"].push_back({{"file", FileOf(3)}});
  }
  Settings settings = TestDesktop::Given();
  settings.sprite_limit = 1;
  CHECK(TestDesktop(settings, saved.dump()).desktop.traffic().waiting() == kWaitingMax);
}

TEST_CASE("desktop › does not believe a login page that responds 200 to everything") {
  TestDesktop fixture;
  const SpriteId id = fixture.DropInOwn();
  fixture.Join();
  fixture.desktop.sprites().ThrowTo(id, Edge::kRight);
  const Request upload = fixture.Pop("/v1/sprites/" + FileOf(0), Method::kPut);
  fixture.desktop.HandleResponse({upload.id, 200, "<html>Please log in</html>"});
  CHECK(fixture.desktop.simulation().Find(id) != nullptr);
}

TEST_CASE("desktop › leaves and joins again when its world changes") {
  TestDesktop fixture;
  fixture.Join();
  Settings settings = fixture.desktop.settings();
  settings.world = "ours";
  fixture.desktop.SetSettings(settings);
  CHECK(fixture.Pop("/v1/desktops/1-1", Method::kDelete).token == "1-1.00");
  CHECK(Json::parse(fixture.Pop("/v1/desktops", Method::kPost).body)["world"] == "ours");
}

TEST_CASE("desktop › tells the relay when it leaves, and saves its sprites without the seat") {
  TestDesktop fixture;
  fixture.DropInOwn();
  fixture.Join();
  const Request poll = fixture.PopPoll();
  fixture.desktop.Leave();
  fixture.Pass(10);
  const Request leave = fixture.Pop("/v1/desktops/1-1", Method::kDelete);
  CHECK(Json::parse(fixture.saved).contains("seat"));
  fixture.Respond(poll, 410, {{"code", "desktop-ended"}, {"cursor", "6a1f03c2-0"}});
  fixture.Respond(leave, 204);
  fixture.Pass(10);
  CHECK(fixture.desktop.HasLeft());
  const Json saved = Json::parse(fixture.saved);
  CHECK(saved["sprites"].size() == 1);
  CHECK(!saved.contains("seat"));
  CHECK(fixture.requests.empty());
}

TEST_CASE(
    "desktop › draws the frame around the hitbox, mirrored when it faces left, scaled as the "
    "person "
    "wants") {
  Settings settings = TestDesktop::Given();
  settings.scale = 1.5;
  TestDesktop fixture(settings);
  Json description = UsualDescription(8, 8);
  description["hitbox"] = {1, 2, 4, 5};
  description["scale"] = 4;
  const SheetPointer sheet = ReadSheet(TestSpr(8, 8, description));
  fixture.desktop.look().AddToShelf(sheet);
  const SpriteId id = fixture.desktop.sprites().DropIn(sheet->file, Point{400, 560});
  fixture.desktop.sprites().Select(id);
  const DrawnSprite right = fixture.Pass(10).sprites[0];
  CHECK(right.width == 48);
  CHECK(right.height == 48);
  CHECK(right.x == 400 - 18);
  CHECK(right.y + 42 == 560);
  CHECK(!right.mirrored);
  fixture.desktop.sprites().Press(Key::kLeft, true);
  const DrawnSprite left = fixture.Pass(10).sprites[0];
  CHECK(left.mirrored);
  CHECK(left.x == doctest::Approx(400 - 30).epsilon(0.02));
}

TEST_CASE("desktop › hides sprites behind a full-screen program, if the settings say so") {
  TestDesktop fixture;
  fixture.DropInOwn();
  const WindowArea game{1, {0, 0, 800, 600}, false, true};
  fixture.desktop.look().SetWindows(std::vector{game});
  CHECK(!fixture.Pass(10).sprites[0].visible);
  Settings settings = fixture.desktop.settings();
  settings.hide_in_full_screen = false;
  fixture.desktop.SetSettings(settings);
  CHECK(fixture.Pass(10).sprites[0].visible);
}

TEST_CASE("desktop › uses the primary monitor alone, if the settings say so") {
  Settings settings = TestDesktop::Given();
  settings.all_monitors = false;
  TestDesktop fixture(settings);
  const Rect one{0, 0, 800, 600};
  const Rect two{800, 0, 1600, 600};
  fixture.desktop.look().SetMonitors(
      std::vector<Monitor>{{two, two, 1, false}, {one, one, 1, true}});
  CHECK(fixture.desktop.simulation().screen().bounds() == one);
}

TEST_CASE("desktop › stands still while it is paused, and idles when nothing moves") {
  TestDesktop fixture;
  const SpriteId id = fixture.DropInOwn();
  fixture.Join();
  fixture.PopPoll();
  fixture.desktop.sprites().ThrowTo(id, Edge::kTop);
  CHECK(fixture.Pass(10).idle_ms == 0);
  fixture.desktop.Pause(true);
  const double y = fixture.desktop.simulation().Find(id)->y;
  CHECK(fixture.Pass(500).idle_ms == kIdleMsMax);
  CHECK(fixture.desktop.simulation().Find(id)->y == y);
}

TEST_CASE("desktop › a pause lasts until the person does something with a sprite") {
  TestDesktop fixture;
  const SpriteId id = fixture.DropInOwn();
  Crowd& sprites = fixture.desktop.sprites();
  const std::function<void()> acts[] = {[&] { fixture.DropInOwn(); },
                                        [&] {
                                          sprites.Grab(id, {400, 560}, 0);
                                        },
                                        [&] { sprites.SelectByKeys(id); },
                                        [&] { sprites.ThrowTo(id, Edge::kTop); }};
  for (const auto& act : acts) {
    fixture.desktop.Pause(true);
    CHECK(fixture.desktop.is_paused());
    act();
    CHECK(!fixture.desktop.is_paused());
  }
}

TEST_CASE("desktop › puts away its own sprites, never others") {
  TestDesktop fixture;
  const SpriteId own = fixture.DropInOwn();
  fixture.Join();
  fixture.Receive({Arriving(1, FileOf(3))});
  const SpriteId guest = fixture.desktop.simulation().sprites().back().id;
  CHECK(fixture.desktop.sprites().PutAway(own));
  CHECK(!fixture.desktop.sprites().PutAway(guest));
  CHECK(!fixture.desktop.sprites().PutAway(4711));
  CHECK(fixture.desktop.simulation().sprites().size() == 1);
}

TEST_CASE("desktop › limits the files that it fetches at once") {
  TestDesktop fixture;
  fixture.Join();
  int seq = 0;
  for (int round = 0; round < 3; round++) {
    std::vector<Json> events;
    for (int i = 0; i < 36; i++) {
      std::string file(64, '0');
      const std::string number = std::to_string(++seq);
      file.replace(0, number.size(), number);
      events.push_back(Arriving(seq, file, {{"desktop", "9-" + std::to_string(seq / 12)}}));
    }
    fixture.Receive(events);
    fixture.Pass(100);
    const auto fetching = std::ranges::count_if(
        fixture.requests, [](const Request& request) { return request.lane == Lane::kFile; });
    CHECK(fetching <= static_cast<long>(kFetchesMax));
  }
}

TEST_CASE("desktop › asks for no seat while it has no relay") {
  Desktop desktop(Settings{}, [] { return 0.5; });
  for (int64_t ms = 0; ms < 60'000; ms += 1000) {
    desktop.Tick(ms);
    CHECK(desktop.PopOutbox().requests.empty());
  }
}

TEST_CASE("desktop › makes a link that invites a friend, with the world unless it is commons") {
  TestDesktop fixture;
  CHECK(fixture.desktop.relay().InvitationLink().empty());
  fixture.Join();
  CHECK(fixture.desktop.relay().InvitationLink() ==
        "http://relay.example:8080/#near=1a2b.0123456789abcdef0123456789abcdef&world=garden");
  TestDesktop public_one;
  public_one.Join("1-1", {{"world", "commons"}});
  CHECK(public_one.desktop.relay().InvitationLink() ==
        "http://relay.example:8080/#near=1a2b.0123456789abcdef0123456789abcdef");
}

TEST_CASE("desktop › goes where a link leads, and falls back to the friend's world when it ends") {
  TestDesktop fixture;
  fixture.Join();
  fixture.desktop.Open({"http://other.example", "garden", "7.ff"});
  CHECK(fixture.desktop.settings().relay == "http://other.example");
  const Request join = fixture.Pop("http://other.example/v1/desktops", Method::kPost);
  CHECK(Json::parse(join.body)["world"] == "garden");
  CHECK(Json::parse(join.body)["near"] == "7.ff");
  fixture.Respond(join, 409, {{"code", "near-gone"}, {"title", "Gone."}});
  const Request again = fixture.Pop("http://other.example/v1/desktops", Method::kPost);
  CHECK(Json::parse(again.body)["world"] == "garden");
  CHECK(!Json::parse(again.body).contains("near"));
  CHECK(fixture.desktop.settings().beside.empty());
  CHECK(fixture.settings_saved);
  CHECK(fixture.toasts.back().title == "The invitation has ended");
}

TEST_CASE("desktop › remembers the private world that a bare invitation has led to") {
  TestDesktop fixture;
  fixture.Join();
  fixture.desktop.Open({"", "", "7.ff"});
  CHECK(fixture.desktop.settings().relay == kRelay);
  fixture.Join("5-1");
  fixture.Pass(10);
  // In the next life the friend is gone, and the world is still known.
  TestDesktop later(fixture.desktop.settings(), fixture.saved, false);
  const Request join = later.Pop("/v1/desktops", Method::kPost);
  later.Respond(join, 409, {{"code", "near-gone"}, {"title", "Gone."}});
  const Request again = later.Pop("/v1/desktops", Method::kPost);
  CHECK(Json::parse(again.body)["world"] == "garden");
  CHECK(later.desktop.settings().world == "garden");
  CHECK(later.settings_saved);
}

TEST_CASE("desktop › joins commons when an invitation without a world has ended") {
  TestDesktop fixture;
  fixture.desktop.Open({"", "", "7.ff"});
  const Request join = fixture.Pop("/v1/desktops", Method::kPost);
  fixture.Respond(join, 409, {{"code", "near-gone"}, {"title", "Gone."}});
  fixture.Join("1-1", {{"world", "commons"}});
  CHECK(fixture.desktop.settings().world.empty());
  CHECK(fixture.toasts.back().text.find("everybody") != std::string::npos);
}

TEST_CASE("desktop › tells once that the relay can't be reached, and again after it was reached") {
  TestDesktop fixture;
  const auto fail = [&] { fixture.Respond(fixture.Pop("", Method::kPost), 0); };
  fail();
  CHECK(!fixture.desktop.relay().IsUnreachable());
  for (int i = 0; i < 5; i++) {
    fail();
    fixture.Pass(10);
    CHECK(fixture.desktop.relay().IsUnreachable());
    CHECK(fixture.toasts.size() == 1);
  }
  CHECK(fixture.toasts[0].title == "Can't reach relay.example:8080, trying again");
  fixture.Join();
  CHECK(!fixture.desktop.relay().IsUnreachable());
}

TEST_CASE("desktop › says what is wrong with the certificate of a relay that it can't reach") {
  for (const auto& [fault, words] : std::vector<std::pair<CertificateFault, std::string>>{
           {CertificateFault::kDate, "clock"},
           {CertificateFault::kName, "not for this name"},
           {CertificateFault::kUnknown, "does not trust"}}) {
    TestDesktop fixture;
    for (int i = 0; i < kUnreachableFailures; i++) {
      Response response;
      response.id = fixture.Pop("", Method::kPost).id;
      response.certificate = fault;
      fixture.desktop.HandleResponse(response);
    }
    fixture.Pass(10);
    CHECK(StatusOf(fixture.desktop).find(words) != std::string::npos);
    REQUIRE(fixture.toasts.size() == 1);
    CHECK(fixture.toasts[0].text == StatusOf(fixture.desktop));
    fixture.Join();
    CHECK(StatusOf(fixture.desktop).find(words) == std::string::npos);
  }
}

TEST_CASE("desktop › tells once why the relay does not let it in, in the person's language") {
  Settings settings = TestDesktop::Given();
  settings.language = LanguageChoice::kGerman;
  TestDesktop fixture(settings);
  for (int i = 0; i < 4; i++) {
    fixture.Respond(fixture.Pop("/v1/desktops", Method::kPost), 403,
                    {{"code", "banned"}, {"title", "You are banned."}});
    fixture.Pass(5'000);
  }
  REQUIRE(fixture.toasts.size() == 1);
  CHECK(fixture.toasts[0].text == "Der Betreiber hat Ihre Adresse ausgesperrt.");
  CHECK(fixture.desktop.relay().refusal == "banned");
}

TEST_CASE("desktop › names no thrower in a report of a sprite that it threw itself") {
  TestDesktop fixture;
  fixture.Join();
  Json own = Arriving(1, FileOf(3));
  own["from"]["desktop"] = fixture.desktop.relay().seat()->desktop;
  fixture.Receive({own});
  fixture.Pass(20);
  CHECK(fixture.desktop.guests()
            .ReportOf(fixture.desktop.simulation().sprites().at(0))
            .desktop.empty());
}

TEST_CASE("desktop › knows who sent a sprite, and mutes and reports at the relay") {
  TestDesktop fixture;
  fixture.Join();
  const std::string file(64, 'b');
  fixture.Receive({Arriving(1, file, kBob)});
  fixture.Pass(20);
  const SpriteId id = fixture.desktop.simulation().sprites().at(0).id;
  REQUIRE(fixture.desktop.guests().SenderOf(id) != nullptr);
  CHECK(fixture.desktop.guests().SenderOf(id)->name == "Bob");
  CHECK(fixture.desktop.guests().SenderOf(id + 100) == nullptr);
  fixture.desktop.Mute(*fixture.desktop.guests().SenderOf(id), true);
  const Request mute = fixture.Pop("/v1/desktops/1-1/mutes", Method::kPost);
  CHECK(Json::parse(mute.body)["desktop"] == "9-3e");
  CHECK(fixture.settings_saved);
  PictureReport rude =
      fixture.desktop.guests().ReportOf(fixture.desktop.simulation().sprites().at(0));
  rude.reason = "Rude";
  fixture.desktop.guests().ReportPicture(rude);
  const Request report = fixture.Pop("/v1/reports", Method::kPost);
  CHECK(Json::parse(report.body) == Json{{"file", file}, {"reason", "Rude"}, {"desktop", "9-3e"}});
  fixture.Respond(report, 204);
  fixture.Pass(kToastMsMin);
  CHECK(fixture.toasts.back().title == "The picture is reported");
  fixture.desktop.guests().ReportPicture({file, "", ""});
  fixture.Respond(fixture.Pop("/v1/reports", Method::kPost), 429, {{"code", "too-fast"}});
  fixture.Pass(10);
  CHECK(fixture.toasts.back().title == "The report was not sent");
}

TEST_CASE(
    "desktop › is silent and hides its sprites while the person presents, unless told not to") {
  for (const bool is_quiet : {true, false}) {
    Settings settings = TestDesktop::Given();
    settings.quiet = is_quiet;
    TestDesktop fixture(settings);
    fixture.Join();
    fixture.DropInOwn();
    CHECK(fixture.Pass(10).sprites[0].visible);
    fixture.Pass(2'000);
    fixture.sounds.clear();
    fixture.desktop.SetPresence(Presence::kPresenting);
    fixture.desktop.ShowNotice(Text::kToastSharing, Text::kToastSharingText);
    fixture.desktop.sprites().ThrowTo(fixture.desktop.simulation().sprites()[0].id, Edge::kTop);
    CHECK(fixture.Pass(10).sprites[0].visible == !is_quiet);
    CHECK(fixture.desktop.IsQuiet() == is_quiet);
    CHECK(fixture.sounds.empty() == is_quiet);
    CHECK(fixture.toasts.empty() == is_quiet);
    fixture.desktop.SetPresence(Presence::kBusy);
    CHECK(fixture.Pass(10).sprites[0].visible);  // a game on another monitor
    CHECK(fixture.desktop.IsQuiet() == is_quiet);
    fixture.desktop.SetPresence(Presence::kFree);
    fixture.Pass(10);
    CHECK(!fixture.desktop.IsQuiet());
  }
}

TEST_CASE("desktop › asks once a day for a newer version, and at once when the person does") {
  TestDesktop fixture;
  fixture.Join();
  const auto answer = [&](const std::string& version, const std::string& bytes) {
    const std::string hash =
        Sha256Hex({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
    fixture.Respond(fixture.Pop("/client/latest.json", Method::kGet), 200,
                    {{"version", version}, {"sha256", hash}, {"size", bytes.size()}});
    return fixture.desktop.PopOutbox();
  };
  fixture.Pass(kUpdateFirstMs - 1'000);
  CHECK(!fixture.Has("/client/latest.json", Method::kGet));
  Outbox outbox = answer("0.0.1", "MZ");
  REQUIRE(outbox.update);
  CHECK((!outbox.update->was_asked && outbox.update->has_answer && !outbox.update->is_later));
  CHECK(!fixture.desktop.updates().newest());
  fixture.Pass(60'000);
  CHECK(!fixture.Has("/client/latest.json", Method::kGet));
  fixture.desktop.updates().Check();
  outbox = answer("9999.0.0", "MZ");
  REQUIRE(outbox.update);
  CHECK((outbox.update->was_asked && outbox.update->is_later));
  REQUIRE(fixture.desktop.updates().newest());
  // Only the announced bytes reach the shell.
  for (const std::string bytes : {"MZ", "MY", "MZZ", ""}) {
    CAPTURE(bytes);
    fixture.desktop.updates().Fetch();
    const Request download = fixture.Pop("/download/Sprites-Setup.exe", Method::kGet);
    CHECK(download.response_bytes_max == 2);
    fixture.desktop.HandleResponse({download.id, 200, bytes});
    outbox = fixture.desktop.PopOutbox();
    REQUIRE(outbox.installer);
    CHECK(*outbox.installer == (bytes == "MZ" ? bytes : ""));
  }
  fixture.desktop.updates().Check();
  fixture.Respond(fixture.Pop("/client/latest.json", Method::kGet), 404);
  outbox = fixture.desktop.PopOutbox();
  REQUIRE(outbox.update);
  CHECK(!outbox.update->has_answer);
  CHECK(!fixture.desktop.updates().newest());
}

TEST_CASE("desktop › ends its poll and asks again, once, a second after the network has changed") {
  TestDesktop fixture;
  fixture.Join();
  const Request poll = fixture.PopPoll();
  fixture.Pass(60'000);
  CHECK(!fixture.Has("/v1/desktops", Method::kGet));
  fixture.desktop.NetworkIsBack();
  fixture.desktop.NetworkIsBack();
  fixture.Pass(kNetworkMs - 10);
  CHECK(fixture.cancelled.empty());
  fixture.Pass(20);
  CHECK(fixture.cancelled == std::vector{poll.id});
  fixture.MeetNeighbours();
  const Request again = fixture.PopPoll();
  CHECK(again.url == poll.url);
  // What comes of the first poll is ignored: the second returns the same events.
  fixture.Respond(poll, 200, {{"cursor", "6a1f03c2-9"}, {"events", {Arriving(9, FileOf(3))}}});
  CHECK(fixture.desktop.simulation().sprites().empty());
  fixture.Pass(60'000);
  CHECK(fixture.cancelled.size() == 1);
}

TEST_CASE("desktop › asks again after the machine slept, also without a report of that") {
  TestDesktop fixture;
  fixture.Join();
  fixture.PopPoll();
  fixture.desktop.Tick(fixture.now += kSleptMs - 1);
  fixture.Pass(2 * kNetworkMs);
  CHECK(fixture.cancelled.empty());
  fixture.desktop.Tick(fixture.now += kSleptMs);
  fixture.Pass(2 * kNetworkMs);
  CHECK(fixture.cancelled.size() == 1);
}

TEST_CASE("desktop › says once why the relay does not let it in, until the reason changes") {
  TestDesktop fixture;
  for (const char* code : {"relay-full", "relay-full", "banned", "banned"}) {
    fixture.Respond(fixture.Pop("/v1/desktops", Method::kPost), 503,
                    {{"code", code}, {"title", code}});
    fixture.Pass(5'000);
  }
  CHECK(fixture.toasts.size() == 2);
  CHECK(fixture.toasts.back().text == "The operator has shut out your address.");
}

TEST_CASE("desktop › draws a hidden picture as a parcel, does not fetch it, and shows it again") {
  TestDesktop fixture;
  fixture.Join();
  fixture.Receive({Arriving(1, FileOf(3))});
  const Request fetch = fixture.Pop("/v1/sprites/" + FileOf(3), Method::kGet);
  fixture.desktop.HandleResponse({fetch.id, 200, "", 0, ReadSheet(TestSpr(3))});
  CHECK(fixture.Pass(10).sprites[0].sheet->file == FileOf(3));
  fixture.desktop.look().HidePicture(FileOf(3), true);
  fixture.desktop.look().HidePicture(FileOf(4), true);
  fixture.Pass(10);
  CHECK(fixture.settings_saved);
  CHECK(fixture.desktop.look().IsHidden(FileOf(3)));
  CHECK(fixture.Pass(10).sprites[0].sheet == Parcel());
  fixture.Receive({Arriving(2, FileOf(4))});
  fixture.Pass(1000);
  CHECK(!fixture.Has("/v1/sprites/" + FileOf(4), Method::kGet));

  // It stays hidden after a start, because it is one of the settings.
  TestDesktop after(ReadSettings(SettingsJson(fixture.desktop.settings())), fixture.saved, false);
  CHECK(after.desktop.look().IsHidden(FileOf(3)));
  after.Join();
  after.Pass(1000);
  CHECK(!after.Has("/v1/sprites/", Method::kGet));

  fixture.desktop.look().HidePicture(FileOf(3), false);
  CHECK(fixture.Pass(10).sprites[0].sheet->file == FileOf(3));
}

TEST_CASE("desktop › neither shows nor says anything while presenting, if the settings say so") {
  for (const bool is_quiet : {true, false}) {
    Settings settings = TestDesktop::Given();
    settings.quiet = is_quiet;
    TestDesktop fixture(settings);
    fixture.Join();
    fixture.Pass(10);
    fixture.desktop.SetPresence(Presence::kPresenting);
    fixture.toasts.clear();
    fixture.sounds.clear();
    fixture.Receive({Arriving(1, FileOf(3))});
    const Scene& scene = fixture.Pass(1000);
    REQUIRE(scene.sprites.size() == 1);
    CHECK(scene.sprites[0].visible != is_quiet);
    CHECK(fixture.toasts.empty() == is_quiet);
    CHECK(fixture.sounds.empty() == is_quiet);
    CHECK((scene.idle_ms >= kUnseenIdleMs || !is_quiet));
    fixture.desktop.SetPresence(Presence::kFree);
    CHECK(fixture.Pass(10).sprites[0].visible);
    CHECK(!fixture.desktop.IsQuiet());
  }
}

TEST_CASE("desktop › shows and says nothing while the person has hidden it, and all goes on") {
  Settings settings = TestDesktop::Given();
  settings.quiet = false;  // which is about presenting
  TestDesktop fixture(settings);
  fixture.Join();
  fixture.DropInOwn();
  fixture.Pass(2'000);
  fixture.toasts.clear();
  fixture.sounds.clear();
  fixture.desktop.Hide(true);
  fixture.Receive({Arriving(1, FileOf(3))});
  const Scene& scene = fixture.Pass(1'000);
  REQUIRE(scene.sprites.size() == 2);
  CHECK(std::ranges::none_of(scene.sprites, &DrawnSprite::visible));
  CHECK(scene.idle_ms >= kUnseenIdleMs);
  CHECK(fixture.toasts.empty());
  CHECK(fixture.sounds.empty());
  fixture.desktop.Hide(false);
  CHECK(std::ranges::all_of(fixture.Pass(10).sprites, &DrawnSprite::visible));
}

TEST_CASE("desktop › is quiet while a program covers any monitor") {
  TestDesktop fixture;
  const WindowArea game{1, {0, 0, 800, 600}, false, true};
  fixture.desktop.look().SetWindows(std::vector{game});
  CHECK(fixture.desktop.IsQuiet());
  fixture.Join();
  fixture.Receive({Arriving(1, FileOf(3))});
  fixture.Pass(100);
  CHECK(fixture.toasts.empty());
  CHECK(fixture.sounds.empty());
}

TEST_CASE("desktop › makes a sound when a sprite falls, not when it hops, nor while it is hidden") {
  TestDesktop fixture;
  const SpriteId id = fixture.DropInOwn();
  fixture.Pass(1000);
  fixture.sounds.clear();
  fixture.desktop.sprites().Select(id);
  fixture.desktop.sprites().Press(Key::kSpace, true);
  fixture.desktop.sprites().Press(Key::kSpace, false);
  bool has_risen = false;
  for (int i = 0; i < 200; i++) {
    fixture.Pass(10);
    has_risen = has_risen || fixture.desktop.simulation().Find(id)->y < 550;
  }
  CHECK(has_risen);
  CHECK(fixture.sounds.empty());

  const auto drop = [&] {
    fixture.desktop.sprites().DropIn(FileOf(0), Point{100, 100});
    fixture.Pass(2000);
  };
  drop();
  REQUIRE(fixture.sounds.size() == 1);
  CHECK(fixture.sounds[0] == Sound::kLand);
  fixture.sounds.clear();
  Settings settings = fixture.desktop.settings();
  settings.quiet = false;
  fixture.desktop.SetSettings(settings);
  fixture.desktop.look().SetWindows(std::vector{WindowArea{1, {0, 0, 800, 600}, false, true}});
  drop();
  CHECK(fixture.sounds.empty());
}

TEST_CASE("desktop › saves power: half of the frames, and no sprite wanders") {
  TestDesktop fixture(TestDesktop::Lively());
  const SpriteId id = fixture.DropInOwn();
  fixture.desktop.look().SetSavingPower(true);
  const Scene& scene = fixture.Pass(30'000);
  CHECK(scene.saves_power);
  CHECK(fixture.desktop.simulation().Find(id)->x == 400);
  fixture.desktop.look().SetSavingPower(false);
  CHECK(!fixture.Pass(10).saves_power);
}

TEST_CASE("desktop › does not ask for newer versions by itself when the shell does not show them") {
  TestDesktop fixture;
  fixture.desktop.updates().SetAsks(false);
  fixture.Join();
  fixture.Pass(kUpdateFirstMs + 1'000);
  CHECK(!fixture.Has("/client/latest.json", Method::kGet));
  fixture.desktop.updates().Check();
  fixture.Pass(1'000);
  CHECK(fixture.Has("/client/latest.json", Method::kGet));
}

TEST_CASE("desktop › with reduced motion no sprite wanders, and all frames are drawn") {
  TestDesktop fixture(TestDesktop::Lively());
  const SpriteId id = fixture.DropInOwn();
  fixture.desktop.look().SetReducedMotion(true);
  fixture.desktop.SetSettings(fixture.desktop.settings());
  const Scene& scene = fixture.Pass(30'000);
  CHECK(!scene.saves_power);
  CHECK(fixture.desktop.simulation().Find(id)->x == 400);
}

TEST_CASE("desktop › draws whole pixels at any scale of the monitor, if the settings say so") {
  struct Case {
    double monitor_scale;
    bool whole;
    int width;
  };
  // The frame is 8 px wide at scale 4.
  for (const Case& one : {Case{1, true, 32}, Case{1.25, true, 40}, Case{1.1, true, 32},
                          Case{1.15, true, 40}, Case{1.1, false, 35}, Case{0.5, true, 16}}) {
    CAPTURE(one.monitor_scale);
    Settings settings = TestDesktop::Given();
    settings.whole_pixels = one.whole;
    TestDesktop fixture(settings);
    const Rect all{0, 0, 800, 600};
    fixture.desktop.look().SetMonitors(std::vector<Monitor>{{all, all, one.monitor_scale, true}});
    Json description = UsualDescription(8, 8);
    description["scale"] = 4;
    const SheetPointer sheet = ReadSheet(TestSpr(8, 8, description));
    fixture.desktop.look().AddToShelf(sheet);
    fixture.desktop.sprites().DropIn(sheet->file, Point{400, 560});
    const Scene& scene = fixture.Pass(10);
    CHECK(scene.sprites[0].width == one.width);
    const Nature& nature = fixture.desktop.simulation().sprites()[0].nature;
    CHECK(std::abs(nature.width * one.monitor_scale - one.width) < 1);
  }
}

TEST_CASE("desktop › mutes a neighbour at the relay, and reports a picture there") {
  TestDesktop fixture;
  fixture.desktop.guests().ReportPicture({FileOf(3), "", "rude"});
  fixture.Pass(10);
  CHECK(fixture.toasts.back().title == "The report was not sent");
  fixture.Join();
  fixture.desktop.Mute({"9-3e", "Bob"}, true);
  const Request mute = fixture.Pop("/mutes", Method::kPost);
  CHECK(Json::parse(mute.body)["desktop"] == "9-3e");
  fixture.Respond(mute, 204);
  fixture.Pass(kToastMsMin);
  fixture.desktop.guests().ReportPicture({FileOf(3), "", "rude"});
  const Request report = fixture.Pop("/v1/reports", Method::kPost);
  CHECK(Json::parse(report.body) == Json{{"file", FileOf(3)}, {"reason", "rude"}});
  fixture.Respond(report, 204);
  fixture.Pass(10);
  CHECK(fixture.toasts.back().title == "The picture is reported");
}

TEST_CASE("desktop › says whose a guest is, and who has caught a sprite, for some seconds") {
  TestDesktop fixture;
  const SpriteId id = fixture.DropInOwn();
  fixture.Join();
  fixture.Receive({Arriving(1, FileOf(3))});
  const Scene& scene = fixture.Pass(10);
  REQUIRE(scene.bubbles.size() == 1);
  CHECK(scene.bubbles[0].text == "Guest, from Bob");
  CHECK(scene.bubbles[0].post.sprite.has_value());
  CHECK(fixture.Pass(kRemarkMs).bubbles.empty());
  fixture.desktop.sprites().ThrowTo(id, Edge::kRight);
  fixture.Respond(fixture.Pop("/v1/sprites/" + FileOf(0), Method::kPut), 204);
  fixture.Respond(fixture.Pop("/crossings", Method::kPost), 202, {{"to", kBob}});
  const Scene& after = fixture.Pass(10);
  REQUIRE(after.bubbles.size() == 1);
  CHECK(after.bubbles[0].text == "Test is with Bob now.");
  CHECK(after.bubbles[0].post.edge == Edge::kRight);
}

TEST_CASE(
    "desktop › announces a friend who was invited, once, by the sprite nearest to that edge") {
  TestDesktop fixture;
  fixture.desktop.sprites().DropIn(FileOf(0), Point{100, 560});
  const SpriteId near = fixture.desktop.sprites().DropIn(FileOf(0), Point{700, 560});
  fixture.Join();
  fixture.Pass(2'000);
  const auto meet = [&](const char* id) {
    const Json ada = {{"desktop", id}, {"name", "Ada"}};
    fixture.Receive(
        {{{"type", "neighbours"}, {"left", ada}, {"right", ada}, {"top", ada}, {"bottom", ada}}});
    return fixture.Pass(10).bubbles.size();
  };
  CHECK(meet("9-1") == 0);  // nobody was invited
  fixture.desktop.ExpectFriend();
  CHECK(meet("9-1") == 0);
  CHECK(meet("9-2") == 1);
  CHECK(fixture.Pass(10).bubbles[0].text == "Ada is next door now!");
  CHECK(fixture.desktop.simulation().Find(near)->facing == Facing::kRight);
  fixture.Pass(kRemarkMs);
  CHECK(meet("9-3") == 0);
}

TEST_CASE(
    "desktop › one peers in when there has been no sprite for a minute, and comes on a grab") {
  TestDesktop fixture;
  const SpriteId id = fixture.DropInOwn();
  fixture.Pass(1'000);
  fixture.desktop.sprites().PutAway(id);
  CHECK(fixture.Pass(kEmptyMs - 100).sprites.empty());
  const Scene& scene = fixture.Pass(200);
  REQUIRE(scene.sprites.size() == 1);
  CHECK(scene.sprites[0].id == kPeer);
  CHECK(scene.sprites[0].x + scene.sprites[0].Shown().width <= 800);
  fixture.desktop.sprites().Grab(kPeer, {795, 550}, 0);
  fixture.desktop.sprites().Release(10);
  fixture.Pass(100);
  REQUIRE(fixture.desktop.simulation().sprites().size() == 1);
  CHECK(fixture.desktop.simulation().sprites()[0].from_shelf);
  CHECK(!fixture.desktop.sprites().peers());
}

TEST_CASE("desktop › while clicks go through sprites, none is steered, and none asks for a click") {
  TestDesktop fixture;
  const SpriteId id = fixture.DropInOwn();
  CHECK(fixture.Pass(10).takes_clicks);
  fixture.desktop.sprites().Select(id);
  Settings settings = fixture.desktop.settings();
  settings.click_through = true;
  fixture.desktop.SetSettings(settings);
  CHECK(fixture.desktop.sprites().selected() == kNobody);
  CHECK(!fixture.Pass(10).takes_clicks);
  fixture.desktop.sprites().PutAway(id);
  CHECK(fixture.Pass(kEmptyMs + 100).sprites.empty());
  settings.click_through = false;
  fixture.desktop.SetSettings(settings);
  CHECK(fixture.Pass(100).takes_clicks);
  CHECK(fixture.desktop.sprites().peers());
}

}  // namespace
}  // namespace sprites
