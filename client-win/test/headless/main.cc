// A desktop without a screen: it reads commands from stdin and prints what happens to stdout.
//
// The core is that of the Windows client, and the relay is real; monitors, windows, pointer and
// keys are what the commands say. Exit 0 after `quit` or at the end of stdin, 1 on failure, 2
// misused.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>

#include "core/app/controller.h"
#include "core/text/json.h"
#include "posix/curl_transport.h"
#include "posix/files.h"
#include "posix/photo.h"
#include "posix/wake_event.h"
#include "test/headless/command.h"

namespace sprites {

namespace {

constexpr int kFrameMs = 16;  // ms between two ticks while something moves

constexpr char kHelp[] = R"(Usage: headless-desktop [options]

  --relay URL          default http://localhost:8080
  --name TEXT          what neighbours see
  --world TEXT         a private world
  --near INVITATION    join next to a friend
  --accept WHOSE       whose pictures are shown: bundled, friends, everybody (default)
  --sprites-most N     sprites at once; default 150
  --folder PATH        where files and sprites are kept; default: a new one, removed at the end
  --seed N             of the random numbers
  -h, --help           this text

)";

struct Options {
  Settings settings;
  std::filesystem::path folder;
  uint64_t seed = std::random_device{}();
};

// Parses the command line. Prints why and returns nothing when it is invalid.
std::optional<Options> ReadOptions(int count, char** words) {
  Options options;
  Json settings = {{"relay", kRelayDefault}};
  for (int i = 1; i < count; i += 2) {
    const std::string flag = words[i];
    if (i + 1 == count) {
      fprintf(stderr, "%s needs a value.\n%s", flag.c_str(), kHelp);
      return std::nullopt;
    }
    const std::string value = words[i + 1];
    const std::map<std::string, const char*> texts = {{"--relay", "relay"},
                                                      {"--name", "name"},
                                                      {"--world", "world"},
                                                      {"--near", "near"},
                                                      {"--accept", "accept"}};
    if (const auto text = texts.find(flag); text != texts.end()) {
      settings[text->second] = value;
    } else if (flag == "--sprites-most") {
      settings["spritesMost"] = std::atoi(value.c_str());
    } else if (flag == "--folder") {
      options.folder = value;
    } else if (flag == "--seed") {
      options.seed = std::strtoull(value.c_str(), nullptr, 10);
    } else {
      fprintf(stderr, "There is no option %s.\n%s", flag.c_str(), kHelp);
      return std::nullopt;
    }
  }
  std::optional<Reason> complaint;
  options.settings = ReadSettings(settings.dump(), &complaint);
  if (complaint) {
    fprintf(stderr, "%s\n", Say(Language::kEnglish, *complaint).c_str());
    return std::nullopt;
  }
  return options;
}

void Print(const Json& value) {
  const std::string line = WriteJson(value) + "\n";
  fwrite(line.data(), 1, line.size(), stdout);
  fflush(stdout);
}

class Headless : private Host {
 public:
  explicit Headless(const Options& options)
      : controller_({.files = SystemFiles(),
                     .kept = options.folder / "kept.json",
                     .settings = options.folder / "settings.json",
                     .pictures = options.folder / "files",
                     .sounds = options.folder / "sounds",
                     .photographs = options.folder / "photographs",
                     .transport = &transport_,
                     .decode = [](std::span<const uint8_t> bytes) { return DecodePhoto(bytes); },
                     .wake = [this] { wake_.Wake(); },
                     // Those of the command line, whatever the last run has saved.
                     .complete = [&](const Settings&) { return options.settings; },
                     .random =
                         [engine = std::mt19937_64(options.seed)]() mutable {
                           return std::uniform_real_distribution<double>(0, 1)(engine);
                         }},
                    this),
        desktop_(controller_.desktop()) {
    const Rect all{0, 0, 800, 600};
    desktop_.look().SetMonitors(std::vector<Monitor>{{all, all, 1, true}});
    controller_.Start({}, true);
    if (const std::string complaint = Complaints({&controller_.kept_file()}, Language::kEnglish);
        !complaint.empty()) {
      Print({{"toast", Say(Language::kEnglish, Text::kToastOwnFile)}, {"text", complaint}});
    }
    for (const Sprite& sprite : desktop_.simulation().sprites()) {
      known_.insert(sprite.id);
    }
  }

  void Run() {
    while (!quits_) {
      Wait();
      ReadCommands();
      Turn();
    }
    controller_.Leave([this] {
      wake_.Clear();
      pollfd rung{wake_.fd(), POLLIN, 0};
      poll(&rung, 1, kFrameMs);
    });
  }

