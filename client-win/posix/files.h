// Reads and writes the program's own files on Linux.
//
// Invariant: a file has either its old or its new content, never a part of it: the new content goes
// to a second file, which is flushed and then renamed over the first.
#ifndef CLIENT_WIN_POSIX_FILES_H_
#define CLIENT_WIN_POSIX_FILES_H_

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "core/desktop/files/own_file.h"

namespace sprites {

constexpr size_t kPathBytesMax = 4'096;  // of Linux (PATH_MAX)

FileContent ReadWholeFile(const std::filesystem::path& path, size_t bytes_max);
// Returns false if the file could not be written; its old content is then still there. Only this
// user may read the file.
bool WriteFileAtomically(const std::filesystem::path& path, std::string_view text);
// Never replaces a file. REQUIRES: nobody else makes files in that folder meanwhile.
Renaming RenameFile(const std::filesystem::path& from, const std::filesystem::path& to);
// All of these, for the program's own files.
FileAccess SystemFiles();

}  // namespace sprites

#endif  // CLIENT_WIN_POSIX_FILES_H_
