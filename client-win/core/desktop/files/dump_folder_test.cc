#include "core/desktop/files/dump_folder.h"

#include <doctest/doctest.h>

#include <string>

namespace sprites {
namespace {

TEST_CASE(
    "dump folder › characters of its path: one less than the limit, the limit; one more is "
    "rejected") {
  for (const size_t count : {size_t{0}, kDumpFolderMax - 2, kDumpFolderMax - 1}) {
    DumpFolder<wchar_t> folder{};
    const std::wstring path(count, L'x');
    CHECK(folder.Keep(path));
    CHECK(std::wstring(folder.path) == path);
  }
  DumpFolder<wchar_t> folder{L"before"};
  CHECK(!folder.Keep(std::wstring(kDumpFolderMax, L'x')));
  CHECK(std::wstring(folder.path) == L"before");
}

}  // namespace
}  // namespace sprites
