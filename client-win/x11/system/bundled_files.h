// The files that come with the program, which are in it as bytes (bundled_files.cc, which the
// build writes).
#ifndef CLIENT_WIN_X11_SYSTEM_BUNDLED_FILES_H_
#define CLIENT_WIN_X11_SYSTEM_BUNDLED_FILES_H_

#include <span>
#include <vector>

#include "core/picture/file_cache.h"

namespace sprites {

// The .spr files of the characters.
std::span<const std::span<const uint8_t>> CharacterFiles();
// The desktop entry of the packages, and the icon that it names, a PNG.
std::span<const uint8_t> EntryFile();
std::span<const uint8_t> IconFile();

// The sheets of the characters. Stores each file in the cache unless it is there.
std::vector<SheetPointer> BundledCharacters(FileCache* cache);

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SYSTEM_BUNDLED_FILES_H_
