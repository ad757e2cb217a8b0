#include "x11/system/desktop_entry.h"

#include <glib.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "core/picture/bundled_files.h"
#include "posix/files.h"

namespace sprites {

namespace {

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

// REQUIRES: a file of this name comes with the program.
std::string_view BundledText(std::string_view name) {
  const auto file = std::ranges::find(BundledFiles(), name, &BundledFile::name);
  return {reinterpret_cast<const char*>(file->bytes.data()), file->bytes.size()};
}

void WriteFile(const std::filesystem::path& path, std::string_view text) {
  std::error_code failed;
  std::filesystem::create_directories(path.parent_path(), failed);
  if (!WriteFileAtomically(path, text)) {
    throw std::runtime_error("Can't write " + path.string() + ".");
  }
}

}  // namespace

std::string DesktopEntry(const std::filesystem::path& program) {
  constexpr std::string_view kPackaged = "Exec=sprites ";  // in PATH
  std::string entry(BundledText(kEntryName));
  const std::string own = "Exec=" + Quoted(program.string()) + " ";
  for (size_t at = 0; (at = entry.find(kPackaged, at)) != std::string::npos; at += own.size()) {
    entry.replace(at, kPackaged.size(), own);
  }
  return entry;
}

std::string InstallDesktopEntry(const std::filesystem::path& shared,
                                const std::filesystem::path& program) {
  const std::filesystem::path entry = shared / "applications" / kEntryName;
  const std::filesystem::path picture = shared / "icons/hicolor/256x256/apps/sprites.png";
  WriteFile(picture, BundledText("sprites.png"));
  WriteFile(entry, DesktopEntry(program));
  const char* words[] = {"xdg-mime", "default", kEntryName, "x-scheme-handler/sprites", nullptr};
  int status = 0;
  const bool opens_links =
      g_spawn_sync(nullptr, const_cast<char**>(words), nullptr, G_SPAWN_SEARCH_PATH, nullptr,
                   nullptr, nullptr, nullptr, &status, nullptr) != FALSE &&
      status == 0;
  return "Wrote " + entry.string() + " and " + picture.string() + ".\n" +
         (opens_links ? "It opens sprites: links.\n"
                      : "xdg-mime is missing, so a browser may ask what opens sprites: links.\n");
}

}  // namespace sprites
