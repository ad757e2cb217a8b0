// Sprites for X11.
//   sprites [options] [FILE … | LINK]
//
// Files are imported: .spr files or pictures. A second instance sends its files or its link to the
// first and ends. Exit codes: 0 success, 1 failure, 2 misused.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "core/desktop/version.h"
#include "core/relay/relay_link.h"
#include "x11/shell.h"
#include "x11/system/data_folder.h"
#include "x11/system/desktop_entry.h"
#include "x11/system/single_instance.h"

namespace sprites {

namespace {

constexpr int kFailed = 1;
constexpr int kMisused = 2;

constexpr char kHelp[] = R"(Usage: sprites [options] [FILE … | LINK]

Throw a sprite off the edge of your desktop, and it lands on your neighbour's.
FILE: .spr files or pictures (PNG, JPEG, GIF, BMP) that become sprites.
LINK: the address of a relay's page, or the link that a friend has sent.

  --relay URL              go to this relay, without a question
  --name TEXT              what your neighbours see
  --link LINK              open a link, as desktops do with sprites: links
  --menu                   open the menu of the running program; bind it to a key of your desktop
  --hide                   hide all sprites of the running program, or show them; for a key too
  --install-desktop-entry  put Sprites into the menus of your desktop, and end
  --version                print the version, and end
  -h, --help               this text

Right-click a sprite for the menu. Settings are in $XDG_CONFIG_HOME/sprites, your sprites
in $XDG_DATA_HOME/sprites.
)";

struct CommandLine {
  ShellOptions options;
  Arguments arguments;
  bool installs_entry = false;
};

bool IsLink(std::string_view word) {
  return word.starts_with("sprites:") || word.starts_with("http://") ||
         word.starts_with("https://");
}

// Parses the command line. Prints why and returns nothing when it is invalid.
std::optional<CommandLine> ReadCommandLine(int count, char** words) {
  CommandLine line;
  const auto misuse = [](const std::string& why) {
    fprintf(stderr, "%s\n%s", why.c_str(), kHelp);
    return std::nullopt;
  };
  for (int i = 1; i < count; i++) {
    const std::string word = words[i];
    const bool takes_value = word == "--relay" || word == "--name" || word == "--link";
    if (takes_value && i + 1 == count) {
      // A desktop opens the entry without a link: it has none to give.
      if (word == "--link") {
        break;
      }
      return misuse(word + " needs a value.");
    }
    if (word == "--relay") {
      const auto link = ReadRelayLink(words[++i]);
      if (!link || link->relay.empty()) {
        return misuse("--relay needs the address of a relay, such as https://relay.example.");
      }
      line.options.relay = link->relay;
    } else if (word == "--name") {
      line.options.name = words[++i];
    } else if (word == "--link") {
      line.arguments.link = words[++i];
    } else if (word == "--menu") {
      line.arguments.opens_menu = true;
    } else if (word == "--hide") {
      line.arguments.hides = true;
    } else if (word == "--install-desktop-entry") {
      line.installs_entry = true;
    } else if (word.starts_with('-')) {
      return misuse("There is no option " + word + ".");
    } else if (IsLink(word)) {
      line.arguments.link = word;
    } else if (line.arguments.paths.size() < kSentPathsMax) {
      // Absolute, because the first instance may have to read it.
      std::error_code failed;
      const auto path = std::filesystem::absolute(word, failed);
      line.arguments.paths.push_back(failed ? word : path.string());
    }
  }
  return line;
}

int Main(int count, char** words) {
  const std::string_view first = count > 1 ? words[1] : "";
  if (first == "--help" || first == "-h") {
    fputs(kHelp, stdout);
    return 0;
  }
  if (first == "--version") {
    puts("Sprites " SPRITES_VERSION_WORDS);
    return 0;
  }
  const auto line = ReadCommandLine(count, words);
  if (!line) {
    return kMisused;
  }
  const Folders folders = FindFolders();
  if (line->installs_entry) {
    const auto program = std::filesystem::canonical("/proc/self/exe");
    fputs(InstallDesktopEntry(folders.shared, program).c_str(), stdout);
    return 0;
  }
  SingleInstance instance(folders.data);
  Arguments sent = line->arguments;
  if (!sent.link && !line->options.relay.empty()) {
    sent.link = line->options.relay;
  }
  const StartOutcome outcome = instance.Start(sent);
  if (outcome == StartOutcome::kFailed) {
    fputs("Another Sprites is running, and does not answer.\n", stderr);
    return kFailed;
  }
  if (outcome == StartOutcome::kIsFirst) {
    Shell(folders, line->options, &instance).Run(line->arguments);
  }
  return 0;
}

}  // namespace

}  // namespace sprites

int main(int count, char** words) {
  try {
    return sprites::Main(count, words);
  } catch (const std::exception& broken) {
    fprintf(stderr, "sprites: %s\n", broken.what());
    return 1;
  }
}
