#include "win32/system/clipboard.h"

#include <cstring>
#include <string_view>

#include "win32/system/owned.h"
#include "win32/system/text16.h"

namespace sprites {

namespace {

constexpr int kTries = 10;  // other programs hold the clipboard for some milliseconds
constexpr DWORD kTryMs = 20;

// Holds the clipboard open while it lives.
class Clipboard {
 public:
  explicit Clipboard(HWND owner) {
    for (int i = 0; i < kTries && !is_open_; i++) {
      is_open_ = OpenClipboard(owner) != 0;
      if (!is_open_) {
        Sleep(kTryMs);
      }
    }
  }
  ~Clipboard() {
    if (is_open_) {
      CloseClipboard();
    }
  }
  Clipboard(const Clipboard&) = delete;
  Clipboard& operator=(const Clipboard&) = delete;
  bool is_open() const { return is_open_; }

 private:
  bool is_open_ = false;
};

}  // namespace

bool CopyToClipboard(HWND owner, const std::string& text) {
  std::wstring wide;
  for (const wchar_t letter : Wide(text)) {
    wide += letter == L'\n' ? L"\r\n" : std::wstring(1, letter);
  }
  const Clipboard clipboard(owner);
  if (!clipboard.is_open()) {
    return false;
  }
  const size_t bytes = (wide.size() + 1) * sizeof(wchar_t);
  const HGLOBAL memory = GlobalAlloc(GMEM_MOVEABLE, bytes);
  void* place = memory == nullptr ? nullptr : GlobalLock(memory);
  if (place == nullptr) {
    return false;
  }
  std::memcpy(place, wide.c_str(), bytes);
  GlobalUnlock(memory);
  EmptyClipboard();
  if (SetClipboardData(CF_UNICODETEXT, memory) == nullptr) {
    GlobalFree(memory);
    return false;
  }
  return true;  // the memory is the clipboard's now
}

std::string ClipboardText(HWND owner, size_t bytes_max) {
  if (IsClipboardFormatAvailable(CF_UNICODETEXT) == 0) {
    return "";
  }
  const Clipboard clipboard(owner);
  const HANDLE memory = clipboard.is_open() ? GetClipboardData(CF_UNICODETEXT) : nullptr;
  const auto* text = memory == nullptr ? nullptr : static_cast<const wchar_t*>(GlobalLock(memory));
  if (text == nullptr) {
    return "";
  }
  const size_t letters = wcsnlen(text, GlobalSize(memory) / sizeof(wchar_t));
  const std::string narrow = letters > bytes_max ? "" : Narrow({text, letters});
  GlobalUnlock(memory);
  return narrow.size() > bytes_max ? "" : narrow;
}

}  // namespace sprites
