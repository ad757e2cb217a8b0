#include "x11/system/data_folder.h"

#include <glib.h>

#include <stdexcept>
#include <system_error>

namespace sprites {

namespace {

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
  folders.shared = g_get_user_data_dir();
  folders.config = std::filesystem::path(g_get_user_config_dir()) / "sprites";
  folders.data = folders.shared / "sprites";
  Create(folders.config);
  Create(folders.data);
  return folders;
}

std::filesystem::path PicturesFolder() {
  const char* folder = g_get_user_special_dir(G_USER_DIRECTORY_PICTURES);
  return folder == nullptr ? std::filesystem::path(g_get_home_dir()) / "Pictures" : folder;
}

}  // namespace sprites
