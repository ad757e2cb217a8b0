#include "win32/single_instance.h"

#include <string_view>
#include <utility>

namespace sprites {

namespace {

constexpr wchar_t kMutexName[] = L"Local\\SpritesDesktop";
constexpr ULONG_PTR kPathsFollow = 0x53505231;  // "SPR1": paths follow, each terminated by a 0
constexpr ULONG_PTR kLinkFollows = 0x4c505331;  // "1SPL": a link follows, without a 0
constexpr DWORD kWaitMsMax = 10'000;            // ms: the first instance may still be starting
constexpr DWORD kRetryMs = 50;

HWND MainWindow() {
  for (DWORD waited_ms = 0; waited_ms < kWaitMsMax; waited_ms += kRetryMs) {
    if (const HWND window = FindWindowW(kMainClass, nullptr)) {
      return window;
    }
    Sleep(kRetryMs);
  }
  return nullptr;
}

bool SendText(ULONG_PTR what, std::wstring text) {
  const HWND window = MainWindow();
  if (window == nullptr) {
    return false;
  }
  DWORD process = 0;
  GetWindowThreadProcessId(window, &process);
  AllowSetForegroundWindow(process);  // for a question that it may ask
  COPYDATASTRUCT copied{what, static_cast<DWORD>(text.size() * sizeof(wchar_t)), text.data()};
  DWORD_PTR accepted = 0;
  return SendMessageTimeoutW(window, WM_COPYDATA, 0, reinterpret_cast<LPARAM>(&copied),
                             SMTO_ABORTIFHUNG, kWaitMsMax, &accepted) != 0 &&
         accepted != 0;
}

}  // namespace

SingleInstance::SingleInstance() : mutex_(CreateMutexW(nullptr, FALSE, kMutexName)) {
  is_first_ = mutex_ != nullptr && GetLastError() != ERROR_ALREADY_EXISTS;
}

bool SendPaths(const std::vector<std::wstring>& paths) {
  std::wstring text;
  for (const std::wstring& path : paths) {
    text += path + L'\0';
  }
  return SendText(kPathsFollow, std::move(text));
}

bool SendLink(const std::wstring& link) { return SendText(kLinkFollows, link); }

std::optional<std::wstring> ReadSentLink(const COPYDATASTRUCT& copied) {
  const bool fits = copied.dwData == kLinkFollows && copied.cbData <= kSentBytesMax &&
                    copied.cbData % sizeof(wchar_t) == 0;
  if (!fits) {
    return std::nullopt;
  }
  return std::wstring(static_cast<const wchar_t*>(copied.lpData), copied.cbData / sizeof(wchar_t));
}

std::optional<std::vector<std::wstring>> ReadSentPaths(const COPYDATASTRUCT& copied) {
  const bool fits = copied.dwData == kPathsFollow && copied.cbData <= kSentBytesMax &&
                    copied.cbData % sizeof(wchar_t) == 0;
  if (!fits) {
    return std::nullopt;
  }
  std::wstring_view rest(static_cast<const wchar_t*>(copied.lpData),
                         copied.cbData / sizeof(wchar_t));
  std::vector<std::wstring> paths;
  while (!rest.empty() && paths.size() < kSentPathsMax) {
    const size_t end = rest.find(L'\0');
    if (end == std::wstring_view::npos) {
      return std::nullopt;
    }
    paths.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return paths;
}

}  // namespace sprites
