#include "win32/system/single_instance.h"

#include "core/picture/sheet.h"
#include "win32/system/text16.h"

namespace sprites {

namespace {

constexpr size_t kNameDigits = 32;              // of the hash of the folder
constexpr ULONG_PTR kPathsFollow = 0x53505231;  // "SPR1": paths follow, each terminated by a 0
constexpr ULONG_PTR kLinkFollows = 0x4c505331;  // "1SPL": a link follows, without a 0
constexpr DWORD kSendMsMax = 500;               // ms: a running instance takes it at once

// Upper and lower case are the same in the names of folders.
std::wstring NameFor(const std::filesystem::path& folder) {
  std::wstring path = folder.wstring();
  CharLowerBuffW(path.data(), static_cast<DWORD>(path.size()));
  const std::string bytes = Narrow(path);
  const std::string hash =
      Sha256Hex({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  return L"SpritesDesktop-" + Wide(hash.substr(0, kNameDigits));
}

HWND FindMarked(const std::wstring& name) {
  HWND window = nullptr;
  do {
    window = FindWindowExW(nullptr, window, kMainClass, nullptr);
  } while (window != nullptr && GetPropW(window, name.c_str()) == nullptr);
  return window;
}

// Sends the arguments to the first instance. Returns false if it does not take them.
bool Send(const std::wstring& name, const Arguments& arguments) {
  const HWND window = FindMarked(name);
  if (window == nullptr) {
    return false;
  }
  std::wstring text = arguments.link;
  for (const std::wstring& path : arguments.paths) {
    text += path + L'\0';
  }
  DWORD process = 0;
  GetWindowThreadProcessId(window, &process);
  AllowSetForegroundWindow(process);  // for a question that it may ask
  COPYDATASTRUCT copied{arguments.has_link ? kLinkFollows : kPathsFollow,
                        static_cast<DWORD>(text.size() * sizeof(wchar_t)), text.data()};
  DWORD_PTR accepted = 0;
  return SendMessageTimeoutW(window, WM_COPYDATA, 0, reinterpret_cast<LPARAM>(&copied),
                             SMTO_ABORTIFHUNG, kSendMsMax, &accepted) != 0 &&
         accepted != 0;
}

}  // namespace

SingleInstance::SingleInstance(const std::filesystem::path& folder)
    : name_(NameFor(folder)), mutex_(CreateMutexW(nullptr, FALSE, (L"Global\\" + name_).c_str())) {}

SingleInstance::~SingleInstance() {
  if (is_first_) {
    ReleaseMutex(mutex_.get());
  }
}

StartOutcome SingleInstance::Start(const Arguments& arguments) {
  const StartOutcome outcome =
      StartBeside({.has_ended =
                       [this](int64_t ms) {
                         const DWORD waited =
                             WaitForSingleObject(mutex_.get(), static_cast<DWORD>(ms));
                         return waited == WAIT_OBJECT_0 || waited == WAIT_ABANDONED;
                       },
                   .send = [&] { return Send(name_, arguments); }});
  is_first_ = outcome == StartOutcome::kIsFirst;
  return outcome;
}

void SingleInstance::Mark(HWND window) const {
  SetPropW(window, name_.c_str(), reinterpret_cast<HANDLE>(1));
}

std::optional<std::wstring> ReadSentLink(const COPYDATASTRUCT& copied) {
  const auto text = ReadSentText<wchar_t>(copied.lpData, copied.cbData);
  if (copied.dwData != kLinkFollows || !text) {
    return std::nullopt;
  }
  return std::wstring(*text);
}

std::optional<std::vector<std::wstring>> ReadSentPaths(const COPYDATASTRUCT& copied) {
  const auto text = ReadSentText<wchar_t>(copied.lpData, copied.cbData);
  if (copied.dwData != kPathsFollow || !text) {
    return std::nullopt;
  }
  return ReadSentPaths(*text);
}

}  // namespace sprites
