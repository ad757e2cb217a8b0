#include "win32/system/minidump.h"

#include <windows.h>
// After windows.h.
#include <dbghelp.h>

#include <cwchar>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "core/desktop/files/dump_folder.h"
#include "core/desktop/files/old_dumps.h"

namespace sprites {

namespace {

using WriteDump = decltype(&MiniDumpWriteDump);

// Prepared before a crash, because after one the heap may be damaged.
WriteDump write_dump = nullptr;
DumpFolder<wchar_t> dump_folder;

LONG WINAPI OnCrash(EXCEPTION_POINTERS* exception) {
  SYSTEMTIME now;
  GetSystemTime(&now);
  wchar_t path[kDumpFolderMax + 64];
  swprintf(path, std::size(path), L"%ls\\sprites-%04u%02u%02u-%02u%02u%02u.dmp", dump_folder.path,
           now.wYear, now.wMonth, now.wDay, now.wHour, now.wMinute, now.wSecond);
  const HANDLE file =
      CreateFileW(path, GENERIC_WRITE, 0, nullptr, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file != INVALID_HANDLE_VALUE) {
    MINIDUMP_EXCEPTION_INFORMATION information{GetCurrentThreadId(), exception, FALSE};
    write_dump(GetCurrentProcess(), GetCurrentProcessId(), file, MiniDumpNormal, &information,
               nullptr, nullptr);
    CloseHandle(file);
  }
  return EXCEPTION_CONTINUE_SEARCH;  // Windows reports the crash as it always does
}

void RemoveOldDumps(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> dumps;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (entry.path().extension() == L".dmp") {
      dumps.push_back(entry.path());
    }
  }
  for (const auto& old : OldDumps(dumps)) {
    std::filesystem::remove(old, failed);
  }
}

}  // namespace

void WriteMinidumps(const std::filesystem::path& folder) {
  const std::wstring name = folder.wstring();
  const HMODULE library = LoadLibraryExW(L"dbghelp.dll", nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);
  if (library == nullptr || !dump_folder.Keep(name)) {
    return;
  }
  write_dump = reinterpret_cast<WriteDump>(
      reinterpret_cast<void*>(GetProcAddress(library, "MiniDumpWriteDump")));
  if (write_dump == nullptr) {
    return;
  }
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  RemoveOldDumps(folder);
  SetUnhandledExceptionFilter(OnCrash);
}

}  // namespace sprites
