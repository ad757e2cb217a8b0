#include "core/words/company_view.h"

#include <doctest/doctest.h>

#include <string>

#include "test/core/test_desktop.h"
#include "test/core/vectors.h"

namespace sprites {
namespace {

Json CompanionAt(const std::string& name, int column, int row) {
  return {{"name", name}, {"column", column}, {"row", row}};
}

// A desktop that shows who is here.
struct ViewedDesktop : TestDesktop {
  ViewedDesktop() { Join(); }

  // The relay says that it has changed, and answers with this. Returns whether a window shows it.
  bool MeetAnswer(const Json& answer) {
    Receive({Json{{"type", "company"}}});
    Respond(Pop("/company", Method::kGet), 200, answer);
    return view.Update(desktop);
  }
  bool Meet(const std::vector<Json>& company) {
    return MeetAnswer({{"desktops", company.size() + 1}, {"company", company}});
  }

  CompanyView view;
};

TEST_CASE("who is here › the picture is that of the vectors") {
  const Json vectors = ReadVectors(RELAY_VECTORS);
  REQUIRE(vectors["companies"].size() > 3);
  for (const Json& one : vectors["companies"]) {
    CAPTURE(one["name"]);
    ViewedDesktop fixture;
    fixture.MeetAnswer(one["answer"]);
    const CompanyGrid grid = GridOf(fixture.view.rows());
    CHECK(Json{{"columns", grid.columns}, {"rows", grid.rows}, {"cells", grid.cells}} ==
          one["picture"]);
    CHECK(fixture.desktop.company().people() == one["people"]);
    CHECK((fixture.view.summary().find("neighbours") == std::string::npos) == one["isWhole"]);
  }
}

TEST_CASE("who is here › lists everybody with where they sit, and who is away or has just come") {
  ViewedDesktop fixture;
  Json carol = CompanionAt("Carol", -2, 1);
  carol["awaySeconds"] = 12;
  fixture.Meet({CompanionAt("Bob", 1, 0), carol, CompanionAt("", 1, 1), 7});
  const auto& rows = fixture.view.rows();
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].name == "You");
  CHECK(rows[0].face == Face::kSelf);
  CHECK(rows[1].name == "Bob");
  CHECK(rows[1].where == "1 to the right");  // was here before
  CHECK(rows[1].letter == "B");
  CHECK(rows[1].face == Face::kHere);
  CHECK(rows[2].where == "2 to the left, 1 down, away");
  CHECK(rows[2].face == Face::kAway);

