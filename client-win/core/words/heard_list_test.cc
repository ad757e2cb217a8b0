#include "core/words/heard_list.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/text/json.h"

namespace sprites {
namespace {

constexpr char kHeardBase[] = "http://relay.example:8080/v1/desktops/1-1";

std::string Ago(int64_t ms) { return "-" + std::to_string(ms); }

// A desktop that has heard something.
struct HeardTalk {
  HeardTalk() : desktop(Given(), [] { return 0.5; }) {}
  static Settings Given() {
    Settings settings;
    settings.relay = "http://relay.example:8080";
    return settings;
  }
  void Receive(const std::vector<Json>& events) {
    for (int turn = 0; turn < 100; turn++) {
      desktop.Tick(now += 100);
      for (const Request& request : desktop.PopOutbox().requests) {
        if (request.lane == Lane::kPoll) {
          const Json batch = {{"cursor", "6a1f03c2-0"}, {"events", events}};
          desktop.HandleResponse({request.id, 200, WriteJson(batch)});
          return;
        }
        const Json bob = {{"desktop", "9-3e"}, {"name", "Bob"}};
        const Json answer = {
            {"desktop", "1-1"},
            {"token", "1-1.00"},
            {"cursor", "6a1f03c2-0"},
            {"events", std::string(kHeardBase) + "/events"},
            {"crossings", std::string(kHeardBase) + "/crossings"},
            {"neighbours", {{"left", bob}, {"right", bob}, {"top", bob}, {"bottom", bob}}}};
        const int status = request.method == Method::kPost ? 201 : 200;
        desktop.HandleResponse({request.id, status, WriteJson(answer)});
      }
    }
    FAIL("no poll");
  }
  static Json Saying(const std::string& desktop, const std::string& name, const std::string& text) {
    return {{"type", "saying"}, {"from", {{"desktop", desktop}, {"name", name}}}, {"text", text}};
  }

  Desktop desktop;
  int64_t now = 0;
};

TEST_CASE("heard list › has a row for each line, oldest first, with the time of day") {
  HeardTalk talk;
  CHECK(HeardRows(talk.desktop, Ago).empty());
  talk.Receive({HeardTalk::Saying("9-3e", "Bob", "Hello"),
                HeardTalk::Saying("1-1", "Ann", "Hi"),
                {{"type", "missed"}, {"sayings", 1}}});
  talk.desktop.Tick(talk.now + 500);
  const auto rows = HeardRows(talk.desktop, Ago);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].what == "1 saying was missed");  // it came before those of its batch
  CHECK(rows[0].who == "");
  CHECK(!rows[0].speaker);
  CHECK(rows[1].time == "-500");
  CHECK(rows[1].who == "Bob");
  CHECK(rows[1].what == "Hello");
  CHECK(rows[1].speaker->desktop == "9-3e");
  CHECK(rows[2].who == "You");
  CHECK(!rows[2].speaker);
}

TEST_CASE("heard list › as a menu has the newest first, and each row mutes its speaker") {
  HeardTalk talk;
  REQUIRE(HeardMenu(talk.desktop, Ago).size() == 1);
  CHECK(HeardMenu(talk.desktop, Ago)[0].text == "Nothing was said yet");
  CHECK(!HeardMenu(talk.desktop, Ago)[0].is_enabled);
  const std::string text =
      "R&D says a line that is much longer than a row of a menu should be, "
      "and goes on for a while without a point, or an end.";
  talk.Receive({HeardTalk::Saying("9-3e", "B&b", text),
                HeardTalk::Saying("1-1", "Ann", "Hi"),
                {{"type", "missed"}, {"sayings", 12}}});
  const Menu menu = HeardMenu(talk.desktop, Ago);
  REQUIRE(menu.size() == 3);
  CHECK(menu[0].text == "-0  You: Hi");
  CHECK(!menu[0].is_enabled);
  CHECK(menu[1].text == "-0  B&&b: R&&D says a line that is much longer than a r…");
  CHECK(menu[2].text == "-0  12 sayings were missed");
  const Menu& children = menu[1].children;
  REQUIRE(children.size() == 5);
  CHECK(children[0].text == "R&&D says a line that is much longer than a row of a menu");
  CHECK(!children[0].is_enabled);
  CHECK(children[3].IsLine());
  CHECK(children[4].text == "&Mute B&&b");
  CHECK(children[4].choice.command == MenuCommand::kMute);
  CHECK(children[4].choice.is_on);
  talk.desktop.Mute(children[4].choice.neighbour, true);
  const MenuItem after = HeardMenu(talk.desktop, Ago)[1].children[4];
  CHECK(after.text == "&Hear B&&b again");
  CHECK(!after.choice.is_on);
}

TEST_CASE("heard list › breaks a text without spaces between letters") {
  HeardTalk talk;
  std::string umlauts;
  for (int i = 0; i < 130; i++) {
    umlauts += "ü";
  }
  talk.Receive({HeardTalk::Saying("9-3e", "Bob", umlauts)});
  const Menu children = HeardMenu(talk.desktop, Ago)[0].children;
  REQUIRE(children.size() == 5);
  CHECK(children[0].text.size() == 2 * kHeardLineLettersMax);
  CHECK(children[2].text.size() == 2 * 10);
}

TEST_CASE("heard list › letters of a row: below the limit, the limit, and cut above it") {
  for (const size_t letters : {kHeardLettersMax - 1, kHeardLettersMax, kHeardLettersMax + 1}) {
    HeardTalk talk;
    const std::string text(letters, 'x');
    talk.Receive({HeardTalk::Saying("1-1", "Ann", text)});
    const MenuItem row = HeardMenu(talk.desktop, Ago)[0];
    const bool is_cut = letters > kHeardLettersMax;
    CHECK(row.text == "-0  You: " + (is_cut ? text.substr(1) + "…" : text));
    CHECK(row.children.size() == (is_cut ? 1 : 0));
  }
}

TEST_CASE("heard list › letters of a line: below the limit, the limit; one more is a second line") {
  for (const size_t letters :
       {kHeardLineLettersMax - 1, kHeardLineLettersMax, kHeardLineLettersMax + 1}) {
    HeardTalk talk;
    talk.Receive({HeardTalk::Saying("1-1", "Ann", std::string(letters, 'x'))});
    const Menu lines = HeardMenu(talk.desktop, Ago)[0].children;
    CHECK(lines.size() == (letters > kHeardLineLettersMax ? 2 : 1));
    CHECK(lines[0].text.size() == std::min(letters, kHeardLineLettersMax));
  }
}

}  // namespace
}  // namespace sprites
