// A program with one window, which stands in for any other program in the tests.
//   stand-in TITLE LEFT TOP WIDTH HEIGHT     a window with a caption at that place
//   stand-in TITLE full                      without a caption, covers the primary monitor
//   stand-in TITLE full WIDTH HEIGHT         likewise, at that resolution until it is closed
//   stand-in TITLE lock FILE                 a window that keeps the file open for itself alone
//   stand-in FILE tray                       a new task bar: notes each call for its icons
//   stand-in CLASS send MESSAGE WPARAM [LPARAM]   sends a message to a window, and ends
//   stand-in CLASS post MESSAGE WPARAM [LPARAM]   likewise, without waiting for its answer
//   stand-in TITLE has-keys                  whether the foreground window has that title
//   stand-in TITLE throw                     drags that window over the right edge, and ends
//   stand-in FILE picture                    writes the screen into that file as BMP, and ends
// `tray` writes "message flags" of Shell_NotifyIcon into the file, a line each, in hexadecimal.
// The wheel and the middle button change its title to Wheel and Middle. Ends when its window is
// closed or the escape key is pressed. Exit codes: 0 closed or done, 1 the monitor does not have
// that resolution, another window has the keyboard, there is no such window, or the file can't be
// written, 2 wrong arguments.
#include <windows.h>
// After windows.h.
#include <shellapi.h>

#include <algorithm>
#include <cstdio>
#include <cwchar>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr ULONGLONG kLockMs = 30'000;  // that a program of a test may have a file open

struct Options {
  std::wstring title;
  bool is_full = false;
  RECT rect{};
  SIZE resolution{};
  std::wstring locked;  // the path of a file
  std::wstring calls;   // of Shell_NotifyIcon: the path of a file
};

std::FILE* calls = nullptr;

// Returns false if the arguments are wrong.
bool ReadOptions(Options* options) {
  int count = 0;
  wchar_t** arguments = CommandLineToArgvW(GetCommandLineW(), &count);
  const std::vector<std::wstring> words(arguments + 1, arguments + count);
  LocalFree(arguments);
  const auto number = [&](size_t index) { return std::wcstol(words[index].c_str(), nullptr, 10); };
  if (words.size() < 2) {
    return false;
  }
  options->title = words[0];
  options->is_full = words[1] == L"full";
  if (options->is_full && words.size() == 4) {
    options->resolution = {number(2), number(3)};
  }
  if (options->is_full) {
    return words.size() == 2 || words.size() == 4;
  }
  if (words[1] == L"lock" && words.size() == 3) {
    options->locked = words[2];
    options->rect = {600, 20, 800, 120};
    return true;
  }
  if (words[1] == L"tray" && words.size() == 2) {
    options->title = L"Tray";
    options->calls = words[0];
    options->rect = {600, 20, 800, 120};
    return true;
  }
  if (words.size() != 5) {
    return false;
  }
  options->rect = {number(1), number(2), number(1) + number(3), number(2) + number(4)};
  return true;
}

SIZE Resolution() { return {GetSystemMetrics(SM_CXSCREEN), GetSystemMetrics(SM_CYSCREEN)}; }

bool SetResolution(SIZE resolution) {
  DEVMODEW mode{};
  mode.dmSize = sizeof mode;
  mode.dmFields = DM_PELSWIDTH | DM_PELSHEIGHT;
  mode.dmPelsWidth = static_cast<DWORD>(resolution.cx);
  mode.dmPelsHeight = static_cast<DWORD>(resolution.cy);
  return ChangeDisplaySettingsW(&mode, CDS_FULLSCREEN) == DISP_CHANGE_SUCCESSFUL;
}

// Shell_NotifyIcon sends its arguments to the task bar. Wine's begin with three numbers: window,
// icon, flags.
void WriteCall(const COPYDATASTRUCT& sent) {
  const auto* numbers = static_cast<const UINT*>(sent.lpData);
  std::fprintf(calls, "%x %x\n", static_cast<UINT>(sent.dwData), numbers[2]);
  std::fflush(calls);
}

