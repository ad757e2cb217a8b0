#include "win32/system/autostart.h"

#include <windows.h>

#include <array>
#include <cstdint>
#include <string>

#include "core/desktop/files/startup_approval.h"

namespace sprites {

namespace {

constexpr wchar_t kKey[] = L"Software\\Microsoft\\Windows\\CurrentVersion\\Run";
constexpr wchar_t kApprovalKey[] =
    L"Software\\Microsoft\\Windows\\CurrentVersion\\Explorer\\StartupApproved\\Run";
constexpr wchar_t kValue[] = L"Sprites";  // in both keys
constexpr DWORD kPathLengthMax = 32'768;  // characters of any path on Windows

std::wstring OwnCommand() {
  std::wstring path(kPathLengthMax, 0);
  path.resize(GetModuleFileNameW(nullptr, path.data(), kPathLengthMax));
  return L"\"" + path + L"\"";
}

bool IsApproved() {
  std::array<uint8_t, kApprovalBytes> value{};
  DWORD size = value.size();
  const bool is_there = RegGetValueW(HKEY_CURRENT_USER, kApprovalKey, kValue, RRF_RT_REG_BINARY,
                                     nullptr, value.data(), &size) == ERROR_SUCCESS;
  return !is_there || IsStartupApproved({value.data(), size});
}

}  // namespace

bool IsAutostartOn() {
  return RegGetValueW(HKEY_CURRENT_USER, kKey, kValue, RRF_RT_REG_SZ, nullptr, nullptr, nullptr) ==
             ERROR_SUCCESS &&
         IsApproved();
}

void SetAutostart(bool is_on) {
  RegDeleteKeyValueW(HKEY_CURRENT_USER, kApprovalKey, kValue);  // this choice is the newer one
  if (!is_on) {
    RegDeleteKeyValueW(HKEY_CURRENT_USER, kKey, kValue);
    return;
  }
  const std::wstring command = OwnCommand();
  RegSetKeyValueW(HKEY_CURRENT_USER, kKey, kValue, REG_SZ, command.c_str(),
                  static_cast<DWORD>((command.size() + 1) * sizeof(wchar_t)));
}

}  // namespace sprites
