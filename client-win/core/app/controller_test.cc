#include "core/app/controller.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <utility>

#include "core/desktop/tones.h"
#include "core/desktop/version.h"
#include "core/text/json.h"
#include "test/core/test_relay.h"
#include "test/core/test_spr.h"
#include "test/core/vectors.h"

namespace sprites {
namespace {

// The program's own files, in memory. A write fails as often as the test says.
class Disk {
 public:
  FileAccess Access() {
    return {[this](const std::filesystem::path& path, size_t) -> FileContent {
              const std::lock_guard lock(mutex_);
              const auto file = files_.find(path.filename().string());
              return file == files_.end() ? FileContent{ReadStatus::kMissing, ""}
                                          : FileContent{ReadStatus::kRead, file->second};
            },
            [this](const std::filesystem::path& path, std::string_view text) {
              const std::lock_guard lock(mutex_);
              if (failures_left_ > 0) {
                failures_left_--;
                return false;
              }
              files_[path.filename().string()] = text;
              return true;
            },
            [](const std::filesystem::path&, const std::filesystem::path&) {
              return Renaming::kFailed;
            },
            [](int64_t) {}};
  }
  void FailNext(int writes) {
    const std::lock_guard lock(mutex_);
    failures_left_ = writes;
  }
  // Empty when there is no such file.
  std::string Read(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return files_.contains(name) ? files_[name] : "";
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> files_;
  int failures_left_ = 0;
};

// A relay that grants a seat, and holds its polls. While it is silent, it holds all requests.
class Relay : public Transport {
 public:
  Response Exchange(const Request& request) override {
    std::unique_lock lock(mutex_);
    seen_.push_back(request);
    const bool is_poll = request.url.find("/events") != std::string::npos;
    if (is_poll || is_silent_) {
      changed_.wait(lock, [&] { return cancelled_.contains(request.id) || has_ended_; });
      return has_ended_
                 ? Response{request.id, 410, R"({"code":"desktop-ended","cursor":"6a1f03c2-0"})"}
                 : Response{request.id, 0};
    }
    if (request.method == Method::kPost && request.url.ends_with("/v1/desktops")) {
      return {request.id, 201, SeatText({{"invitation", "1a2b.0123456789abcdef0123456789abcdef"}})};
    }
    if (request.method == Method::kGet && request.url.ends_with("/v1/desktops/1a2b-3f")) {
      const Json bob = {{"desktop", "9-3e"}, {"name", "Bob"}};
      return {request.id, 200,
              WriteJson({{"name", "Golden Bee"}, {"neighbours", {{"left", bob}, {"right", bob}}}})};
    }
    has_ended_ = request.method == Method::kDelete;
    changed_.notify_all();
    return {request.id, 204};
  }
  void Cancel(RequestId id) override {
    const std::lock_guard lock(mutex_);
    cancelled_.insert(id);
    changed_.notify_all();
  }
  void Silence() {
    const std::lock_guard lock(mutex_);
    is_silent_ = true;
  }
  bool HasSeen(Method method, const std::string& end) {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(seen_, [&](const Request& request) {
      return request.method == method && request.url.ends_with(end);
    });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Request> seen_;
  std::set<RequestId> cancelled_;
  bool is_silent_ = false;
  bool has_ended_ = false;  // the seat
};

std::vector<SheetPointer> Characters(uint8_t count) {
  std::vector<SheetPointer> characters;
  for (uint8_t seed = 1; seed <= count; seed++) {
    characters.push_back(ReadSheet(TestSpr(seed)));
  }
  return characters;
}

// A program without a window. Its clock is the real one, and what the test adds to it.
struct Program : Host {
  explicit Program(Disk* disk, const char* relay_url = "", bool is_greeted = true)
      : folder(std::filesystem::temp_directory_path() /
               ("sprites-" + std::to_string(std::random_device{}()))),
        controller({.files = disk->Access(),
                    .kept = folder / "kept.json",
                    .settings = folder / "settings.json",
                    .pictures = folder / "files",
                    .sounds = folder / "sounds",
                    .photographs = folder / "Pictures",
                    .transport = &relay,
                    .decode = [](std::span<const uint8_t>) -> Picture {
                      throw PictureRefused(Text::kPictureDamaged);
                    },
                    .wake =
                        [this] {
                          const std::lock_guard lock(mutex);
                          is_woken = true;
                          woken.notify_all();
                        },
                    .complete =
                        [&](Settings settings) {
                          settings.relay = relay_url;
                          settings.greeted = is_greeted;
                          settings.calm = true;
                          return settings;
                        }},
                   this) {}
  ~Program() override { std::filesystem::remove_all(folder); }