LRESULT CALLBACK OnMessage(HWND window, UINT message, WPARAM wparam, LPARAM lparam) {
  switch (message) {
    case WM_KEYDOWN:
      if (wparam == VK_ESCAPE) {
        DestroyWindow(window);
      }
      return 0;
    case WM_MOUSEWHEEL:
    case WM_MBUTTONDOWN:
      SetWindowTextW(window, message == WM_MOUSEWHEEL ? L"Wheel" : L"Middle");
      return 0;
    case WM_COPYDATA:
      if (calls != nullptr) {
        WriteCall(*reinterpret_cast<const COPYDATASTRUCT*>(lparam));
      }
      return TRUE;
    case WM_DESTROY:
      PostQuitMessage(0);
      return 0;
    default:
      return DefWindowProcW(window, message, wparam, lparam);
  }
}

HWND MakeWindow(const Options& options) {
  WNDCLASSW description{};
  description.lpfnWndProc = OnMessage;
  description.hInstance = GetModuleHandleW(nullptr);
  description.hCursor = LoadCursorW(nullptr, IDC_ARROW);
  description.hbrBackground = reinterpret_cast<HBRUSH>(COLOR_WINDOW + 1);
  description.lpszClassName = calls == nullptr ? L"SpritesStandIn" : L"Shell_TrayWnd";
  RegisterClassW(&description);
  RECT rect = options.rect;
  if (options.is_full) {
    const SIZE all = Resolution();
    rect = {0, 0, all.cx, all.cy};
  }
  return CreateWindowExW(0, description.lpszClassName, options.title.c_str(),
                         (options.is_full ? WS_POPUP : WS_OVERLAPPEDWINDOW) | WS_VISIBLE, rect.left,
                         rect.top, rect.right - rect.left, rect.bottom - rect.top, nullptr, nullptr,
                         description.hInstance, nullptr);
}

// Sends an event of the mouse at a place of the primary monitor.
void SendMouse(POINT at, DWORD event) {
  const SIZE all = Resolution();
  INPUT input{};
  input.type = INPUT_MOUSE;
  input.mi.dx = MulDiv(at.x, 65535, all.cx - 1);
  input.mi.dy = MulDiv(at.y, 65535, all.cy - 1);
  input.mi.dwFlags = event | MOUSEEVENTF_MOVE | MOUSEEVENTF_ABSOLUTE;
  SendInput(1, &input, sizeof input);
}

bool ThrowRight(const wchar_t* title) {
  const HWND window = FindWindowW(nullptr, title);
  RECT place{};
  if (window == nullptr || !GetWindowRect(window, &place)) {
    return false;
  }
  POINT at{(place.left + place.right) / 2, (place.top + place.bottom) / 2};
  SendMouse(at, 0);
  SendMouse(at, MOUSEEVENTF_LEFTDOWN);
  const LONG edge = Resolution().cx - 1;
  while (at.x < edge) {
    Sleep(16);
    at.x = std::min(at.x + 40, edge);
    SendMouse(at, 0);
  }
  SendMouse(at, MOUSEEVENTF_LEFTUP);
  return true;
}

// Keeps a file open for this process alone, until that ends. Waits while another program has it
// open, or is replacing it.
bool Lock(const wchar_t* path) {
  const ULONGLONG end_ms = GetTickCount64() + kLockMs;
  while (CreateFileW(path, GENERIC_READ, 0, nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL,
                     nullptr) == INVALID_HANDLE_VALUE) {
    const DWORD why = GetLastError();
    if ((why != ERROR_SHARING_VIOLATION && why != ERROR_FILE_NOT_FOUND) ||
        GetTickCount64() > end_ms) {
      return false;
    }
    Sleep(10);
  }
  return true;
}

