#include "core/words/menus.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/text/json.h"
#include "core/words/choices_menu.h"
#include "test/core/test_spr.h"

namespace sprites {
namespace {

constexpr char kBase[] = "http://relay.example:8080/v1/desktops/1-1";

// A desktop with one character on its shelf.
struct Room {
  explicit Room(const std::string& relay = "http://relay.example:8080")
      : desktop(Given(relay), [] { return 0.5; }) {
    const Rect all{0, 0, 800, 600};
    desktop.look().SetMonitors(std::vector<Monitor>{{all, all, 1, true}});
    sheet = ReadSheet(TestSpr(0));
    desktop.look().AddToShelf(sheet);
  }
  static Settings Given(const std::string& relay) {
    Settings settings;
    settings.relay = relay;
    return settings;
  }
  // The relay lets the desktop in, beside this neighbour at every edge.
  void Join(const std::string& id, const std::string& name) {
    const Json beyond = {{"desktop", id}, {"name", name}};
    Join({{"left", beyond}, {"right", beyond}, {"top", beyond}, {"bottom", beyond}});
  }
  void Join(const Json& neighbours) {
    const Json seat = {{"desktop", "1-1"},
                       {"token", "1-1.00"},
                       {"name", "Golden Bee"},
                       {"world", "commons"},
                       {"cursor", "6a1f03c2-0"},
                       {"events", std::string(kBase) + "/events"},
                       {"crossings", std::string(kBase) + "/crossings"},
                       {"invitation", "1a2b.00112233445566778899aabbccddeeff"},
                       {"neighbours", neighbours}};
    for (int turn = 0; turn < 100 && !desktop.relay().neighbours; turn++) {
      desktop.Tick(now += 100);
      for (const Request& request : desktop.PopOutbox().requests) {
        if (request.lane != Lane::kPoll) {
          desktop.HandleResponse(
              {request.id, request.method == Method::kPost ? 201 : 200, WriteJson(seat)});
        }
      }
    }
    REQUIRE(desktop.relay().neighbours);
  }
  const Sprite& DropIn() {
    return *desktop.simulation().Find(desktop.sprites().DropIn(sheet->file, Point{400, 600}));
  }

