#include "x11/system/desktop_entry.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/picture/picture.h"
#include "posix/files.h"

namespace sprites {

namespace {

constexpr int kIconSide = 64;  // px
constexpr char kEntryName[] = "sprites.desktop";

// A word of the key Exec: in quotes, with what is special in them escaped, twice where the file's
// own escapes come in between.
std::string Quoted(std::string_view word) {
  std::string text = "\"";
  for (const char letter : word) {
    if (letter == '"' || letter == '`' || letter == '$') {
      text += "\\\\";
    } else if (letter == '\\') {
      text += "\\\\\\";
    } else if (letter == '%') {
      text += '%';
    }
    text += letter;
  }
  return text + "\"";
}

// The first cell of a character as a square picture.
Bytes IconOf(const Sheet& sheet) {
  const int width = sheet.description.frame_width;
  const int height = sheet.description.frame_height;
  const int zoom = std::max(1, kIconSide / std::max(width, height));
  const int left = (kIconSide - width * zoom) / 2;
  const int top = (kIconSide - height * zoom) / 2;
  const int cell = CellOf(sheet.description, Mode::kIdle, 0);
  Bytes rgba(size_t{4} * kIconSide * kIconSide);
  for (int y = 0; y < height * zoom; y++) {
    for (int x = 0; x < width * zoom; x++) {
      const int from_x = cell % sheet.Columns() * width + x / zoom;
      const int from_y = cell / sheet.Columns() * height + y / zoom;
      const int to_x = left + x;
      const int to_y = top + y;
      if (to_x < 0 || to_y < 0 || to_x >= kIconSide || to_y >= kIconSide) {
        continue;
      }
      const uint8_t* pixel = &sheet.rgba[4 * (static_cast<size_t>(from_y) * sheet.width + from_x)];
      std::copy_n(pixel, 4, &rgba[4 * (static_cast<size_t>(to_y) * kIconSide + to_x)]);
    }
  }
  constexpr char kDescription[] =
      R"({"format":"spr/1","name":"Sprites","frame":{"width":64,"height":64},)"
      R"("animations":{"idle":{"frames":[0],"fps":1}}})";
  return WriteSheet(kIconSide, kIconSide, rgba, kDescription);
}

void WriteFile(const std::filesystem::path& path, std::string_view text) {
  std::error_code failed;
  std::filesystem::create_directories(path.parent_path(), failed);
  if (!WriteFileAtomically(path, text)) {
    throw std::runtime_error("Can't write " + path.string() + ".");
  }
}

// Runs a program and waits for it. Returns whether it has succeeded.
bool Run(std::initializer_list<const char*> words) {
  std::vector<char*> argv;
  for (const char* word : words) {
    argv.push_back(const_cast<char*>(word));
  }
  argv.push_back(nullptr);
  pid_t child = 0;
  int status = 0;
  return posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ) == 0 &&
         waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

std::string DesktopEntry(const std::filesystem::path& program) {
  return "[Desktop Entry]\n"
         "Type=Application\n"
         "Version=1.5\n"
         "Name=Sprites\n"
         "Comment=Throw a sprite off the edge of your desktop onto your neighbour's\n"
         "Comment[de]=Wirf eine Figur über den Rand auf den Desktop nebenan\n"
         "Exec=" +
         Quoted(program.string()) +
         " --link %u\n"
         "Icon=sprites\n"
         "Terminal=false\n"
         "Categories=Game;Amusement;\n"
         "MimeType=x-scheme-handler/sprites;\n"
         "Actions=menu;\n"
         "\n"
         "[Desktop Action menu]\n"
         "Name=Open the menu\n"
         "Name[de]=Menü öffnen\n"
         "Exec=" +
         Quoted(program.string()) + " --menu\n";
}

std::string InstallDesktopEntry(const std::filesystem::path& shared,
                                const std::filesystem::path& program, const SheetPointer& icon) {
  const std::filesystem::path entry = shared / "applications" / kEntryName;
  const std::filesystem::path picture = shared / "icons/hicolor/64x64/apps/sprites.png";
  const Bytes png = IconOf(*icon);
  WriteFile(picture, {reinterpret_cast<const char*>(png.data()), png.size()});
  WriteFile(entry, DesktopEntry(program));
  const bool opens_links = Run({"xdg-mime", "default", kEntryName, "x-scheme-handler/sprites"});
  return "Wrote " + entry.string() + " and " + picture.string() + ".\n" +
         (opens_links ? "It opens sprites: links.\n"
                      : "xdg-mime is missing, so a browser may ask what opens sprites: links.\n");
}

}  // namespace sprites