  CHECK(fixture.Meet({CompanionAt("Bob", 1, 0), CompanionAt("Émile", 0, -1)}));
  CHECK(fixture.view.summary() == "3 here");
  CHECK(rows[1].face == Face::kHere);
  CHECK(rows[2].where == "1 up, has just come");
  CHECK(rows[2].letter == "É");
  fixture.Pass(kNewcomerMs - 1'000);
  fixture.view.Update(fixture.desktop);
  CHECK(rows[2].face == Face::kNew);
  fixture.Pass(1'000);
  CHECK(fixture.view.Update(fixture.desktop));
  CHECK(rows[2].where == "1 up");
  CHECK(!fixture.view.Update(fixture.desktop));  // nothing has changed
}

TEST_CASE("who is here › says why there is nobody to see") {
  TestDesktop fixture;
  CompanyView view;
  view.Update(fixture.desktop);
  CHECK(view.summary() == StatusOf(fixture.desktop));
  CHECK(view.rows().size() == 1);
  CHECK(!view.Throw());

  ViewedDesktop alone;
  alone.Meet(std::vector<Json>{});
  CHECK(alone.view.summary() == "Nobody else is here yet");
  alone.EndSeat();
  alone.Pass(10);
  alone.view.Update(alone.desktop);
  CHECK(alone.view.summary() == StatusOf(alone.desktop));
  alone.Join("2-1");
  alone.Pop("/company", Method::kGet);  // of the new seat
}

TEST_CASE("who is here › an answer that is none, or says too much, changes nothing") {
  ViewedDesktop fixture;
  fixture.Meet({CompanionAt("Bob", 1, 0)});
  const std::vector<Json> most(rules::kCompanyMax - 1, CompanionAt("Zoe", 1, 0));
  const std::vector<Json> too_many(rules::kCompanyMax, CompanionAt("Zoe", 1, 0));
  for (const Json& other :
       {Json(7), Json::object(), Json{{"company", 7}}, Json{{"company", too_many}}}) {
    CHECK(!fixture.MeetAnswer(other));
  }
  CHECK(fixture.MeetAnswer({{"desktops", -5}, {"residents", 1e300}, {"company", most}}));
  CHECK(fixture.view.rows().size() == rules::kCompanyMax);
  CHECK(fixture.desktop.company().people() == 1);
}

TEST_CASE("who is here › it is asked for when the person looks, and when the neighbours change") {
  ViewedDesktop fixture;
  fixture.Pass(5'000);
  CHECK(!fixture.Has("/company", Method::kGet));
  fixture.desktop.AskWhoIsHere();
  fixture.Respond(fixture.Pop("/company", Method::kGet), 503);
  fixture.Receive({Json{{"type", "neighbours"}, {"left", kBob}}});
  fixture.Respond(fixture.Pop("/company", Method::kGet), 503);
  fixture.Pass(5'000);
  CHECK(!fixture.Has("/company", Method::kGet));  // a refusal is not repeated
}

TEST_CASE("who is here › the same friend and the same sprite stay chosen, and are thrown") {
  ViewedDesktop fixture;
  CHECK(fixture.Meet({CompanionAt("R&D", 1, 1), CompanionAt("Zoe", 0, 2)}));
  CHECK(fixture.view.throw_words() == "&Throw to R&&D");
  CHECK(!fixture.view.Throw());  // no sprite
  const SpriteId first = fixture.DropInOwn();
  const SpriteId second = fixture.DropInOwn();
  fixture.view.Update(fixture.desktop);
  REQUIRE(fixture.view.sprites().size() == 2);
  CHECK(fixture.view.Throw()->sprite == second);
  fixture.view.ChooseSprite(0);
  fixture.view.Choose(2);
  CHECK(fixture.view.throw_words() == "&Throw to Zoe");
  const SpriteId third = fixture.DropInOwn();
  CHECK(fixture.Meet({CompanionAt("Zoe", 0, 3), CompanionAt("Bob", 1, 0)}));
  CHECK(fixture.view.chosen() == 1);
  const auto choice = fixture.view.Throw();
  REQUIRE(choice.has_value());
  CHECK(choice->command == MenuCommand::kThrowToFriend);
  CHECK(choice->neighbour.name == "Zoe");
  CHECK(choice->sprite == first);

  fixture.desktop.sprites().PutAway(first);
  fixture.desktop.sprites().Select(second);
  fixture.Meet({CompanionAt("Bob", 1, 0)});
  CHECK(fixture.view.Throw()->sprite == second);  // the selected one before the newest
  CHECK(fixture.view.Throw()->neighbour.name == "Bob");
  fixture.view.Choose(0);
  CHECK(fixture.view.throw_words() == "&Throw");
  CHECK(!fixture.view.Throw());
  fixture.desktop.sprites().PutAway(third);
  fixture.view.Update(fixture.desktop);
  CHECK(fixture.view.chosen() == 0);  // oneself, as chosen
}

TEST_CASE("who is here › seats are asked for where everybody is listed, and who asks is answered") {
  ViewedDesktop fixture;
  CHECK(fixture.Meet({CompanionAt("Bob", 1, 0), CompanionAt("Zoe", 0, 1)}));
  REQUIRE(fixture.view.Swap().has_value());
  CHECK(fixture.view.Swap()->command == MenuCommand::kAskForSeat);
  CHECK(fixture.view.Swap()->neighbour.name == "Bob");
  fixture.ReceiveMomentary({Json{{"type", "swap"}, {"from", kBob}, {"leaseMs", 30'000}}});
  CHECK(fixture.view.Update(fixture.desktop));
  CHECK(fixture.view.summary() == "Bob would like to change seats with you");
  CHECK(fixture.view.Swap()->command == MenuCommand::kAnswerForSeat);
  CHECK(fixture.view.Swap()->is_on);
  fixture.view.Choose(2);
  CHECK(fixture.view.Swap()->command == MenuCommand::kAskForSeat);
  fixture.view.Choose(0);
  CHECK(!fixture.view.Swap());
  fixture.MeetAnswer({{"desktops", 9}, {"company", {CompanionAt("Bob", 1, 0)}}});
  CHECK(!fixture.view.Swap());  // not all are listed
}

TEST_CASE("who is here › a guest is thrown when there is no own sprite, and tells its sender") {
  ViewedDesktop fixture;
  fixture.Receive({Arriving(1, std::string(64, 'a'))});
  fixture.Meet({CompanionAt("Bob", 1, 0)});
  REQUIRE(fixture.view.sprites().size() == 1);
  CHECK(fixture.view.sprites()[0].name == "Guest, from Bob");
}

TEST_CASE("who is here › faces shrink until they fit, and stay in the middle") {
  const auto row = [](int column, int down) {
    CompanyRow made;
    made.goal = {"Zoe", column, down};
    return made;
  };
  const auto at_ease = FacesIn({row(0, 0), row(1, 0)}, 200, 100, 1);
  CHECK(at_ease[0] == Rect{89, 39, 111, 61});
  CHECK(at_ease[1] == Rect{114, 39, 136, 61});
  const auto sharp = FacesIn({row(0, 0)}, 200, 100, 2);
  CHECK(sharp[0] == Rect{78, 28, 122, 72});
  const auto narrow = FacesIn({row(0, 0), row(-2, 0)}, 100, 100, 1);
  CHECK(narrow[1].left > 0);
  CHECK(narrow[0].Width() == doctest::Approx(100.0 / 5 * kFaceSide / kFacePitch));
  CHECK((narrow[0].left + narrow[0].right) / 2 == doctest::Approx(50));
}

}  // namespace
}  // namespace sprites
