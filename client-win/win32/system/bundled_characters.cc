#include "win32/system/bundled_characters.h"

#include <windows.h>

#include <span>

namespace sprites {

namespace {

struct Collected {
  FileCache* cache;
  std::vector<SheetPointer> sheets;
};

BOOL CALLBACK OnResource(HMODULE module, const wchar_t* type, wchar_t* name, LONG_PTR context) {
  auto* collected = reinterpret_cast<Collected*>(context);
  const HRSRC place = FindResourceW(module, name, type);
  const HGLOBAL loaded = place == nullptr ? nullptr : LoadResource(module, place);
  if (loaded == nullptr) {
    return TRUE;
  }
  const std::span bytes(static_cast<const uint8_t*>(LockResource(loaded)),
                        SizeofResource(module, place));
  SheetPointer sheet = ReadSheet(bytes);
  if (!collected->cache->Find(sheet->file)) {
    collected->cache->Store(sheet->file, bytes, Origin::kOwn);
  }
  collected->sheets.push_back(std::move(sheet));
  return TRUE;
}

}  // namespace

std::vector<SheetPointer> BundledCharacters(FileCache* cache) {
  Collected collected{cache, {}};
  EnumResourceNamesW(nullptr, L"SPR", OnResource, reinterpret_cast<LONG_PTR>(&collected));
  return std::move(collected.sheets);
}

}  // namespace sprites
