#include "core/words/greeting.h"

#include <doctest/doctest.h>

#include "core/text/json.h"
#include "test/core/test_spr.h"

namespace sprites {
namespace {

// A desktop with one sprite, and a relay played by the test.
struct GreetingRoom {
  explicit GreetingRoom(bool greeted) : desktop(Given(greeted), [] { return 0.5; }) {
    const Rect all{0, 0, 800, 600};
    desktop.look().SetMonitors(std::vector<Monitor>{{all, all, 1, true}});
    const SheetPointer sheet = ReadSheet(TestSpr(0));
    desktop.look().AddToShelf(sheet);
    desktop.sprites().DropIn(sheet->file, Point{400, 600});
  }
  static Settings Given(bool greeted) {
    Settings settings;
    settings.relay = "http://relay.example:8080";
    settings.greeted = greeted;
    return settings;
  }
  // Lets time pass; each request that comes is answered by `status`.
  std::string Pass(int64_t ms, int status = 0) {
    std::string said;
    for (const int64_t end = now + ms; now < end;) {
      now += 100;
      desktop.Tick(now);
      for (const Request& request : desktop.PopOutbox().requests) {
        Answer(request, status);
      }
      said = greeting.Update(desktop, now);
    }
    return said;
  }
  void Answer(const Request& request, int status) {
    if (status == 0 || request.lane == Lane::kPoll) {
      desktop.HandleResponse({request.id, status == 0 ? 0 : 204});
      return;
    }
    const std::string base = "http://relay.example:8080/v1/desktops/1-1";
    const Json own = {{"desktop", "1-1"}, {"name", ""}};
    const Json seat = {
        {"desktop", "1-1"},
        {"name", "Golden Bee"},
        {"token", "1-1.00"},
        {"cursor", "6a1f03c2-0"},
        {"events", base + "/events"},
        {"crossings", base + "/crossings"},
        {"neighbours", {{"left", own}, {"right", own}, {"top", own}, {"bottom", own}}}};
    desktop.HandleResponse(
        {request.id, request.method == Method::kPost ? 201 : 200, WriteJson(seat)});
  }

  Desktop desktop;
  Greeting greeting;
  int64_t now = 0;
};

TEST_CASE("greeting › goes step by step, each after the last is done, and tells the name") {
  GreetingRoom room(false);
  const SpriteId id = room.desktop.simulation().sprites()[0].id;
  CHECK(room.Pass(kFirstBubbleMs - 200, 201) == "");
  CHECK(room.Pass(500, 201).starts_with("Hello!\nDrag me"));
  room.desktop.sprites().Grab(id, {400, 590}, 0);
  CHECK(room.Pass(100, 201).starts_with("Now stroke me"));
  room.greeting.Dismiss(room.now, true);  // it is held: that is not yet done
  room.desktop.sprites().Release(500);
  CHECK(room.Pass(3'000, 201).starts_with("Now stroke me"));
  for (int i = 0; i < 40; i++) {
    const Sprite& sprite = *room.desktop.simulation().Find(id);
    room.desktop.sprites().MovePointer({sprite.x - 5 + 10 * (i % 2), sprite.y - 10});
    room.Pass(100, 201);
  }
  CHECK(room.Pass(100, 201).starts_with("And now throw me!"));
  CHECK(!room.greeting.IsDone());
  room.desktop.sprites().ThrowTo(id, Edge::kLeft);
  CHECK(room.Pass(100, 201).starts_with("Others see you as Golden Bee."));
  CHECK(room.Pass(kBubbleMs, 201) == "");
  CHECK(room.greeting.IsDone());
}

TEST_CASE("greeting › goes on when a step is let pass, and then says that nobody is there") {
  GreetingRoom room(false);
  CHECK(room.Pass(2'000, 201).starts_with("Hello!"));
  room.greeting.Dismiss(room.now);
  CHECK(room.Pass(kBubbleMs, 201).starts_with("Now stroke me"));
  CHECK(room.Pass(kBubbleMs, 201).starts_with("And now throw me!"));
  CHECK(room.Pass(kBubbleMs, 201).starts_with("Others see you as"));
  room.greeting.Dismiss(room.now);
  CHECK(room.greeting.IsDone());
  CHECK(room.Pass(kAloneMs - 200, 201) == "");
  CHECK(room.Pass(500, 201).starts_with("Nobody is next door yet."));
  CHECK(room.Pass(kBubbleMs, 201) == "");
  CHECK(room.Pass(600'000, 201) == "");
}

TEST_CASE("greeting › says nothing to those who know it, unless the relay can't be reached") {
  GreetingRoom known(true);
  CHECK(known.Pass(60'000, 201) == "");
  GreetingRoom lost(true);
  CHECK(lost.Pass(12'000).starts_with("I can't reach relay.example:8080."));
  lost.desktop.NetworkIsBack();
  CHECK(lost.Pass(2'000, 201) == "");  // it can now
  CHECK(lost.Pass(600'000) == "");     // a break of the connection is a toast
}

TEST_CASE("greeting › is silent while the person presents, and without a sprite") {
  GreetingRoom room(false);
  room.desktop.SetPresence(Presence::kPresenting);
  CHECK(room.Pass(5'000, 201) == "");
  room.desktop.SetPresence(Presence::kFree);
  CHECK(room.Pass(500, 201) != "");
  Desktop empty(GreetingRoom::Given(false), [] { return 0.5; });
  Greeting greeting;
  CHECK(greeting.Update(empty, 0) == "");
  CHECK(greeting.Update(empty, 10'000) == "");
}

TEST_CASE("greeting › says where the menu is") {
  GreetingRoom room(false);
  std::string said;
  for (int i = 0; i < 4; i++) {
    said = room.Pass(i == 0 ? 2'000 : 200, 201);
    room.greeting.Dismiss(room.now);
  }
  CHECK(said.find("right-click me") != std::string::npos);
}

}  // namespace
}  // namespace sprites
