#include "win32/system/minidump.h"

#include <windows.h>
// After windows.h.
#include <dbghelp.h>

#include <atomic>
#include <csignal>
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

constexpr DWORD kAborted = 0xE0535052;         // the exception code of an abort: "SPR"
constexpr DWORD kWriteMsMax = 60'000;          // then the program ends without a dump
constexpr ULONG kStackKeptBytes = 64 * 1'024;  // of a full stack, to report that
constexpr SIZE_T kWriterStackBytes = 256 * 1'024;

// Prepared before a crash, because after one the heap may be damaged and the stack full: a thread
// that waits writes the dump.
WriteDump write_dump = nullptr;
DumpFolder<wchar_t> dump_folder;
HANDLE is_asked = nullptr;
HANDLE is_written = nullptr;

// What crashed, for the thread that writes.
std::atomic_flag has_crashed;
MINIDUMP_EXCEPTION_INFORMATION crash{};

DWORD WINAPI WriteWhenAsked(void*) {
  WaitForSingleObject(is_asked, INFINITE);
  SYSTEMTIME now;
  GetSystemTime(&now);
  wchar_t path[kDumpFolderMax + 64];
  swprintf(path, std::size(path), L"%ls\\sprites-%04u%02u%02u-%02u%02u%02u.dmp", dump_folder.path,
           now.wYear, now.wMonth, now.wDay, now.wHour, now.wMinute, now.wSecond);
  const HANDLE file =
      CreateFileW(path, GENERIC_WRITE, 0, nullptr, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file != INVALID_HANDLE_VALUE) {
    write_dump(GetCurrentProcess(), GetCurrentProcessId(), file, MiniDumpNormal, &crash, nullptr,
               nullptr);
    CloseHandle(file);
  }
  SetEvent(is_written);
  return 0;
}

// The first crash only: others may follow from it.
void WriteDumpOf(EXCEPTION_POINTERS* exception) {
  if (has_crashed.test_and_set()) {
    return;
  }
  crash = {GetCurrentThreadId(), exception, FALSE};
  SetEvent(is_asked);
  WaitForSingleObject(is_written, kWriteMsMax);
}

LONG WINAPI OnCrash(EXCEPTION_POINTERS* exception) {
  WriteDumpOf(exception);
  return EXCEPTION_CONTINUE_SEARCH;  // Windows reports the crash as it always does
}

// Also the end of std::terminate: an exception that nobody has caught.
void OnAbort(int) {
  CONTEXT context{};
  RtlCaptureContext(&context);
  EXCEPTION_RECORD record{};
  record.ExceptionCode = kAborted;
  record.ExceptionAddress = reinterpret_cast<void*>(context.Rip);
  EXCEPTION_POINTERS pointers{&record, &context};
  WriteDumpOf(&pointers);
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

// Returns false if the machine lacks what it needs.
bool StartWriter() {
  const HMODULE library = LoadLibraryExW(L"dbghelp.dll", nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);
  if (library == nullptr) {
    return false;
  }
  write_dump = reinterpret_cast<WriteDump>(
      reinterpret_cast<void*>(GetProcAddress(library, "MiniDumpWriteDump")));
  is_asked = CreateEventW(nullptr, FALSE, FALSE, nullptr);
  is_written = CreateEventW(nullptr, FALSE, FALSE, nullptr);
  const HANDLE thread = write_dump == nullptr ? nullptr
                                              : CreateThread(nullptr, kWriterStackBytes,
                                                             WriteWhenAsked, nullptr, 0, nullptr);
  if (thread == nullptr) {
    return false;
  }
  CloseHandle(thread);
  return true;
}

}  // namespace

void WriteMinidumps(const std::filesystem::path& folder) {
  if (!dump_folder.Keep(folder.wstring()) || !StartWriter()) {
    return;
  }
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  RemoveOldDumps(folder);
  ULONG kept = kStackKeptBytes;
  SetThreadStackGuarantee(&kept);
  SetUnhandledExceptionFilter(OnCrash);
  std::signal(SIGABRT, OnAbort);
}

}  // namespace sprites
