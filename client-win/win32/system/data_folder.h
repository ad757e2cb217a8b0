// The folder of this program's files, %LOCALAPPDATA%\Sprites, and how its files are read and
// written.
//
// The folder is not in %APPDATA%, which may be copied to other computers of the user: the seat in
// kept.json belongs to one computer, and the pictures are many.
// settings.json holds the user's settings, kept.json the state of the desktop, files\ the
// FileCache. Invariant: a file has either its old or its new content, never a part of it: the new
// content goes to a second file, which is flushed and then renamed over the first.
#ifndef CLIENT_WIN_WIN32_SYSTEM_DATA_FOLDER_H_
#define CLIENT_WIN_WIN32_SYSTEM_DATA_FOLDER_H_

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "core/desktop/files/own_file.h"

namespace sprites {

// Where the folder is, or will be.
std::filesystem::path DataFolder();
// Creates the folder if it does not exist.
std::filesystem::path MadeDataFolder();

// The folder that the user has for pictures.
std::filesystem::path PicturesFolder();

FileContent ReadWholeFile(const std::filesystem::path& path, size_t bytes_max);
// Returns false if the file could not be written; its old content is then still there.
bool WriteFileAtomically(const std::filesystem::path& path, std::string_view text);
// Never replaces a file.
Renaming RenameFile(const std::filesystem::path& from, const std::filesystem::path& to);
// All of these, for the program's own files.
FileAccess SystemFiles();

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_DATA_FOLDER_H_
