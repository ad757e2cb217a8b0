#include <doctest/doctest.h>

#include "test/core/test_desktop.h"

namespace sprites {
namespace {

const Json kCarol = {{"desktop", "9-40"}, {"name", "Carol"}};

Json Saying(const Json& from, const std::string& text, const char* edge = "") {
  Json saying = {{"type", "saying"}, {"from", from}, {"text", text}};
  if (*edge != 0) {
    saying["edge"] = edge;
  }
  return saying;
}

// A desktop whose person talks.
struct TalkingDesktop : TestDesktop {
  explicit TalkingDesktop(const std::string& saved = "") : TestDesktop(Given(), saved) {}

  Request PopSaying() { return Pop("/sayings", Method::kPost); }
  SpriteId DropIn(double x) { return desktop.sprites().DropIn(sheet->file, Point{x, 560}); }
  Json Sprite(const Json& from) { return Arriving(++sprite_seq, sheet->file, from); }

  int sprite_seq = 0;
};

TEST_CASE(
    "sayings of a desktop › one is said once, and its line is free again when it is accepted") {
  TalkingDesktop talk;
  talk.Join();
  talk.desktop.talk().Speak("  Whose cat is that? ");
  CHECK(talk.desktop.talk().speech().is_pending);
  CHECK(talk.desktop.talk().speech().unsaid == "Whose cat is that?");
  const Request request = talk.PopSaying();
  CHECK(Json::parse(request.body)["text"] == "Whose cat is that?");
  CHECK(Json::parse(talk.saved_before_request)["saying"]["text"] == "Whose cat is that?");
  talk.desktop.talk().Speak("Another");  // one at a time
  talk.Pass(100);
  CHECK(!talk.Find("/sayings", Method::kPost));
  talk.Respond(request, 202, {{"heard", 3}});
  CHECK(!talk.desktop.talk().speech().is_pending);
  CHECK(talk.desktop.talk().speech().unsaid == "");
  CHECK(talk.desktop.talk().speech().accepted == 1);
  CHECK(talk.desktop.talk().speech().note == "3 heard you.");
  CHECK(talk.desktop.talk().conversation().bubbles().empty());  // that comes with the event
}

TEST_CASE("reactions › are said at once or not at all, and leave the line alone") {
  TalkingDesktop talk;
  talk.desktop.talk().React(0);  // without a connection
  talk.Join();
  CHECK(!talk.Find("/sayings", Method::kPost));
  talk.desktop.talk().React(1);
  const Request heart = talk.PopSaying();
  CHECK(Json::parse(heart.body)["text"] == "💜");
  talk.desktop.talk().React(0);  // one at a time
  CHECK(!talk.desktop.talk().speech().is_pending);
  talk.desktop.talk().Speak("Hello");  // the line waits for the person
  CHECK(talk.desktop.talk().speech().unsaid == "Hello");
  CHECK(talk.desktop.talk().speech().IsRefused());
  talk.Respond(heart, 202, {{"heard", 1}});
  talk.desktop.talk().React(0);  // too soon
  CHECK(talk.desktop.talk().speech().unsaid == "Hello");
  CHECK(talk.desktop.talk().speech().accepted == 0);
  talk.Pass(rules::kReactionGapMs);
  CHECK(!talk.Find("/sayings", Method::kPost));
  talk.desktop.talk().React(0);
  talk.Respond(talk.PopSaying(), 403, {{"code", "sayings-off"}});
  talk.Pass(10);
  REQUIRE(!talk.toasts.empty());
  CHECK(talk.toasts.back().title == "Nobody heard that");
}

TEST_CASE("reactions › the speaker's sprite waves for a wave, and hops for the others") {
  TalkingDesktop talk;
  talk.desktop.SetSettings(TestDesktop::Lively());
  talk.Join();
  const SpriteId own = talk.DropIn(400);
  talk.Pass(1'000);
  talk.Receive({Saying(kMe, "👋")});
  talk.Pass(10);
  CHECK(talk.desktop.simulation().Find(own)->mode == Mode::kWave);
  talk.Pass(3'000);
  talk.Receive({Saying(kMe, "😂")});
  talk.Pass(10);
  CHECK(talk.desktop.simulation().Find(own)->mode == Mode::kFall);
  const auto& bubbles = talk.desktop.talk().conversation().bubbles();
  REQUIRE(bubbles.size() == 2);
  CHECK(bubbles.back().saying.text == "😂");
}

TEST_CASE("sayings of a desktop › tell how many hear them") {
  const std::pair<Json, std::string> cases[] = {{0, "Nobody is here to hear you."},
                                                {1, "1 heard you."},
                                                {2, "2 heard you."},
                                                {nullptr, "Said."}};
  TalkingDesktop talk;
  talk.Join();
  for (const auto& [heard, note] : cases) {
    talk.desktop.talk().Speak("Hello");
    talk.Respond(talk.PopSaying(), 202, {{"heard", heard}});
    CHECK(talk.desktop.talk().speech().note == note);
  }
}

TEST_CASE(
    "sayings of a desktop › the note about an accepted line goes when the person types again") {
  TalkingDesktop talk;
  talk.Join();
  talk.desktop.talk().Speak("Hello");
  talk.Respond(talk.PopSaying(), 202, {{"heard", 1}});
  CHECK(!talk.desktop.talk().speech().IsRefused());
  talk.desktop.talk().ClearNote();
  CHECK(talk.desktop.talk().speech().note == "");
  talk.desktop.talk().Speak(std::string(kSayingBytesMax + 1, 'x'));
  CHECK(talk.desktop.talk().speech().IsRefused());
  talk.desktop.talk().ClearNote();
  CHECK(talk.desktop.talk().speech().note != "");
}

TEST_CASE("sayings of a desktop › a refused line stays, with the reason in plain words") {
  const std::pair<int, const char*> codes[] = {
      {429, "too-fast"}, {403, "sayings-off"},  {400, "malformed"}, {503, "relay-busy"},
      {503, "draining"}, {409, "saying-stale"}, {403, "banned"}};
  TalkingDesktop talk;
  talk.Join();
  for (const auto& [status, code] : codes) {
    talk.desktop.talk().Speak("Hello");
    CHECK(talk.desktop.talk().speech().note == "");
    talk.Respond(talk.PopSaying(), status, {{"code", code}, {"title", "Title of the relay"}});
    const char* named = code;  // clang captures no structured bindings
    CAPTURE(named);
    CHECK(!talk.desktop.talk().speech().is_pending);
    CHECK(talk.desktop.talk().speech().unsaid == "Hello");
    CHECK(talk.desktop.talk().speech().note.ends_with("."));
    CHECK(talk.desktop.talk().speech().note != "Title of the relay");
  }
  CHECK(talk.desktop.talk().speech().accepted == 0);
}

TEST_CASE("sayings of a desktop › need a text within its limit and a connection") {
  TalkingDesktop talk;
  talk.desktop.talk().Speak("Hello");
  CHECK(talk.desktop.talk().speech().note == "Not connected.");
  talk.Join();
  talk.desktop.talk().Speak(" \n ");
  CHECK(!talk.desktop.talk().speech().is_pending);
  talk.desktop.talk().Speak(std::string(kSayingBytesMax + 1, 'x'));
  CHECK(!talk.desktop.talk().speech().is_pending);
  CHECK(talk.desktop.talk().speech().note.starts_with("Too long."));
  talk.desktop.talk().Speak(std::string(kSayingBytesMax, 'x'));
  CHECK(talk.desktop.talk().speech().is_pending);
}

TEST_CASE("sayings of a desktop › are repeated under their number after a restart with the seat") {
  TalkingDesktop before;
  before.Join();
  before.desktop.talk().Speak("Hello");
  CHECK(Json::parse(before.PopSaying().body)["saying"] == 1);
  TalkingDesktop after(before.saved);
  CHECK(after.desktop.talk().speech().is_pending);
  after.MeetNeighbours();
  const Request repeat = after.PopSaying();
  CHECK(Json::parse(repeat.body)["saying"] == 1);
  after.Respond(repeat, 202, {{"heard", nullptr}});
  after.desktop.talk().Speak("Again");
  CHECK(Json::parse(after.PopSaying().body)["saying"] == 2);
}

TEST_CASE("sayings of a desktop › one without an answer is not said in another seat") {
  TalkingDesktop talk;
  talk.Join();
  talk.desktop.talk().Speak("Hello");
  const Request request = talk.PopSaying();
  talk.EndSeat();
  CHECK(!talk.desktop.talk().speech().is_pending);
  CHECK(talk.desktop.talk().speech().note.starts_with("The connection was lost"));
  CHECK(talk.desktop.talk().speech().unsaid == "Hello");
  talk.Join();
  talk.Pass(1'000);
  CHECK(!talk.Find("/sayings", Method::kPost));
  talk.Respond(request, 202, {{"heard", 1}});
  CHECK(talk.desktop.talk().speech().accepted == 0);
}

TEST_CASE("bubbles of a desktop › are at the speaker's newest sprite, else at the edge") {
  TalkingDesktop talk;
  talk.Join();
  talk.DropIn(100);
  talk.Receive({Saying(kBob, "Hello", "right"), Saying(kCarol, "Hi"), Saying(kBob, "There")});
  const Scene* scene = &talk.Pass(10);
  REQUIRE(scene->bubbles.size() == 3);
  CHECK(scene->bubbles[0].text == "There");
  CHECK(scene->bubbles[0].post.edge == Edge::kLeft);  // the neighbours tell
  CHECK(scene->bubbles[0].post.has_tail_at_edge);
  CHECK(scene->bubbles[1].name == "Carol");
  CHECK(scene->bubbles[1].post.edge == Edge::kTop);  // nowhere near
  CHECK(!scene->bubbles[1].post.has_tail_at_edge);
  CHECK(scene->bubbles[2].post.edge == Edge::kRight);  // the event tells
  CHECK(scene->bubbles[2].post.room == Rect{8, 8, 792, 552});
  CHECK(!scene->bubbles[2].post.sprite);
  talk.Receive({talk.Sprite(kBob)});
  scene = &talk.Pass(10);
  REQUIRE(scene->bubbles[2].post.sprite);
  const Rect first = *scene->bubbles[2].post.sprite;
  CHECK(!scene->bubbles[1].post.sprite);
  talk.Pass(500);
  talk.Receive({talk.Sprite(kBob)});
  scene = &talk.Pass(10);
  CHECK(scene->bubbles[2].post.sprite->left < first.left + 100);  // it came in by the left edge
  CHECK(*scene->bubbles[0].post.sprite == *scene->bubbles[2].post.sprite);
}

TEST_CASE(
    "bubbles of a desktop › own ones are at the selected sprite, else at the newest own one") {
  TalkingDesktop talk;
  talk.Join();
  talk.Receive({Saying(kMe, "Hello", "top")});
  const Scene* scene = &talk.Pass(10);
  REQUIRE(scene->bubbles.size() == 1);
  CHECK(scene->bubbles[0].name == "");
  CHECK(scene->bubbles[0].post.edge == Edge::kBottom);
  CHECK(!scene->bubbles[0].post.has_tail_at_edge);
  const SpriteId old = talk.DropIn(100);
  talk.DropIn(700);
  talk.Receive({talk.Sprite(kBob)});
  scene = &talk.Pass(10);
  REQUIRE(scene->bubbles[0].post.sprite);
  CHECK(scene->bubbles[0].post.sprite->left > 600);
  talk.desktop.sprites().Select(old);
  CHECK(talk.Pass(10).bubbles[0].post.sprite->left < 200);
}

TEST_CASE("bubbles of a desktop › end by the clock, while the sprites pause too") {
  TalkingDesktop talk;
  talk.Join();
  talk.Receive({Saying(kBob, "x")});
  talk.desktop.Pause(true);
  CHECK(talk.Pass(10).bubbles.size() == 1);
  CHECK(talk.Pass(BubbleMs("x") - 20).bubbles.size() == 1);
  CHECK(talk.Pass(20).bubbles.empty());
  CHECK(talk.desktop.talk().conversation().history().size() == 1);
}

TEST_CASE("bubbles of a desktop › the next tick comes when one ends") {
  TalkingDesktop talk;
  talk.Join();
  talk.DropIn(400);
  talk.Pass(20'000);
  talk.Receive({Saying(kBob, "x")});
  const double idle = talk.Pass(BubbleMs("x") - 40).idle_ms;
  CHECK(idle <= 40);
  CHECK(talk.Pass(10).bubbles.size() == 1);
}

TEST_CASE(
    "bubbles of a desktop › are not shown while presenting, behind a film, or when turned off") {
  TalkingDesktop talk;
  talk.Join();
  talk.Receive({Saying(kBob, "Hello")});
  CHECK(talk.Pass(10).bubbles.size() == 1);
  for (const Presence presence : {Presence::kBusy, Presence::kPresenting}) {
    talk.desktop.SetPresence(presence);
    CHECK(talk.Pass(10).bubbles.empty());
  }
  talk.desktop.SetPresence(Presence::kFree);
  talk.desktop.Hide(true);
  CHECK(talk.Pass(10).bubbles.empty());
  talk.desktop.Hide(false);
  CHECK(talk.Pass(10).bubbles.size() == 1);
  const WindowArea film{1, {0, 0, 800, 600}, false, true, false};
  talk.desktop.look().SetWindows(std::vector<WindowArea>{film});
  CHECK(talk.Pass(10).bubbles.empty());
  Settings settings = talk.desktop.settings();
  settings.quiet = false;
  talk.desktop.SetSettings(settings);
  CHECK(talk.Pass(10).bubbles.empty());  // hidden behind full-screen programs
  settings.hide_in_full_screen = false;
  talk.desktop.SetSettings(settings);
  CHECK(talk.Pass(10).bubbles.size() == 1);
  settings.bubbles = false;
  talk.desktop.SetSettings(settings);
  CHECK(talk.Pass(10).bubbles.empty());
  CHECK(talk.desktop.talk().conversation().history().size() == 1);
}

TEST_CASE("bubbles of a desktop › a muted speaker is not heard, and a mute ends its bubbles") {
  TalkingDesktop talk;
  talk.Join();
  talk.Receive({Saying(kBob, "Hello"), Saying(kCarol, "Hi")});
  CHECK(talk.Pass(10).bubbles.size() == 2);
  talk.desktop.Mute({"9-3e", "Bob"}, true);
  CHECK(talk.desktop.guests().IsMuted({"9-3e", "Bob"}));
  CHECK(talk.Pass(10).bubbles.size() == 1);
  talk.Receive({Saying(kBob, "Still there"), {{"type", "missed"}, {"sayings", 2}}});
  CHECK(talk.Pass(10).bubbles.size() == 1);
  const auto& history = talk.desktop.talk().conversation().history();
  REQUIRE(history.size() == 3);
  CHECK(history[0].saying.text == "Hello");
  CHECK(history[2].missed == 2);
}

TEST_CASE("bubbles of a desktop › leave room for the sprite that the pointer holds") {
  TalkingDesktop talk;
  talk.Join();
  const SpriteId id = talk.DropIn(400);
  talk.Receive({Saying(kBob, "Hello")});
  CHECK(talk.Pass(10).obstacles.empty());
  talk.desktop.sprites().Grab(id, {400, 555}, 0);
  const Scene& scene = talk.Pass(10);
  REQUIRE(scene.obstacles.size() == 1);
  CHECK(scene.obstacles[0].Contains({400, 555}));
}

}  // namespace
}  // namespace sprites
