#include "win32/system/data_folder.h"

#include <windows.h>
// After windows.h.
#include <shlobj.h>

#include <system_error>

#include "win32/system/owned.h"

namespace sprites {

namespace {

// Empty if Windows has none.
std::filesystem::path KnownFolder(const KNOWNFOLDERID& which) {
  wchar_t* name = nullptr;
  std::filesystem::path folder;
  if (SUCCEEDED(SHGetKnownFolderPath(which, KF_FLAG_CREATE, nullptr, &name))) {
    folder = name;
  }
  CoTaskMemFree(name);
  return folder;
}

OwnedHandle Opened(const std::filesystem::path& path, DWORD access, DWORD disposition) {
  const HANDLE handle = CreateFileW(path.c_str(), access, FILE_SHARE_READ, nullptr, disposition,
                                    FILE_ATTRIBUTE_NORMAL, nullptr);
  return OwnedHandle(handle == INVALID_HANDLE_VALUE ? nullptr : handle);
}

bool IsMissing(DWORD error) {
  return error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND;
}

}  // namespace

std::filesystem::path DataFolder() { return KnownFolder(FOLDERID_LocalAppData) / L"Sprites"; }

std::filesystem::path PicturesFolder() { return KnownFolder(FOLDERID_Pictures); }

std::filesystem::path MadeDataFolder() {
  const std::filesystem::path folder = DataFolder();
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  return folder;
}

FileContent ReadWholeFile(const std::filesystem::path& path, size_t bytes_max) {
  const OwnedHandle file = Opened(path, GENERIC_READ, OPEN_EXISTING);
  if (file == nullptr) {
    return {IsMissing(GetLastError()) ? ReadStatus::kMissing : ReadStatus::kFailed, ""};
  }
  LARGE_INTEGER size{};
  if (!GetFileSizeEx(file.get(), &size) || size.QuadPart < 0) {
    return {ReadStatus::kFailed, ""};
  }
  if (static_cast<uint64_t>(size.QuadPart) > bytes_max) {
    return {ReadStatus::kTooLong, ""};
  }
  std::string text(static_cast<size_t>(size.QuadPart), 0);
  DWORD read = 0;
  const bool done =
      ReadFile(file.get(), text.data(), static_cast<DWORD>(text.size()), &read, nullptr);
  return done && read == text.size() ? FileContent{ReadStatus::kRead, std::move(text)}
                                     : FileContent{ReadStatus::kFailed, ""};
}

bool WriteFileAtomically(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::path fresh = path;
  fresh += L".part";
  {
    const OwnedHandle file = Opened(fresh, GENERIC_WRITE, CREATE_ALWAYS);
    DWORD written = 0;
    const bool done =
        file != nullptr &&
        WriteFile(file.get(), text.data(), static_cast<DWORD>(text.size()), &written, nullptr) &&
        written == text.size() && FlushFileBuffers(file.get());
    if (!done) {
      return false;
    }
  }
  return MoveFileExW(fresh.c_str(), path.c_str(), MOVEFILE_REPLACE_EXISTING) != 0;
}

Renaming RenameFile(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (MoveFileExW(from.c_str(), to.c_str(), 0) != 0) {
    return Renaming::kDone;
  }
  const DWORD error = GetLastError();
  return error == ERROR_ALREADY_EXISTS || error == ERROR_FILE_EXISTS ? Renaming::kTaken
         : IsMissing(error)                                          ? Renaming::kMissing
                                                                     : Renaming::kFailed;
}

FileAccess SystemFiles() {
  return {ReadWholeFile, WriteFileAtomically, RenameFile,
          [](int64_t ms) { Sleep(static_cast<DWORD>(ms)); }};
}

}  // namespace sprites
