// The files that come with a program, which are in it as bytes (bundled_files.cc, which its build
// writes).
#ifndef CLIENT_WIN_CORE_PICTURE_BUNDLED_FILES_H_
#define CLIENT_WIN_CORE_PICTURE_BUNDLED_FILES_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/picture/file_cache.h"

namespace sprites {

struct BundledFile {
  std::string_view name;  // a character's ends in .spr
  std::span<const uint8_t> bytes;
};

std::span<const BundledFile> BundledFiles();

// The sheets of the characters. Stores each file in the cache unless it is there.
inline std::vector<SheetPointer> BundledCharacters(FileCache* cache) {
  std::vector<SheetPointer> sheets;
  for (const BundledFile& file : BundledFiles()) {
    if (file.name.ends_with(".spr")) {
      SheetPointer sheet = ReadSheet(file.bytes);
      if (!cache->Find(sheet->file)) {
        cache->Store(sheet->file, file.bytes, Origin::kOwn);
      }
      sheets.push_back(std::move(sheet));
    }
  }
  return sheets;
}

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_BUNDLED_FILES_H_
