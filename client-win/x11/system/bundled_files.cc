#include "x11/system/bundled_files.h"

#include <utility>

namespace sprites {

std::vector<SheetPointer> BundledCharacters(FileCache* cache) {
  std::vector<SheetPointer> sheets;
  for (const std::span<const uint8_t> bytes : CharacterFiles()) {
    SheetPointer sheet = ReadSheet(bytes);
    if (!cache->Find(sheet->file)) {
      cache->Store(sheet->file, bytes, Origin::kOwn);
    }
    sheets.push_back(std::move(sheet));
  }
  return sheets;
}

}  // namespace sprites
