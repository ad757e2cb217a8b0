// The entry of the program in the menus of desktops, and as what opens `sprites:` links.
#ifndef CLIENT_WIN_X11_SYSTEM_DESKTOP_ENTRY_H_
#define CLIENT_WIN_X11_SYSTEM_DESKTOP_ENTRY_H_

#include <filesystem>
#include <string>

namespace sprites {

// Writes `applications/sprites.desktop` and an icon below `shared`, which is $XDG_DATA_HOME, and
// makes the program the one that opens `sprites:` links, if xdg-mime is installed. Returns what was
// written, as sentences for the person. Throws std::runtime_error when a file can't be written.
std::string InstallDesktopEntry(const std::filesystem::path& shared,
                                const std::filesystem::path& program);

// The desktop entry of the packages, for a program that is not in PATH.
std::string DesktopEntry(const std::filesystem::path& program);

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SYSTEM_DESKTOP_ENTRY_H_
