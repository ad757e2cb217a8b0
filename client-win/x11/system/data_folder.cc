#include "x11/system/data_folder.h"

#include <glib.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>

namespace sprites {

namespace {

std::filesystem::path Home() {
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') {
    return home;
  }
  const passwd* user = getpwuid(getuid());
  return user == nullptr ? "/" : user->pw_dir;
}

// A folder of the specification. It says that a path that is not absolute is to be ignored.
std::filesystem::path FolderOf(const char* variable, const char* otherwise) {
  const char* set = std::getenv(variable);
  return set != nullptr && *set == '/' ? std::filesystem::path(set) : Home() / otherwise;
}

void Create(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    throw std::runtime_error("Can't create " + folder.string() + ": " + failed.message() + ".");
  }
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failed);
}

}  // namespace

Folders FindFolders() {
  Folders folders;
  folders.shared = FolderOf("XDG_DATA_HOME", ".local/share");
  folders.config = FolderOf("XDG_CONFIG_HOME", ".config") / "sprites";
  folders.data = folders.shared / "sprites";
  Create(folders.config);
  Create(folders.data);
  return folders;
}

std::filesystem::path PicturesFolder() {
  const char* folder = g_get_user_special_dir(G_USER_DIRECTORY_PICTURES);
  return folder == nullptr ? Home() / "Pictures" : std::filesystem::path(folder);
}

}  // namespace sprites