 private:
  void ShowToast(const Toast& toast) override {
    Print({{"toast", toast.title}, {"text", toast.text}});
  }
  // It has no sounds, no clipboard and no windows.
  void RequestTurn() override {}
  void Play(std::vector<int16_t>) override {}
  bool Copy(const std::string&) override { return false; }
  bool GiveKeysTo(const Sprite&) override { return false; }
  Machine DescribeMachine() const override { return {}; }
  void OpenWindow(MenuCommand) override {}
  void AskAboutLink(const RelayLink&) override {}

  int64_t NowMs() const override {
    const auto passed = std::chrono::steady_clock::now() - start_;
    return std::chrono::duration_cast<std::chrono::milliseconds>(passed).count();
  }

  void Wait() {
    pollfd sources[] = {{STDIN_FILENO, POLLIN, 0}, {wake_.fd(), POLLIN, 0}};
    poll(sources, 2, std::max(kFrameMs, static_cast<int>(idle_ms_)));
    wake_.Clear();
    if ((sources[0].revents & (POLLIN | POLLHUP)) != 0) {
      char bytes[4096];
      const ssize_t size = read(STDIN_FILENO, bytes, sizeof bytes);
      quits_ = size == 0;
      unread_.append(bytes, static_cast<size_t>(std::max<ssize_t>(size, 0)));
    }
  }

  void ReadCommands() {
    for (size_t end; (end = unread_.find('\n')) != std::string::npos && !quits_;) {
      const std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      if (line == "look") {
        Print(DescribeDesktop(desktop_, desktop_.Tick(NowMs())));
      } else if (const Json said = RunCommand(line, &desktop_, controller_.cache(), &quits_);
                 !said.is_null()) {
        Print(said);
      }
    }
  }

  void Turn() {
    // It is always noon, so that no sprite is tired.
    const int64_t now = std::time(nullptr);
    desktop_.sprites().SetClock({now, now - now % 86'400 + 43'200});
    idle_ms_ = controller_.Turn().idle_ms;
    PrintChanges();
    PrintSpeech();
    if (link_ != desktop_.relay().link()) {
      link_ = desktop_.relay().link();
      constexpr const char* kLinks[] = {"joining", "connected", "broken"};
      Print({{"link", kLinks[static_cast<size_t>(link_)]}});
    }
  }

  void PrintChanges() {
    std::set<SpriteId> now;
    for (const Sprite& sprite : desktop_.simulation().sprites()) {
      now.insert(sprite.id);
      if (!known_.contains(sprite.id)) {
        Print({{"came", sprite.id},
               {"name", sprite.name},
               {"x", sprite.x},
               {"y", sprite.y},
               {"vx", sprite.vx},
               {"vy", sprite.vy},
               {"height", sprite.nature.height}});
      }
    }
    for (const SpriteId id : known_) {
      if (!now.contains(id)) {
        Print({{"went", id}});
      }
    }
    known_ = std::move(now);
  }

  // What was heard, and what became of what was said.
  void PrintSpeech() {
    const Conversation& conversation = desktop_.talk().conversation();
    for (const HeardLine& line : conversation.history()) {
      if (line.id <= last_line_) {
        continue;
      }
      last_line_ = line.id;
      Print(line.missed > 0 ? Json{{"missed", line.missed}}
                            : Json{{"heard", line.saying.text},
                                   {"from", line.saying.from.name},
                                   {"isOwn", line.is_own}});
    }
    if (desktop_.talk().speech().note != note_) {
      note_ = desktop_.talk().speech().note;
      Print({{"note", note_}});
    }
  }

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  WakeEvent wake_;
  CurlTransport transport_;
  Controller controller_;
  Desktop& desktop_;  // of the controller
  std::set<SpriteId> known_;
  std::string unread_;
  Link link_ = Link::kJoining;
  uint64_t last_line_ = 0;  // of the history, that was printed
  std::string note_;
  double idle_ms_ = 0;
  bool quits_ = false;
};

int Main(int count, char** words) {
  const bool wants_help = count > 1 && (!strcmp(words[1], "--help") || !strcmp(words[1], "-h"));
  if (wants_help) {
    printf("%s%s", kHelp, kCommandsHelp);
    return 0;
  }
  auto options = ReadOptions(count, words);
  if (!options) {
    return 2;
  }
  const bool is_passing = options->folder.empty();
  if (is_passing) {
    std::string name = (std::filesystem::temp_directory_path() / "sprites-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      perror(name.c_str());
      return 1;
    }
    options->folder = name;
  }
  Headless(*options).Run();
  if (is_passing) {
    std::error_code failed;
    std::filesystem::remove_all(options->folder, failed);
  }
  return 0;
}

}  // namespace

}  // namespace sprites

int main(int count, char** words) {
  try {
    return sprites::Main(count, words);
  } catch (const std::exception& broken) {
    fprintf(stderr, "headless-desktop: %s\n", broken.what());
    return 1;
  }
}
