#include "win32/data_folder.h"

#include <windows.h>
// After windows.h.
#include <shlobj.h>

#include <system_error>

#include "win32/owned.h"

namespace sprites {

namespace {

OwnedHandle Opened(const std::filesystem::path& path, DWORD access, DWORD disposition) {
  const HANDLE handle = CreateFileW(path.c_str(), access, FILE_SHARE_READ, nullptr, disposition,
                                    FILE_ATTRIBUTE_NORMAL, nullptr);
  return OwnedHandle(handle == INVALID_HANDLE_VALUE ? nullptr : handle);
}

}  // namespace

std::filesystem::path DataFolder() {
  wchar_t* roaming = nullptr;
  std::filesystem::path folder;
  if (SUCCEEDED(SHGetKnownFolderPath(FOLDERID_RoamingAppData, KF_FLAG_CREATE, nullptr, &roaming))) {
    folder = roaming;
  }
  CoTaskMemFree(roaming);
  folder /= L"Sprites";
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  return folder;
}

std::optional<std::string> ReadWholeFile(const std::filesystem::path& path, size_t bytes_max) {
  const OwnedHandle file = Opened(path, GENERIC_READ, OPEN_EXISTING);
  LARGE_INTEGER size{};
  const bool fits = file != nullptr && GetFileSizeEx(file.get(), &size) && size.QuadPart >= 0 &&
                    static_cast<uint64_t>(size.QuadPart) <= bytes_max;
  if (!fits) {
    return std::nullopt;
  }
  std::string text(static_cast<size_t>(size.QuadPart), 0);
  DWORD read = 0;
  const bool done =
      ReadFile(file.get(), text.data(), static_cast<DWORD>(text.size()), &read, nullptr);
  return done && read == text.size() ? std::optional(std::move(text)) : std::nullopt;
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

}  // namespace sprites
