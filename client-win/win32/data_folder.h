// Where this program keeps what it keeps: %APPDATA%\Sprites, or the folder it was told.
//
// settings.json is the person's, kept.json the sprites', files\ the FileCache's.
// Invariant: a file is whole or as it was before: it is written beside, flushed and renamed.
#ifndef CLIENT_WIN_WIN32_DATA_FOLDER_H_
#define CLIENT_WIN_WIN32_DATA_FOLDER_H_

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sprites {

// Made when it is not there.
std::filesystem::path DataFolder();

// Nothing when there is no such file, it can't be read, or it has more bytes.
std::optional<std::string> ReadWholeFile(const std::filesystem::path& path, size_t bytes_max);
// False when it could not be written; what was there before still is.
bool WriteFileAtomically(const std::filesystem::path& path, std::string_view text);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_DATA_FOLDER_H_
