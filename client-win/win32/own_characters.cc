#include "win32/own_characters.h"

#include <windows.h>

#include <span>

namespace sprites {

namespace {

struct Found {
  FileCache* cache;
  std::vector<SheetPointer> sheets;
};

BOOL CALLBACK OnResource(HMODULE module, const wchar_t* type, wchar_t* name, LONG_PTR context) {
  auto* found = reinterpret_cast<Found*>(context);
  const HRSRC place = FindResourceW(module, name, type);
  const HGLOBAL loaded = place == nullptr ? nullptr : LoadResource(module, place);
  if (loaded == nullptr) {
    return TRUE;
  }
  const std::span bytes(static_cast<const uint8_t*>(LockResource(loaded)),
                        SizeofResource(module, place));
  SheetPointer sheet = ReadSheet(bytes);
  if (!found->cache->Find(sheet->file)) {
    found->cache->Store(sheet->file, bytes, Origin::kOwn);
  }
  found->sheets.push_back(std::move(sheet));
  return TRUE;
}

}  // namespace

std::vector<SheetPointer> OwnCharacters(FileCache* cache) {
  Found found{cache, {}};
  EnumResourceNamesW(nullptr, L"SPR", OnResource, reinterpret_cast<LONG_PTR>(&found));
  return std::move(found.sheets);
}

}  // namespace sprites
