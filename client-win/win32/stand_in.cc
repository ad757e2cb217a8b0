// A window of another program: plain, or one that covers the screen, as the tests need them.
//   stand-in TITLE LEFT TOP WIDTH HEIGHT     a window with a caption, there
//   stand-in TITLE full                      without a caption, over the whole primary monitor
//   stand-in TITLE full WIDTH HEIGHT         likewise, at that resolution until it is closed
// Ends when its window is closed, or by the escape key: 0; 1: there is no such resolution; 2:
// misused.
#include <windows.h>
// After windows.h.
#include <shellapi.h>

#include <string>
#include <vector>

namespace {

struct Wanted {
  std::wstring title;
  bool is_full = false;
  RECT rect{};
  SIZE resolution{};
};

bool Read(Wanted* wanted) {
  int count = 0;
  wchar_t** given = CommandLineToArgvW(GetCommandLineW(), &count);
  const std::vector<std::wstring> words(given + 1, given + count);
  LocalFree(given);
  const auto number = [&](size_t index) { return std::wcstol(words[index].c_str(), nullptr, 10); };
  if (words.size() < 2) {
    return false;
  }
  wanted->title = words[0];
  wanted->is_full = words[1] == L"full";
  if (wanted->is_full && words.size() == 4) {
    wanted->resolution = {number(2), number(3)};
  }
  if (wanted->is_full) {
    return words.size() == 2 || words.size() == 4;
  }
  if (words.size() != 5) {
    return false;
  }
  wanted->rect = {number(1), number(2), number(1) + number(3), number(2) + number(4)};
  return true;
}

bool SetResolution(SIZE resolution) {
  DEVMODEW mode{};
  mode.dmSize = sizeof mode;
  mode.dmFields = DM_PELSWIDTH | DM_PELSHEIGHT;
  mode.dmPelsWidth = static_cast<DWORD>(resolution.cx);
  mode.dmPelsHeight = static_cast<DWORD>(resolution.cy);
  return ChangeDisplaySettingsW(&mode, CDS_FULLSCREEN) == DISP_CHANGE_SUCCESSFUL;
}

LRESULT CALLBACK OnMessage(HWND window, UINT message, WPARAM wide, LPARAM wider) {
  switch (message) {
    case WM_KEYDOWN:
      if (wide == VK_ESCAPE) {
        DestroyWindow(window);
      }
      return 0;
    case WM_DESTROY:
      PostQuitMessage(0);
      return 0;
    default:
      return DefWindowProcW(window, message, wide, wider);
  }
}

HWND Make(const Wanted& wanted) {
  WNDCLASSW description{};
  description.lpfnWndProc = OnMessage;
  description.hInstance = GetModuleHandleW(nullptr);
  description.hCursor = LoadCursorW(nullptr, IDC_ARROW);
  description.hbrBackground = reinterpret_cast<HBRUSH>(COLOR_WINDOW + 1);
  description.lpszClassName = L"SpritesStandIn";
  RegisterClassW(&description);
  RECT rect = wanted.rect;
  if (wanted.is_full) {
    rect = {0, 0, GetSystemMetrics(SM_CXSCREEN), GetSystemMetrics(SM_CYSCREEN)};
  }
  return CreateWindowExW(0, description.lpszClassName, wanted.title.c_str(),
                         (wanted.is_full ? WS_POPUP : WS_OVERLAPPEDWINDOW) | WS_VISIBLE, rect.left,
                         rect.top, rect.right - rect.left, rect.bottom - rect.top, nullptr, nullptr,
                         description.hInstance, nullptr);
}

}  // namespace

int WINAPI wWinMain(HINSTANCE, HINSTANCE, LPWSTR, int) {
  Wanted wanted;
  if (!Read(&wanted)) {
    return 2;
  }
  const bool changes = wanted.resolution.cx > 0;
  if (changes && !SetResolution(wanted.resolution)) {
    return 1;
  }
  SetForegroundWindow(Make(wanted));
  MSG message;
  while (GetMessageW(&message, nullptr, 0, 0) > 0) {
    DispatchMessageW(&message);
  }
  if (changes) {
    ChangeDisplaySettingsW(nullptr, 0);
  }
  return 0;
}