bool WritePicture(const wchar_t* path) {
  const SIZE all = Resolution();
  BITMAPINFOHEADER about{};
  about.biSize = sizeof about;
  about.biWidth = all.cx;
  about.biHeight = -all.cy;  // the first row is the top one
  about.biPlanes = 1;
  about.biBitCount = 32;
  const HDC screen = GetDC(nullptr);
  const HDC memory = CreateCompatibleDC(screen);
  void* pixels = nullptr;
  const HBITMAP bitmap = CreateDIBSection(screen, reinterpret_cast<BITMAPINFO*>(&about),
                                          DIB_RGB_COLORS, &pixels, nullptr, 0);
  SelectObject(memory, bitmap);
  BitBlt(memory, 0, 0, all.cx, all.cy, screen, 0, 0, SRCCOPY | CAPTUREBLT);
  GdiFlush();
  const DWORD size = 4 * static_cast<DWORD>(all.cx) * static_cast<DWORD>(all.cy);
  BITMAPFILEHEADER head{};
  head.bfType = 0x4d42;
  head.bfOffBits = sizeof head + sizeof about;
  head.bfSize = head.bfOffBits + size;
  std::FILE* file = _wfopen(path, L"wb");
  if (file == nullptr) {
    return false;
  }
  const bool is_written = std::fwrite(&head, sizeof head, 1, file) == 1 &&
                          std::fwrite(&about, sizeof about, 1, file) == 1 &&
                          std::fwrite(pixels, size, 1, file) == 1;
  return std::fclose(file) == 0 && is_written;
}

}  // namespace

int WINAPI wWinMain(HINSTANCE, HINSTANCE, LPWSTR, int) {
  int count = 0;
  wchar_t** words = CommandLineToArgvW(GetCommandLineW(), &count);
  const std::wstring_view verb = count > 2 ? words[2] : L"";
  if ((count == 5 || count == 6) && (verb == L"send" || verb == L"post")) {
    const HWND window = FindWindowW(words[1], nullptr);
    const auto message = static_cast<UINT>(std::wcstoul(words[3], nullptr, 0));
    const WPARAM parameter = std::wcstoul(words[4], nullptr, 0);
    const LPARAM more = count == 6 ? std::wcstol(words[5], nullptr, 0) : 0;
    if (verb == L"post") {
      PostMessageW(window, message, parameter, more);
    } else {
      SendMessageW(window, message, parameter, more);
    }
    return window == nullptr ? 1 : 0;
  }
  if (count == 3 && verb == L"has-keys") {
    wchar_t title[64]{};
    GetWindowTextW(GetForegroundWindow(), title, 64);
    return std::wstring_view(title) == words[1] ? 0 : 1;
  }
  if (count == 3 && verb == L"throw") {
    return ThrowRight(words[1]) ? 0 : 1;
  }
  if (count == 3 && verb == L"picture") {
    return WritePicture(words[1]) ? 0 : 1;
  }
  Options options;
  if (!ReadOptions(&options)) {
    return 2;
  }
  if (!options.locked.empty() && !Lock(options.locked.c_str())) {
    return 1;
  }
  if (!options.calls.empty()) {
    calls = _wfopen(options.calls.c_str(), L"wb");
    if (calls == nullptr) {
      return 1;
    }
  }
  const SIZE before = Resolution();
  const bool changes = options.resolution.cx > 0;
  if (changes && !SetResolution(options.resolution)) {
    return 1;
  }
  SetForegroundWindow(MakeWindow(options));
  if (calls != nullptr) {
    PostMessageW(HWND_BROADCAST, RegisterWindowMessageW(L"TaskbarCreated"), 0, 0);
  }
  MSG message;
  while (GetMessageW(&message, nullptr, 0, 0) > 0) {
    DispatchMessageW(&message);
  }
  if (changes) {
    SetResolution(before);  // not the default one, which for Wine may be that of the game by now
  }
  return 0;
}
