// The folder of version 0.1, whose files move to where this version has its own.
//
// Another program may have a folder of the same name. Invariant: only files that this program made
// are moved, and only when its state is among them; nothing else is moved, deleted or replaced.
#ifndef CLIENT_WIN_CORE_DESKTOP_FILES_OLD_FOLDER_H_
#define CLIENT_WIN_CORE_DESKTOP_FILES_OLD_FOLDER_H_

#include <filesystem>

#include "core/desktop/files/own_file.h"

namespace sprites {

// Moves the files, also to another drive. The state goes last: while the new folder has none, the
// next start tries again. Returns false if they can't be moved now.
bool MoveOldFiles(const std::filesystem::path& from, const std::filesystem::path& to,
                  const FileAccess& files);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_FILES_OLD_FOLDER_H_
