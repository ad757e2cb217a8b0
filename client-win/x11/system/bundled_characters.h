// The characters that come with the program, which are in it as bytes.
#ifndef CLIENT_WIN_X11_SYSTEM_BUNDLED_CHARACTERS_H_
#define CLIENT_WIN_X11_SYSTEM_BUNDLED_CHARACTERS_H_

#include <span>
#include <vector>

#include "core/picture/file_cache.h"

namespace sprites {

// The .spr files (characters.cc, which the build writes).
std::span<const std::span<const uint8_t>> CharacterFiles();

// Their sheets. Stores each file in the cache unless it is there.
std::vector<SheetPointer> BundledCharacters(FileCache* cache);

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SYSTEM_BUNDLED_CHARACTERS_H_
