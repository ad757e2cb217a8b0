#include "win32/system/autostart.h"

#include <windows.h>

#include <string>

namespace sprites {

namespace {

constexpr wchar_t kKey[] = L"Software\\Microsoft\\Windows\\CurrentVersion\\Run";
constexpr wchar_t kValue[] = L"Sprites";
constexpr DWORD kPathLengthMax = 32'768;  // characters of any path on Windows

std::wstring OwnCommand() {
  std::wstring path(kPathLengthMax, 0);
  path.resize(GetModuleFileNameW(nullptr, path.data(), kPathLengthMax));
  return L"\"" + path + L"\"";
}

}  // namespace

bool IsAutostartOn() {
  return RegGetValueW(HKEY_CURRENT_USER, kKey, kValue, RRF_RT_REG_SZ, nullptr, nullptr, nullptr) ==
         ERROR_SUCCESS;
}

void SetAutostart(bool is_on) {
  if (!is_on) {
    RegDeleteKeyValueW(HKEY_CURRENT_USER, kKey, kValue);
    return;
  }
  const std::wstring command = OwnCommand();
  RegSetKeyValueW(HKEY_CURRENT_USER, kKey, kValue, REG_SZ, command.c_str(),
                  static_cast<DWORD>((command.size() + 1) * sizeof(wchar_t)));
}

}  // namespace sprites
