// Where the program keeps its files, by the XDG Base Directory Specification.
//
// settings.json is in $XDG_CONFIG_HOME/sprites. kept.json (the desktop's state and the seat),
// files/ (the FileCache), and what marks the running instance are in $XDG_DATA_HOME/sprites, which
// only this user can read.
#ifndef CLIENT_WIN_X11_SYSTEM_DATA_FOLDER_H_
#define CLIENT_WIN_X11_SYSTEM_DATA_FOLDER_H_

#include <filesystem>

namespace sprites {

struct Folders {
  std::filesystem::path config;
  std::filesystem::path data;
  std::filesystem::path shared;  // $XDG_DATA_HOME itself, for desktop entries and icons
};

// The folder that the user has for pictures.
std::filesystem::path PicturesFolder();

// Creates the folders. Throws std::runtime_error when that fails.
Folders FindFolders();

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SYSTEM_DATA_FOLDER_H_