  int64_t NowMs() const override {
    const auto passed = std::chrono::steady_clock::now() - start;
    return std::chrono::duration_cast<std::chrono::milliseconds>(passed).count() + added_ms;
  }
  void RequestTurn() override { turns_requested++; }
  void ShowToast(const Toast& toast) override { toasts.push_back(toast); }
  void Play(std::vector<int16_t> samples) override { played.push_back(std::move(samples)); }
  std::vector<PaintedBubble> PaintBubbles(const Scene& scene) override {
    std::vector<PaintedBubble> painted;
    for (const DrawnBubble& bubble : scene.bubbles) {
      painted_texts.push_back(bubble.text);
      painted.push_back({0, 0, 200, 30, std::vector<uint32_t>(6'000, 0xFFFFFFFF)});
    }
    return painted;
  }
  bool OpenFolder(const std::filesystem::path& shown) override {
    shown_folder = shown;
    return can_open;
  }
  bool Copy(const std::string& text) override {
    copied = can_copy ? text : copied;
    return can_copy;
  }
  bool GiveKeysTo(const Sprite& sprite) override {
    has_keys = sprite.id;
    return true;
  }
  void OpenWindow(MenuCommand command) override { opened.push_back(command); }
  void OpenMenuOver(const Sprite& sprite, Point) override { has_menu = sprite.id; }
  void Close() override { closed++; }
  bool HasIcon() const override { return has_icon; }
  void AskAboutLink(const RelayLink& link) override { asked_about = link.relay; }
  void Ask(Question question, Yes yes) override {
    asked = std::move(question);
    say_yes = std::move(yes);
  }
  Machine DescribeMachine() const override {
    Machine machine;
    machine.system = "Testix 1";
    return machine;
  }

  // Waits as a shell does: for a result of the other threads, or until a turn is due.
  void Wait(double due_ms = 16) {
    std::unique_lock lock(mutex);
    woken.wait_for(lock, std::chrono::duration<double, std::milli>(due_ms),
                   [this] { return is_woken; });
    is_woken = false;
  }
  // Turns until the condition holds.
  template <class Condition>
  void Await(Condition condition) {
    for (;;) {
      const double idle_ms = controller.Turn().idle_ms;
      if (condition()) {
        return;
      }
      Wait(idle_ms);
    }
  }
  const Sprite& First() { return controller.desktop().simulation().sprites().front(); }
  size_t Count() { return controller.desktop().simulation().sprites().size(); }

  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  int64_t added_ms = 0;
  std::filesystem::path folder;
  std::mutex mutex;
  std::condition_variable woken;
  bool is_woken = false;
  Relay relay;
  int turns_requested = 0;
  std::vector<Toast> toasts;
  std::vector<std::vector<int16_t>> played;
  std::vector<std::string> painted_texts;
  bool can_open = true;
  std::filesystem::path shown_folder;
  bool can_copy = true;
  std::string copied;
  SpriteId has_keys = kNobody;
  std::vector<MenuCommand> opened;
  SpriteId has_menu = kNobody;
  int closed = 0;
  bool has_icon = true;
  std::optional<std::string> asked_about;
  Question asked;
  Yes say_yes;
  Controller controller;
};

bool IsConnected(Program* program) {
  return program->controller.desktop().relay().link() == Link::kConnected &&
         program->controller.desktop().relay().neighbours;
}

TEST_CASE("controller › some characters fall in at the first start; the next continues with them") {
  Disk disk;
  {
    Program first(&disk);
    first.controller.Start(Characters(5), false);
    CHECK(first.Count() == kFirstSprites);
    first.controller.Turn();
    first.controller.Leave([&] { first.Wait(); });
  }
  CHECK(Json::parse(disk.Read("kept.json"))["sprites"].size() == kFirstSprites);
  Program next(&disk);
  next.controller.Start(Characters(5), false);
  CHECK(next.Count() == kFirstSprites);
}

TEST_CASE("controller › no character falls in at a first start with the person's own files") {
  Disk disk;
  Program program(&disk);
  program.controller.Start(Characters(5), true);
  CHECK(program.Count() == 0);
}

TEST_CASE("controller › makes no request before the state is on disk") {
  Disk disk;
  Program program(&disk, kRelay);
  disk.FailNext(2);
  program.controller.Start(Characters(1), false);
  program.Await([&] {
    const bool is_on_disk = !disk.Read("kept.json").empty();
    const bool has_asked = program.relay.HasSeen(Method::kPost, "/v1/desktops");
    REQUIRE((is_on_disk || !has_asked));
    return has_asked;
  });
}

TEST_CASE("controller › gives up its seat when the program ends") {
  Disk disk;
  Program program(&disk, kRelay);
  program.controller.Start(Characters(1), false);
  program.Await([&] { return IsConnected(&program); });
  program.controller.Leave([&] { program.Wait(); });
  CHECK(program.relay.HasSeen(Method::kDelete, "/v1/desktops/1a2b-3f"));
  CHECK(program.controller.desktop().HasLeft());
  CHECK(!Json::parse(disk.Read("kept.json")).contains("seat"));
}

TEST_CASE("controller › leaves in time although neither the relay nor the disk answers") {
  Disk disk;
  Program program(&disk, kRelay);
  program.controller.Start(Characters(1), false);
  program.Await([&] { return IsConnected(&program); });
  program.relay.Silence();
  disk.FailNext(1'000);
  program.controller.DropInAnySprite();
  const int64_t before_ms = program.NowMs();
  int waits = 0;
  program.controller.Leave([&] {
    program.added_ms += kLeaveMsMax / 8;
    waits++;
  });
  CHECK(program.NowMs() - before_ms >= kFarewellMsMax);
  CHECK(waits <= 8);
}

TEST_CASE("controller › a file becomes a sprite, or the person is told why not") {
  Disk disk;
  Program program(&disk);
  program.controller.Start({}, false);
  std::filesystem::create_directories(program.folder);
  const Bytes spr = TestSpr(7);
  std::ofstream(program.folder / "good.spr", std::ios::binary)
      .write(reinterpret_cast<const char*>(spr.data()), static_cast<std::streamsize>(spr.size()));
  std::ofstream(program.folder / "bad.txt") << "no picture";
  program.controller.Import({program.folder / "good.spr", program.folder / "bad.txt"});
  program.Await([&] { return program.Count() == 1 && !program.toasts.empty(); });
  CHECK(program.First().from_shelf);
  REQUIRE(program.toasts.size() == 1);
  CHECK(program.toasts[0].title.find("bad.txt") != std::string::npos);
}

// A photograph, as a BMP: a red square of 6 × 6 in the middle of 12 × 12 white pixels.
std::string Photograph() {
  std::string bmp("BM\xE6\x01\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x0C\0\0\0\x0C\0\0\0\1\0\x18\0", 30);
  bmp.resize(54);
  for (int at = 0; at < 144; at++) {
    const bool is_red = at % 12 >= 3 && at % 12 < 9 && at / 12 >= 3 && at / 12 < 9;
    bmp += is_red ? std::string("\0\0\xFF", 3) : "\xFF\xFF\xFF";
  }
  return bmp;
}

TEST_CASE("controller › a pack becomes a sprite when the person says that it may be passed on") {
  Disk disk;
  Program program(&disk);
  program.controller.Start({}, true);
  std::filesystem::create_directories(program.folder / "Dog/conf");
  const auto archive = FromBase64(ReadVectors(PACK_VECTORS)["packs"][0]["archive"]);
  std::ofstream(program.folder / "Cat.zip", std::ios::binary)
      .write(reinterpret_cast<const char*>(archive.data()), std::ssize(archive));
  program.controller.Import({program.folder / "Cat.zip"});
  program.Await([&] { return !program.asked.heading.empty(); });
  CHECK(program.asked.heading.starts_with("May others have Cat?"));
  CHECK(program.asked.text.ends_with("Left out, because sprites do no such thing: Dash."));
  CHECK(program.Count() == 0);
  CHECK(program.controller.cache()->Own().empty());
  program.say_yes({});
  program.Await([&] { return program.Count() == 1; });
  CHECK(program.First().name == "Cat");

  const Bytes picture = TestSpr(7);
  std::ofstream(program.folder / "Dog/shime1.png", std::ios::binary)
      .write(reinterpret_cast<const char*>(picture.data()), std::ssize(picture));
  std::ofstream(program.folder / "Dog/conf/actions.xml")
      << ReadVectors(PACK_VECTORS)["plans"][0]["xml"].get<std::string>();
  program.controller.Import({program.folder / "Dog" / ""});
  program.Await([&] { return program.asked.heading.starts_with("May others have Dog?"); });
  CHECK(program.toasts.empty());
}

TEST_CASE("controller › a photograph is cut out, and the person can have its background back") {
  Disk disk;
  Program program(&disk);
  Controller& controller = program.controller;
  controller.Start({}, true);
  std::filesystem::create_directories(program.folder);
  std::ofstream(program.folder / "cat.bmp", std::ios::binary) << Photograph();
  controller.Import({program.folder / "cat.bmp"});
  program.Await([&] { return program.Count() == 1 && !program.toasts.empty(); });
  CHECK(program.toasts[0].title == Say(Language::kEnglish, Text::kToastCut, {"cat"}));

  const auto shelf = [&] { return controller.desktop().look().shelf(); };
  const auto own = [&] { return controller.cache()->Own(); };
  const auto side = [&] { return shelf().front()->description.hitbox[2]; };
  const std::string cut = program.First().file;
  CHECK(side() == 4);  // without a pixel of the rim at each side
  controller.HandleSpriteChoice({MenuCommand::kSwapPicture}, Sprite(program.First()));
  const std::string kept = program.First().file;
  REQUIRE(shelf().size() == 1);
  CHECK(kept == shelf().front()->file);
  CHECK(side() == 12);
  CHECK(own() == std::vector{kept});
  program.Await([&] { return disk.Read("kept.json").find(kept) != std::string::npos; });

  controller.HandleSpriteChoice({MenuCommand::kSwapPicture}, Sprite(program.First()));
  CHECK(program.First().file == cut);
  CHECK(own() == std::vector{cut});
  CHECK(shelf().size() == 1);
  // One that has no other version stays as it is.
  controller.desktop().look().AddToShelf(ReadSheet(TestSpr(3)));
  const SpriteId other = controller.desktop().sprites().DropIn(shelf().back()->file, std::nullopt);
  const Sprite before = *controller.desktop().simulation().Find(other);
  controller.HandleSpriteChoice({MenuCommand::kSwapPicture}, before);
  CHECK(controller.desktop().simulation().Find(other)->file == before.file);
}

TEST_CASE("controller › carries out what the menus offer, and leaves the windows to the shell") {
  Disk disk;
  Program program(&disk);
  Controller& controller = program.controller;
  controller.Start(Characters(3), false);
  controller.HandleChoice({.command = MenuCommand::kSwitch, .member = &Settings::quiet});
  CHECK(!controller.desktop().settings().quiet);
  controller.HandleChoice({MenuCommand::kScale, 150});
  CHECK(controller.desktop().settings().scale == 1.5);
  program.Await([&] { return ReadSettings(disk.Read("settings.json")).scale == 1.5; });

  const Sprite first = program.First();
  controller.HandleSpriteChoice({MenuCommand::kHide}, first);
  CHECK(controller.desktop().look().IsHidden(first.file));
  controller.HandleChoice({MenuCommand::kShowHidden});
  CHECK(!controller.desktop().look().IsHidden(first.file));
  controller.HandleSpriteChoice({MenuCommand::kPutAway}, first);
  CHECK(program.Count() == 2);

  controller.HandleChoice({MenuCommand::kHowToPlay});
  CHECK(program.asked.heading.starts_with("How to play"));
  controller.HandleChoice({MenuCommand::kAbout});
  CHECK(program.asked.heading.starts_with("Sprites " SPRITES_VERSION));
  CHECK(program.opened.empty());

  const std::vector<MenuCommand> windows = {MenuCommand::kSettings, MenuCommand::kSay,
                                            MenuCommand::kQuit};
  for (const MenuCommand command : windows) {
    controller.HandleChoice({command});
  }
  CHECK(program.opened == windows);
  controller.HandleSpriteChoice({MenuCommand::kReport}, program.First());
  CHECK(program.asked.heading == Say(Language::kEnglish, Text::kReportHeading));
  CHECK(program.asked.text.find(program.First().name) != std::string::npos);
  const std::string file = program.First().file;
  CHECK(program.say_yes({{"It is rude."}, false}).empty());
  CHECK(controller.desktop().settings().hidden.empty());
  CHECK(program.say_yes({{""}, true}).empty());
  CHECK(controller.desktop().settings().hidden == std::vector{file});
}

TEST_CASE("controller › closes after a question, and without one once the person has ticked that") {
  Disk disk;
  Program program(&disk);
  Controller& controller = program.controller;
  Settings settings = controller.desktop().settings();
  settings.ask_before_closing = true;
  controller.ApplySettings(settings);
  controller.Close();
  CHECK(program.asked.heading == Say(Language::kEnglish, Text::kAskCloseHeading));
  CHECK(program.opened.empty());
  program.say_yes({{}, false});
  CHECK(program.opened == std::vector{MenuCommand::kQuit});
  CHECK(controller.desktop().settings().ask_before_closing);
  program.say_yes({{}, true});
  CHECK(!controller.desktop().settings().ask_before_closing);
  program.opened.clear();
  program.asked = {};
  controller.Close();
  CHECK(program.asked.heading.empty());
  CHECK(program.opened == std::vector{MenuCommand::kQuit});
}

TEST_CASE("controller › a choice in a list of sprites is carried out by the chosen one") {
  Disk disk;
  Program program(&disk);
  Controller& controller = program.controller;
  controller.Start(Characters(3), false);
  const Sprite first = program.First();
  const SpriteId last = controller.desktop().simulation().sprites().back().id;
  const MenuChoice away{MenuCommand::kPutAway, 0, {}, false, last};
  controller.HandleSpriteChoice(away, first);
  CHECK(program.Count() == 2);
  CHECK(controller.desktop().simulation().Find(last) == nullptr);
  controller.HandleChoice(away);  // it has left
  CHECK(program.Count() == 2);
}

TEST_CASE("controller › follows a link at once, or lets the shell ask first") {
  Disk disk;
  Program nowhere(&disk);
  nowhere.controller.OpenLink("nonsense with spaces");
  nowhere.controller.Turn();
  CHECK(nowhere.toasts.size() == 1);
  nowhere.controller.FollowLink({"", "", "7.ff"});
  CHECK(nowhere.asked.heading == Say(Language::kEnglish, Text::kLinkWelcome));
  CHECK(nowhere.asked.fields.at(0).text == "7.ff");
  CHECK(nowhere.asked.note("7.ff").is_error == false);
  CHECK(nowhere.say_yes({{"no link", ""}, false}) == Say(Language::kEnglish, Text::kLinkWrong));
  nowhere.controller.FollowLink({"http://other.example", "", ""});
  CHECK(nowhere.controller.desktop().settings().relay == "http://other.example");

  Program somewhere(&disk, kRelay);
  somewhere.controller.FollowLink({"http://other.example", "", ""});
  CHECK(somewhere.asked_about == "http://other.example");
  CHECK(somewhere.controller.desktop().settings().relay == kRelay);
  somewhere.controller.FollowLink({"", "", "7.ff"});
  CHECK(somewhere.controller.desktop().settings().beside == "7.ff");
}

TEST_CASE(
    "controller › goes where an entered link leads, under the entered name, or says why not") {
  Disk disk;
  Program program(&disk);
  Controller& controller = program.controller;
  const std::string invitation = "7a.00112233445566778899aabbccddeeff";
  CHECK(controller.GoTo("no link", "Ada") == Say(Language::kEnglish, Text::kLinkWrong));
  CHECK(controller.GoTo(invitation, "Ada") == Say(Language::kEnglish, Text::kLinkNeedsRelay));
  CHECK(controller.desktop().settings().name.empty());
  CHECK(controller.GoTo("http://relay.example:8080/#world=garden", "Ada").empty());
  CHECK(controller.desktop().settings().relay == kRelay);
  CHECK(controller.desktop().settings().world == "garden");
  CHECK(controller.desktop().settings().name == "Ada");
  program.Await([&] { return ReadSettings(disk.Read("settings.json")).name == "Ada"; });

  // A picture of a gallery changes neither relay nor world, but the name is kept too.
  const std::string take = "http://other.example/#take=" + std::string(64, 'a') + "&name=Biscuit";
  CHECK(controller.GoTo(take, "Grace").empty());
  CHECK(controller.desktop().settings().relay == kRelay);
  CHECK(controller.desktop().settings().world == "garden");
  program.Await([&] { return ReadSettings(disk.Read("settings.json")).name == "Grace"; });
  CHECK(controller.GoTo(invitation, "Ada").empty());
  CHECK(controller.desktop().settings().relay == kRelay);
  CHECK(controller.desktop().settings().beside == invitation);
}

TEST_CASE(
    "controller › a name that the relay has chosen is edited, and stays the relay's as it is") {
  Disk disk;
  Program program(&disk, kRelay);
  Controller& controller = program.controller;
  controller.Start({}, true);
  CHECK(OwnName(controller.desktop()).empty());
  program.Await([&] { return IsConnected(&program); });
  CHECK(OwnName(controller.desktop()) == "Golden Bee");
  Settings settings = controller.desktop().settings();
  settings.name = "Golden Bee";
  controller.ApplySettings(settings);
  CHECK(controller.desktop().settings().name.empty());
  settings.name = "Ada";
  controller.ApplySettings(settings);
  CHECK(OwnName(controller.desktop()) == "Ada");
  settings.name = "";
  controller.ApplySettings(settings);
  CHECK(controller.desktop().settings().name.empty());
}

TEST_CASE("controller › plays a sample at a new volume, unless sounds are off") {
  Disk disk;
  Program program(&disk);
  Controller& controller = program.controller;
  controller.HandleChoice({MenuCommand::kVolume, 25});
  controller.HandleChoice({MenuCommand::kVolume, 25});
  REQUIRE(program.played.size() == 1);
  CHECK(program.played[0] == SamplesOf(Sound::kArrive, 25));
  controller.HandleChoice({MenuCommand::kVolume, 0});
  controller.HandleChoice({.command = MenuCommand::kSwitch, .member = &Settings::sound});
  controller.HandleChoice({MenuCommand::kVolume, 75});
  CHECK(program.played.size() == 1);
}

TEST_CASE("controller › plays the person's own sounds, and says what is wrong with one") {
  Disk disk;
  Program program(&disk);
  Controller& controller = program.controller;
  controller.HandleChoice({MenuCommand::kOpenSounds});
  CHECK(program.shown_folder == program.folder / "sounds");
  CHECK(std::filesystem::is_directory(program.shown_folder));
  controller.Turn();
  REQUIRE(program.toasts.size() == 1);
  CHECK(program.toasts[0].text == Say(Language::kEnglish, Text::kToastSoundsText));

  std::ofstream(program.shown_folder / "arrive.wav", std::ios::binary)
      << WaveFile(std::vector<int16_t>{32'767});
  controller.HandleChoice({MenuCommand::kVolume, 25});
  REQUIRE(program.played.size() == 1);
  CHECK(program.played[0] == std::vector<int16_t>{25 * kTonePeak});
  std::ofstream(program.shown_folder / "arrive.wav", std::ios::binary) << "Dear Grace,";
  controller.HandleChoice({MenuCommand::kVolume, 75});
  CHECK(program.played.back() == SamplesOf(Sound::kArrive, 75));
  REQUIRE(program.toasts.size() == 2);
  CHECK(program.toasts[1].title.find("arrive.wav") != std::string::npos);
  CHECK(program.toasts[1].text == Say(Language::kEnglish, Text::kSoundKind));

  program.can_open = false;
  program.added_ms += kToastMsMin;
  controller.Turn();
  controller.HandleChoice({MenuCommand::kOpenSounds});
  controller.Turn();
  CHECK(program.toasts.back().text.ends_with(program.shown_folder.string()));
}

TEST_CASE("controller › says how to end that clicks go through sprites, and greets nobody then") {
  for (const bool has_icon : {true, false}) {
    Disk disk;
    Program program(&disk, "", false);
    program.has_icon = has_icon;
    Controller& controller = program.controller;
    controller.Start(Characters(3), false);
    const auto entry = [&]() -> std::optional<MenuItem> {
      const Menu menu = ProgramMenu(controller.desktop());
      const auto found = std::ranges::find(menu, Say(Language::kEnglish, Text::kMenuClickThrough),
                                           &MenuItem::text);
      return found == menu.end() ? std::nullopt : std::optional(*found);
    };
    CHECK(!entry());
    controller.HandleChoice(
        {.command = MenuCommand::kSwitch, .is_on = true, .member = &Settings::click_through});
    CHECK(controller.desktop().settings().click_through);
    program.added_ms += kFirstBubbleMs;
    CHECK(!controller.BubbleIn(controller.Turn()));
    REQUIRE(program.toasts.size() == 1);
    CHECK(program.toasts[0].text ==
          Say(Language::kEnglish,
              has_icon ? Text::kToastClickThroughText : Text::kToastClickThroughTextNoIcon));
    controller.ApplySettings(controller.desktop().settings());
    program.added_ms += kToastMsMin;
    controller.Turn();
    CHECK(program.toasts.size() == 1);  // it was on before
    REQUIRE(entry());
    CHECK(entry()->is_checked);
    controller.HandleChoice(entry()->choice);
    CHECK(!controller.desktop().settings().click_through);
    controller.BubbleIn(controller.Turn());
    program.added_ms += kFirstBubbleMs;
    CHECK(controller.BubbleIn(controller.Turn()));
  }
}

TEST_CASE("controller › says how all sprites are shown again when the menu has hidden them") {
  for (const bool has_icon : {true, false}) {
    for (const bool has_key : {true, false}) {
      Disk disk;
      Program program(&disk);
      program.has_icon = has_icon;
      program.controller.desktop().SetHasHideKey(has_key);
      program.controller.HandleChoice({MenuCommand::kHideAll, 0, {}, true});
      REQUIRE(program.toasts.size() == 1);
      CHECK(program.toasts[0].text ==
            (has_key    ? "Ctrl+Alt+Shift+H shows them again, wherever you type."
             : has_icon ? "The menu of the icon by the clock shows them again."
                        : "Start Sprites once more to see them again."));
      program.controller.HandleChoice({MenuCommand::kHideAll, 0, {}, false});
      CHECK(program.toasts.size() == 1);
    }
  }
}

TEST_CASE("controller › says which neighbour is muted, and nothing of one that is heard again") {
  Disk disk;
  Program program(&disk);
  const Neighbour bob{"9-3e", "Bob"};
  program.controller.HandleChoice({MenuCommand::kMute, 0, bob, false});
  CHECK(!program.controller.desktop().guests().IsMuted(bob));
  program.controller.Turn();
  CHECK(program.toasts.empty());
  program.controller.HandleChoice({MenuCommand::kMute, 0, bob, true});
  CHECK(program.controller.desktop().guests().IsMuted(bob));
  program.controller.Turn();
  REQUIRE(program.toasts.size() == 1);
  CHECK(program.toasts[0].title.find("Bob") != std::string::npos);
}

TEST_CASE("controller › copies the link that invites a friend, or says why not") {
  Disk disk;
  Program alone(&disk);
  alone.controller.HandleChoice({MenuCommand::kInvite});
  alone.controller.Turn();
  REQUIRE(alone.toasts.size() == 1);
  CHECK(alone.copied.empty());

  for (const bool can_copy : {true, false}) {
    Program program(&disk, kRelay);
    program.can_copy = can_copy;
    program.controller.Start({}, true);
    program.Await([&] { return IsConnected(&program); });
    program.controller.HandleChoice({MenuCommand::kInvite});
    CHECK(program.copied ==
          (can_copy ? program.controller.desktop().relay().InvitationLink() : ""));
    CHECK((program.copied.find("&from=Golden%20Bee") != std::string::npos) == can_copy);
    program.controller.Turn();
    REQUIRE(!program.toasts.empty());
    CHECK(program.toasts.back().title ==
          Say(Language::kEnglish, can_copy ? Text::kToastInvited : Text::kToastNotCopied));
  }
}

TEST_CASE("controller › saves a picture of the sprites, and an animation that names the relay") {
  Disk disk;
  Program program(&disk, kRelay);
  Controller& controller = program.controller;
  controller.Start(Characters(3), false);
  controller.desktop().sprites().SetClock({0, 0});
  controller.Turn();
  controller.HandleChoice({MenuCommand::kPhotograph});
  controller.HandleChoice({MenuCommand::kAnimation});  // the one before is not done
  program.Await([&] { return program.toasts.size() == 2; });
  controller.HandleChoice({MenuCommand::kAnimation});
  program.Await([&] { return program.toasts.size() == 3; });
  const auto saved = std::ranges::find(program.toasts, Say(Language::kEnglish, Text::kToastPicture),
                                       &Toast::title);
  REQUIRE(saved != program.toasts.end());
  CHECK(saved->opens == program.folder / "Pictures" / "Sprites 1970-01-01 00.00.00.png");
  CHECK(saved->text == saved->opens.string());
  const std::string png = disk.Read("Sprites 1970-01-01 00.00.00.png");
  CHECK(DecodePicture(AsBytes(png)).frames.size() == 1);
  const std::string gif = disk.Read("Sprites 1970-01-01 00.00.00.gif");
  const Picture animation = DecodePicture(AsBytes(gif));
  CHECK(animation.width >= 200);  // of the label
  CHECK(program.painted_texts == std::vector<std::string>{HostOf(kRelay)});
}

TEST_CASE("controller › says why there is no picture") {
  Disk disk;
  Program program(&disk);
  Controller& controller = program.controller;
  controller.Start(Characters(3), false);
  controller.desktop().Hide(true);
  controller.Turn();
  controller.HandleChoice({MenuCommand::kPhotograph});
  program.Await([&] { return !program.toasts.empty(); });
  CHECK(program.toasts[0].title == Say(Language::kEnglish, Text::kToastNoPicture));
  CHECK(program.toasts[0].text == Say(Language::kEnglish, Text::kPhotographNothing));
  CHECK(program.toasts[0].opens.empty());
}

TEST_CASE("controller › copies the diagnostics of this machine") {
  Disk disk;
  Program program(&disk);
  program.controller.HandleChoice({MenuCommand::kDiagnostics});
  const std::string before = program.copied;
  program.added_ms = 7'200'000;
  program.controller.HandleChoice({MenuCommand::kDiagnostics});
  CHECK(program.copied.find("Testix 1") != std::string::npos);
  CHECK(program.copied != before);
}

TEST_CASE(
    "controller › carries out what the person does with a sprite, and asks for what needs a "
    "window") {
  Disk disk;
  Program program(&disk);
  Controller& controller = program.controller;
  controller.Start(Characters(3), false);
  const Crowd& sprites = controller.desktop().sprites();
  const SpriteId id = program.First().id;
  const Point before{program.First().x, program.First().y};
  program.turns_requested = 0;
  controller.Grabbed(id, before, 0);
  CHECK(controller.desktop().simulation().held() == id);
  controller.KeysLost();  // a drag does not end the steering of another one
  controller.Dragged({before.x + 50, before.y}, 20);
  controller.Released(40);
  CHECK(controller.desktop().simulation().held() == kNobody);
  CHECK(program.turns_requested == 3);
  controller.Clicked(id);
  CHECK(sprites.selected() == id);
  controller.KeysLost();
  CHECK(sprites.selected() == kNobody);
  controller.Stepped(false);
  CHECK(program.has_keys != kNobody);

  controller.RightClicked(id + 100, before);  // it has left
  CHECK(program.has_menu == kNobody);
  controller.RightClicked(id, before);
  CHECK(program.has_menu == id);
  CHECK(program.closed == 0);
  controller.DoubleClicked();
  CHECK(program.closed == 1);

  controller.Dropped({});
  controller.Turn();
  REQUIRE(program.toasts.size() == 1);
  CHECK(program.toasts[0].title == Say(Language::kEnglish, Text::kToastNoFile));
}

TEST_CASE("controller › the sprite that has the keys says what they do, until that is dismissed") {
  Disk disk;
  Program program(&disk);
  Controller& controller = program.controller;
  controller.Start(Characters(3), false);
  const SpriteId last = controller.desktop().simulation().sprites().back().id;
  controller.Steer(last + 100);
  CHECK(program.has_keys == kNobody);
  controller.Steer(last);
  CHECK(program.has_keys == last);
  const auto said = controller.BubbleIn(controller.Turn());
  REQUIRE(said);
  CHECK(said->id == last);
  CHECK(said->text == controller.desktop().sprites().KeysHint());
  controller.DismissBubble();
  CHECK(!controller.BubbleIn(controller.Turn()));
}

TEST_CASE("controller › the first sprite greets the person, and the settings remember that") {
  Disk disk;
  Program program(&disk, "", false);
  Controller& controller = program.controller;
  controller.Start(Characters(3), false);
  CHECK(!controller.BubbleIn(controller.Turn()));
  program.added_ms += kFirstBubbleMs;
  const auto said = controller.BubbleIn(controller.Turn());
  REQUIRE(said);
  CHECK(said->id == program.First().id);
  const Monitor& monitor = controller.desktop().simulation().screen().monitors().front();
  const DrawnSprite& sprite = controller.Turn().sprites.front();
  CHECK(said->post.room == monitor.work);
  CHECK(said->post.sprite->top == sprite.y);
  CHECK(said->post.sprite->bottom == sprite.y + sprite.height);
  for (int step = 0; step < 3; step++) {  // without a relay it has no name to tell
    CHECK(controller.BubbleIn(controller.Turn()));
    CHECK(!controller.desktop().settings().greeted);
    controller.DismissBubble();
  }
  CHECK(!controller.BubbleIn(controller.Turn()));
  CHECK(controller.desktop().settings().greeted);
}

TEST_CASE("controller › a sprite that sleeps does not greet the person; one that is awake does") {
  Disk disk;
  Program program(&disk, "", false);
  Controller& controller = program.controller;
  controller.Start(Characters(1), false);
  for (int turn = 0; turn < 10'000 && program.First().mode != Mode::kSleep; turn++) {
    program.added_ms += 100;
    controller.Turn();
  }
  REQUIRE(program.First().mode == Mode::kSleep);
  controller.BubbleIn(controller.Turn());
  program.added_ms += kFirstBubbleMs;
  CHECK(!controller.BubbleIn(controller.Turn()));
  controller.DropInAnySprite();
  const auto said = controller.BubbleIn(controller.Turn());
  REQUIRE(said);
  CHECK(said->id != program.First().id);
}

}  // namespace
}  // namespace sprites