  Desktop desktop;
  SheetPointer sheet;
  int64_t now = 0;
};

// The first entry that matches, in the order in which a person reads a menu and its submenus.
template <class Matches>
const MenuItem* FindIf(const Menu& menu, Matches matches) {
  for (const MenuItem& item : menu) {
    if (matches(item)) {
      return &item;
    }
    if (const MenuItem* below = FindIf(item.children, matches)) {
      return below;
    }
  }
  return nullptr;
}

const MenuItem* Find(const Menu& menu, MenuCommand command) {
  return FindIf(menu, [&](const MenuItem& item) { return item.choice.command == command; });
}

const MenuItem* FindText(const Menu& menu, const std::string& part) {
  return FindIf(menu,
                [&](const MenuItem& item) { return item.text.find(part) != std::string::npos; });
}

TEST_CASE("menus › the program's begins with the connection, and ends with Quit") {
  Room room;
  const Menu menu = ProgramMenu(room.desktop);
  CHECK(menu.front().text == StatusOf(room.desktop));
  CHECK(!menu.front().is_enabled);
  CHECK(menu.back().choice.command == MenuCommand::kQuit);
  CHECK(menu.front().text == "Connecting to relay.example:8080 …");
  CHECK(StatusOf(Room("").desktop) == "Not connected: choose a relay");
}

TEST_CASE("menus › the shelf is a submenu of its characters") {
  Room room;
  const Menu menu = ProgramMenu(room.desktop);
  const MenuItem* shelf = FindText(menu, "&New sprite");
  REQUIRE(shelf != nullptr);
  REQUIRE(shelf->children.size() == 1);
  CHECK(shelf->children[0].choice.command == MenuCommand::kDropIn);
  CHECK(shelf->children[0].choice.index == 0);
}

TEST_CASE("menus › a sprite of a dropped picture offers the version that it does not show") {
  Room room;
  const Sprite& sprite = room.DropIn();
  CHECK(Find(SpriteMenu(room.desktop, sprite), MenuCommand::kSwapPicture) == nullptr);
  const Bytes spr = TestSpr(0);
  for (const bool is_cut : {true, false}) {
    Room other;
    other.desktop.look().versions().Add({spr, TestSpr(1), is_cut});
    const Menu menu = SpriteMenu(other.desktop, other.DropIn());
    const MenuItem* swap = Find(menu, MenuCommand::kSwapPicture);
    REQUIRE(swap != nullptr);
    CHECK(swap->text == (is_cut ? "Bring its &background back" : "&Cut out its background"));
  }
}

TEST_CASE("menus › carry out what only concerns the desktop, and leave the rest to the shell") {
  Room room;
  CHECK(CarryOut({MenuCommand::kDropIn, 0}, &room.desktop));
  CHECK(CarryOut({MenuCommand::kDropIn, room.desktop.look().shelf().size()}, &room.desktop));
  CHECK(room.desktop.simulation().sprites().size() == 1);
  CHECK(CarryOut({MenuCommand::kPause, 0, {}, true}, &room.desktop));
  CHECK(room.desktop.is_paused());
  const auto top = static_cast<size_t>(Edge::kTop);
  CHECK(CarryOut({MenuCommand::kPeek, top, {}, true}, &room.desktop));
  CHECK(room.desktop.peeking().chosen() == Edge::kTop);
  CHECK(CarryOut({MenuCommand::kPeek, top, {}, false}, &room.desktop));
  CHECK(!room.desktop.peeking().chosen());
  CHECK(CarryOut({MenuCommand::kShowStage, 0, {}, false}, &room.desktop));
  CHECK(room.desktop.settings().show_stage == ShowStage::kHide);
  CHECK(CarryOut({MenuCommand::kReact, 0}, &room.desktop));
  CHECK(!CarryOut({MenuCommand::kQuit}, &room.desktop));
  CHECK(!CarryOut({MenuCommand::kNone}, &room.desktop));
}

TEST_CASE("menus › every sprite is in a list, with its menu, for those who have no pointer") {
  Room room;
  CHECK(FindText(ProgramMenu(room.desktop), "Spri&tes here") == nullptr);
  const SpriteId first = room.DropIn().id;
  const SpriteId second = room.DropIn().id;
  const Menu menu = ProgramMenu(room.desktop);
  const MenuItem* list = FindText(menu, "Spri&tes here");
  REQUIRE(list != nullptr);
  REQUIRE(list->children.size() == 2);
  for (size_t i = 0; i < 2; i++) {
    const MenuItem& sprite = list->children[i];
    CHECK(sprite.text == room.sheet->description.name);
    REQUIRE(Find(sprite.children, MenuCommand::kThrow) != nullptr);
    CHECK(Find(sprite.children, MenuCommand::kThrow)->choice.sprite == (i == 0 ? first : second));
    CHECK(Find(sprite.children, MenuCommand::kPutAway)->choice.sprite == (i == 0 ? first : second));
    REQUIRE(Find(sprite.children, MenuCommand::kSteer) != nullptr);
    CHECK(Find(sprite.children, MenuCommand::kSteer)->choice.sprite == (i == 0 ? first : second));
  }
}

TEST_CASE("menus › inviting needs a seat, and throwing names the neighbour") {
  Room room;
  CHECK(!Find(ProgramMenu(room.desktop), MenuCommand::kInvite)->is_enabled);
  CHECK(FindText(SpriteMenu(room.desktop, room.DropIn()), ": ") == nullptr);
  room.Join("2-1", "Grace");
  CHECK(Find(ProgramMenu(room.desktop), MenuCommand::kInvite)->is_enabled);
  const Menu menu = SpriteMenu(room.desktop, room.DropIn());
  CHECK(Find(menu, MenuCommand::kThrow)->text == "&Left: Grace");
  CHECK(Find(menu, MenuCommand::kPutAway) != nullptr);
  CHECK(Find(menu, MenuCommand::kReport) == nullptr);
}

TEST_CASE("menus › a sprite of somebody else can be hidden and reported, not put away") {
  Room room;
  room.Join("2-1", "Grace");
  Sprite guest = room.DropIn();
  guest.from_shelf = false;
  const Menu menu = SpriteMenu(room.desktop, guest);
  CHECK(Find(menu, MenuCommand::kPutAway) == nullptr);
  CHECK(Find(menu, MenuCommand::kHide)->is_enabled);
  CHECK(Find(menu, MenuCommand::kReport)->is_enabled);
  room.desktop.look().HidePicture(guest.file, true);
  CHECK(!Find(SpriteMenu(room.desktop, guest), MenuCommand::kHide)->is_enabled);
}

TEST_CASE("menus › a guest's names who sent it, whom one can mute there") {
  Room room;
  room.Join("2-1", "Grace");
  Sprite guest = room.DropIn();
  guest.from_shelf = false;
  CHECK(Find(SpriteMenu(room.desktop, guest), MenuCommand::kMute) == nullptr);
  const Neighbour& grace = *room.desktop.relay().NeighbourBeyond(Edge::kLeft);
  room.desktop.guests().Add(guest.id, grace, Edge::kLeft);
  const Menu menu = SpriteMenu(room.desktop, guest);
  CHECK(menu.front().text == guest.name + ", from Grace");
  REQUIRE(Find(menu, MenuCommand::kMute) != nullptr);
  CHECK(Find(menu, MenuCommand::kMute)->text == "&Mute Grace");
  CHECK(Find(menu, MenuCommand::kMute)->choice.neighbour.desktop == "2-1");
}

TEST_CASE("menus › guests can be sent on while there are some, and go then") {
  Room room;
  room.Join("2-1", "Grace");
  const SpriteId guest = room.DropIn().id;
  CHECK(Find(ProgramMenu(room.desktop), MenuCommand::kSendAllOn) == nullptr);
  room.desktop.guests().Add(guest, *room.desktop.relay().NeighbourBeyond(Edge::kLeft), Edge::kLeft);
  const Menu menu = ProgramMenu(room.desktop);
  const MenuItem* send_on = Find(menu, MenuCommand::kSendAllOn);
  REQUIRE(send_on != nullptr);
  CHECK(room.desktop.guests().NextDueMs() > room.now);
  CHECK(CarryOut(send_on->choice, &room.desktop));
  CHECK(room.desktop.guests().NextDueMs() <= room.now);
}

TEST_CASE("menus › one's own name is in the program's, and in the tip of its icon") {
  Room room;
  CHECK(Find(ProgramMenu(room.desktop), MenuCommand::kName) == nullptr);
  CHECK(TooltipOf(room.desktop) == StatusOf(room.desktop));
  room.Join("2-1", "Grace");
  const Menu menu = ProgramMenu(room.desktop);
  CHECK(Find(menu, MenuCommand::kName)->text == "You are Golden Bee: &change…");
  CHECK(TooltipOf(room.desktop) == StatusOf(room.desktop) + ", as Golden Bee");
}

TEST_CASE("menus › a right click on a sprite has what the program has too, each once") {
  Room room;
  room.Join("2-1", "Grace");
  const Sprite sprite = room.DropIn();
  const Menu menu = MenuOver(room.desktop, sprite, ProgramMenu(room.desktop));
  for (const Menu& part : {SpriteMenu(room.desktop, sprite), ProgramMenu(room.desktop)}) {
    for (const MenuItem& item : part) {
      const auto same = [&](const MenuItem& other) { return other.text == item.text; };
      const bool is_list = item.text == "Spri&tes here";  // those have menus of their own
      CHECK((item.IsLine() || std::ranges::count_if(menu, same) == (is_list ? 0 : 1)));
    }
  }
}

TEST_CASE(
    "menus › a right click has at most eighteen entries, on a dropped picture one more, on a "
    "guest "
    "twenty") {
  Room room;
  room.Join("2-1", "Grace");
  Sprite sprite = room.DropIn();
  const auto entries = [&] {
    const Menu menu = MenuOver(room.desktop, sprite, ProgramMenu(room.desktop));
    return menu.size() - std::ranges::count_if(menu, &MenuItem::IsLine);
  };
  CHECK(entries() <= 18);
  room.desktop.look().versions().Add({TestSpr(0), TestSpr(1), true});
  CHECK(entries() <= 19);
  sprite.from_shelf = false;
  CHECK(entries() <= 20);
}

TEST_CASE("menus › hide all sprites and show them, with the key that does it too") {
  Room room;
  const MenuItem* hide = nullptr;
  Menu menu = ProgramMenu(room.desktop);
  hide = Find(menu, MenuCommand::kHideAll);
  REQUIRE(hide != nullptr);
  CHECK(hide->text == "Hi&de all sprites");
  CHECK(!hide->is_checked);
  CHECK(CarryOut(hide->choice, &room.desktop));
  CHECK(room.desktop.is_hidden());
  room.desktop.SetHasHideKey(true);
  menu = ProgramMenu(room.desktop);
  hide = Find(menu, MenuCommand::kHideAll);
  CHECK(hide->text == "Hi&de all sprites\tCtrl+Alt+Shift+H");
  CHECK(hide->is_checked);
  CHECK(CarryOut(hide->choice, &room.desktop));
  CHECK(!room.desktop.is_hidden());
  room.desktop.Hide(true);
  CHECK(CarryOut({MenuCommand::kDropIn, 0}, &room.desktop));
  CHECK(!room.desktop.is_hidden());  // a new sprite is there to be seen
}

TEST_CASE("menus › an own neighbour is not named, and can't be muted") {
  Room room;
  room.Join("1-1", "Ada");
  CHECK(FindText(ProgramMenu(room.desktop), "&Mute") == nullptr);
  CHECK(FindText(SpriteMenu(room.desktop, room.DropIn()), "Ada") == nullptr);
}

TEST_CASE("menus › muted names come first, checked, then the other neighbours") {
  Room room;
  room.Join("2-1", "Grace");
  const Menu before = ProgramMenu(room.desktop);
  const MenuItem* mute = FindText(before, "&Mute");
  REQUIRE(mute != nullptr);
  REQUIRE(mute->children.size() == 1);
  CHECK(mute->children[0].text == "Grace");
  CHECK(mute->children[0].choice.is_on);
  room.desktop.Mute(mute->children[0].choice.neighbour, true);
  const Menu after = ProgramMenu(room.desktop);
  mute = FindText(after, "&Mute");
  REQUIRE(mute->children.size() == 1);
  CHECK(mute->children[0].is_checked);
  CHECK(!mute->children[0].choice.is_on);
}

TEST_CASE("menus › a neighbour that is not known yet has no entry, but its edge a throw") {
  Room room;
  room.Join({{"left", {{"desktop", "2-1"}, {"name", "Grace"}}}});
  const Menu program = ProgramMenu(room.desktop);
  CHECK(FindText(program, "&Mute")->children.size() == 1);
  CHECK(room.desktop.relay().NeighbourBeyond(Edge::kLeft) != nullptr);
  CHECK(room.desktop.relay().NeighbourBeyond(Edge::kRight) == nullptr);
  const Menu sprite = SpriteMenu(room.desktop, room.DropIn());
  CHECK(FindText(sprite, "&Left: Grace") != nullptr);
  const MenuItem* right = FindText(sprite, "&Right");
  REQUIRE(right != nullptr);
  CHECK(right->is_enabled);
}

TEST_CASE("menus › nobody else is here only if this desktop is beyond every edge") {
  Room alone;
  alone.Join("1-1", "Ada");
  CHECK(alone.desktop.relay().IsAlone());
  for (const Json& neighbours : {Json::object(), Json{{"left", {{"desktop", "1-1"}}}}}) {
    Room room;
    room.Join(neighbours);
    CHECK(!room.desktop.relay().IsAlone());
    CHECK(StatusOf(room.desktop) != StatusOf(alone.desktop));
  }
}

TEST_CASE("menus › a name has no access key, and is cut where a letter ends") {
  Room room;
  room.Join("2-1", "R&D");
  CHECK(Find(SpriteMenu(room.desktop, room.DropIn()), MenuCommand::kThrow)->text == "&Left: R&&D");
  const auto shown = [](const std::string& name) {
    Room other;
    other.Join("2-1", name);
    return Find(SpriteMenu(other.desktop, other.DropIn()), MenuCommand::kThrow)->text;
  };
  std::string umlauts;
  for (size_t i = 0; i < kMenuNameLettersMax; i++) {
    umlauts += "ü";
  }
  CHECK(shown(umlauts) == "&Left: " + umlauts);
  CHECK(shown(umlauts + "ü") == "&Left: " + umlauts + "…");
}

TEST_CASE("menus › each switch of the settings changes one setting, and shows its state") {
  Room room;
  Menu menu = SettingsMenu(room.desktop, true);
  std::erase_if(menu, [](const MenuItem& item) {
    return !item.children.empty() || item.choice.command == MenuCommand::kOpenSounds;
  });
  constexpr size_t kSwitches = 12;
  REQUIRE(menu.size() == kSwitches);
  std::set<std::string> written;
  for (const MenuItem& item : menu) {
    CHECK(item.choice.command == MenuCommand::kSwitch);
    CHECK(item.choice.is_on == !item.is_checked);
    const auto settings = WithChoice(room.desktop.settings(), item.choice);
    REQUIRE(settings);
    CHECK(settings != room.desktop.settings());
    written.insert(SettingsJson(*settings));
    MenuChoice back = item.choice;
    back.is_on = item.is_checked;
    CHECK(WithChoice(*settings, back) == room.desktop.settings());
  }
  CHECK(written.size() == kSwitches);
  room.desktop.look().HidePicture(room.sheet->file, true);
  CHECK(Find(SettingsMenu(room.desktop, true), MenuCommand::kShowHidden)->text ==
        "&Show hidden pictures again (1)");
}

TEST_CASE("menus › the volume is in the settings, or why there are no sounds") {
  Room room;
  Settings settings = room.desktop.settings();
  settings.volume = 75;
  room.desktop.SetSettings(settings);
  const Menu menu = SettingsMenu(room.desktop, true);
  const MenuItem* volume = FindText(menu, "&Volume");
  REQUIRE(volume != nullptr);
  for (const MenuItem& item : volume->children) {
    CHECK(item.choice.command == MenuCommand::kVolume);
    CHECK(item.is_checked == (item.choice.index == 75));
    CHECK(item.text == std::to_string(item.choice.index) + " %");
  }
  const Menu silent = SettingsMenu(room.desktop, false);
  CHECK(FindText(silent, "&Volume") == nullptr);
  CHECK(Find(silent, MenuCommand::kOpenSounds) == nullptr);
  CHECK(!FindText(silent, "no sound device")->is_enabled);
}

}  // namespace
}  // namespace sprites
