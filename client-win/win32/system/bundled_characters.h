// The characters that come with the program: .spr files in its resources.
#ifndef CLIENT_WIN_WIN32_SYSTEM_BUNDLED_CHARACTERS_H_
#define CLIENT_WIN_WIN32_SYSTEM_BUNDLED_CHARACTERS_H_

#include <vector>

#include "core/picture/file_cache.h"

namespace sprites {

// Returns all of them in the order of their names, and stores them in the cache, from which a
// crossing uploads them.
std::vector<SheetPointer> BundledCharacters(FileCache* cache);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_BUNDLED_CHARACTERS_H_
