// The characters that come with the program: .spr files among its resources.
#ifndef CLIENT_WIN_WIN32_BUNDLED_CHARACTERS_H_
#define CLIENT_WIN_WIN32_BUNDLED_CHARACTERS_H_

#include <vector>

#include "core/picture/file_cache.h"

namespace sprites {

// All of them, by name; also kept in the cache, from where a crossing uploads them.
std::vector<SheetPointer> BundledCharacters(FileCache* cache);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_BUNDLED_CHARACTERS_H_
