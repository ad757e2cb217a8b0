// Sprites for Windows. The arguments are files to import: .spr files or any pictures.
//
// A second instance sends its files to the first and ends. Exit codes: 0 success, 1 the first
// instance does not answer.
#include <windows.h>
// After windows.h.
#include <commctrl.h>
#include <objbase.h>
#include <shellapi.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "win32/data_folder.h"
#include "win32/minidump.h"
#include "win32/shell.h"
#include "win32/single_instance.h"

namespace sprites {

namespace {

// The paths on the command line, made absolute because the first instance may have to read them.
std::vector<std::wstring> ArgumentPaths() {
  int count = 0;
  wchar_t** words = CommandLineToArgvW(GetCommandLineW(), &count);
  std::vector<std::wstring> paths;
  for (int i = 1; i < count && paths.size() < kSentPathsMax; i++) {
    std::error_code failed;
    const auto path = std::filesystem::absolute(words[i], failed);
    paths.push_back(failed ? words[i] : path.wstring());
  }
  LocalFree(words);
  return paths;
}

int Main() {
  std::vector<std::wstring> paths = ArgumentPaths();
  SingleInstance instance;
  const Handover handover = instance.Start(paths);
  if (handover != Handover::kIsFirst) {
    return handover == Handover::kSent ? 0 : 1;
  }
  const HRESULT com = CoInitializeEx(nullptr, COINIT_APARTMENTTHREADED);
  const INITCOMMONCONTROLSEX controls{sizeof controls, ICC_STANDARD_CLASSES};
  InitCommonControlsEx(&controls);
  const std::filesystem::path folder = DataFolder();
  WriteMinidumps(folder / L"dumps");
  Shell(folder).Run(std::move(paths));
  if (SUCCEEDED(com)) {
    CoUninitialize();
  }
  return 0;
}

}  // namespace

}  // namespace sprites

int WINAPI wWinMain(HINSTANCE, HINSTANCE, LPWSTR, int) { return sprites::Main(); }
