#include "win32/system/machine.h"

#include <winsock2.h>
#include <iphlpapi.h>
#include <windows.h>
// After windows.h.
#include <psapi.h>
#include <shellapi.h>
#include <shlobj.h>

#include <system_error>

#include "win32/system/data_folder.h"
#include "win32/system/text16.h"

namespace sprites {

namespace {

constexpr wchar_t kPortable[] = L"Sprites-data";
constexpr wchar_t kOwnKey[] = L"Software\\Sprites";
constexpr wchar_t kInstallerValue[] = L"Installer";  // written by installer/sprites.nsi
constexpr DWORD kPathLengthMax = 32'768;             // characters of any path on Windows
// The internet: Windows then asks before it starts the file.
constexpr char kZone[] = "[ZoneTransfer]\r\nZoneId=3\r\n";

// GetVersionEx tells a program what its manifest says; this tells the truth.
std::string SystemVersion() {
  using GetVersion = LONG(WINAPI*)(OSVERSIONINFOW*);
  const auto get = reinterpret_cast<GetVersion>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "RtlGetVersion")));
  OSVERSIONINFOW version{};
  version.dwOSVersionInfoSize = sizeof version;
  if (get == nullptr || get(&version) != 0) {
    return "Windows";
  }
  return "Windows " + std::to_string(version.dwMajorVersion) + "." +
         std::to_string(version.dwMinorVersion) + "." + std::to_string(version.dwBuildNumber);
}

}  // namespace

Machine MachineNow() {
  Machine machine;
  machine.system = SystemVersion();
  PROCESS_MEMORY_COUNTERS memory{};
  if (K32GetProcessMemoryInfo(GetCurrentProcess(), &memory, sizeof memory) != 0) {
    machine.memory_bytes = memory.WorkingSetSize;
  }
  machine.gdi_handles = GetGuiResources(GetCurrentProcess(), GR_GDIOBJECTS);
  return machine;
}

Presence PresenceNow() {
  QUERY_USER_NOTIFICATION_STATE state = QUNS_ACCEPTS_NOTIFICATIONS;
  if (FAILED(SHQueryUserNotificationState(&state))) {
    return Presence::kFree;
  }
  switch (state) {
    case QUNS_PRESENTATION_MODE:
      return Presence::kPresenting;
    case QUNS_NOT_PRESENT:
    case QUNS_BUSY:
    case QUNS_RUNNING_D3D_FULL_SCREEN:
      return Presence::kBusy;
    default:
      return Presence::kFree;
  }
}

bool IsMotionReduced() {
  BOOL is_animated = TRUE;
  return SystemParametersInfoW(SPI_GETCLIENTAREAANIMATION, 0, &is_animated, 0) != 0 && !is_animated;
}

Language SystemLanguage() {
  return PRIMARYLANGID(GetUserDefaultUILanguage()) == LANG_GERMAN ? Language::kGerman
                                                                  : Language::kEnglish;
}

std::optional<std::filesystem::path> PortableFolder() {
  std::wstring path(kPathLengthMax, 0);
  path.resize(GetModuleFileNameW(nullptr, path.data(), kPathLengthMax));
  const std::filesystem::path folder = std::filesystem::path(path).parent_path() / kPortable;
  std::error_code failed;
  return std::filesystem::is_directory(folder, failed) ? std::optional(folder) : std::nullopt;
}

std::string PopInstallerName() {
  wchar_t name[MAX_PATH]{};
  DWORD bytes = sizeof name;
  if (RegGetValueW(HKEY_CURRENT_USER, kOwnKey, kInstallerValue, RRF_RT_REG_SZ, nullptr, name,
                   &bytes) != ERROR_SUCCESS) {
    return "";
  }
  RegDeleteKeyValueW(HKEY_CURRENT_USER, kOwnKey, kInstallerValue);
  return Narrow(name);
}

bool OpenPath(const std::filesystem::path& path) {
  constexpr INT_PTR kErrorMax = 32;
  return reinterpret_cast<INT_PTR>(ShellExecuteW(nullptr, L"open", path.c_str(), nullptr, nullptr,
                                                 SW_SHOWNORMAL)) > kErrorMax;
}

bool ShowDownload(const std::string& version, const std::string& bytes) {
  wchar_t* downloads = nullptr;
  std::filesystem::path path;
  if (SUCCEEDED(SHGetKnownFolderPath(FOLDERID_Downloads, KF_FLAG_CREATE, nullptr, &downloads))) {
    path = downloads;
  }
  CoTaskMemFree(downloads);
  if (path.empty()) {
    return false;
  }
  path /= L"Sprites-Setup-" + Wide(version) + L".exe";
  if (!WriteFileAtomically(path, bytes)) {
    return false;
  }
  // Disks other than NTFS have no such streams; Windows then does not ask.
  const HANDLE zone = CreateFileW((path.wstring() + L":Zone.Identifier").c_str(), GENERIC_WRITE, 0,
                                  nullptr, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (zone != INVALID_HANDLE_VALUE) {
    DWORD written = 0;
    WriteFile(zone, kZone, sizeof kZone - 1, &written, nullptr);
    CloseHandle(zone);
  }
  const std::wstring selected = L"/select,\"" + path.wstring() + L"\"";
  ShellExecuteW(nullptr, L"open", L"explorer.exe", selected.c_str(), nullptr, SW_SHOWNORMAL);
  return true;
}

std::string AddressInNetwork() {
  ULONG bytes = 32'768;
  std::vector<uint8_t> room(bytes);
  auto* first = reinterpret_cast<IP_ADAPTER_ADDRESSES*>(room.data());
  constexpr ULONG kFlags = GAA_FLAG_SKIP_ANYCAST | GAA_FLAG_SKIP_MULTICAST | GAA_FLAG_SKIP_DNS_SERVER;
  if (GetAdaptersAddresses(AF_INET, kFlags, nullptr, first, &bytes) != ERROR_SUCCESS) {
    return "";
  }
  for (const auto* adapter = first; adapter != nullptr; adapter = adapter->Next) {
    const bool is_up = adapter->OperStatus == IfOperStatusUp &&
                       adapter->IfType != IF_TYPE_SOFTWARE_LOOPBACK;
    if (!is_up || adapter->FirstUnicastAddress == nullptr) {
      continue;
    }
    const auto* address =
        reinterpret_cast<const sockaddr_in*>(adapter->FirstUnicastAddress->Address.lpSockaddr);
    const auto* bytes4 = reinterpret_cast<const uint8_t*>(&address->sin_addr);
    std::string text;
    for (int i = 0; i < 4; i++) {
      text += (i == 0 ? "" : ".") + std::to_string(bytes4[i]);
    }
    return text;
  }
  return "";
}

}  // namespace sprites
