// Sprites for Windows.
//   Sprites.exe [FILE …]         imports the files: .spr files or any pictures
//   Sprites.exe --link LINK      opens a link, as Windows does with `sprites:` links
//
// A web page chooses what is in a link, so nothing but the link is read beside it. A second
// instance sends its files or its link to the first and ends. Exit codes: 0 success, 1 the first
// instance does not answer.
#include <windows.h>
// After windows.h.
#include <commctrl.h>
#include <objbase.h>
#include <shellapi.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/text/texts.h"
#include "win32/shell.h"
#include "win32/system/data_folder.h"
#include "win32/system/machine.h"
#include "win32/system/minidump.h"
#include "win32/system/single_instance.h"
#include "win32/system/text16.h"

namespace sprites {

namespace {

constexpr wchar_t kLinkOption[] = L"--link";

// The paths and the link on the command line. The paths are made absolute because the first
// instance may have to read them.
Arguments ReadArguments() {
  int count = 0;
  wchar_t** words = CommandLineToArgvW(GetCommandLineW(), &count);
  if (count > 1 && std::wstring_view(words[1]) == kLinkOption) {
    const std::wstring link = count == 3 ? words[2] : L"";
    LocalFree(words);
    return {{}, link, true};
  }
  std::vector<std::wstring> paths;
  for (int i = 1; i < count && paths.size() < kSentPathsMax; i++) {
    std::error_code failed;
    const auto path = std::filesystem::absolute(words[i], failed);
    paths.push_back(failed ? words[i] : path.wstring());
  }
  LocalFree(words);
  return {paths, L"", false};
}

int Main() {
  Arguments arguments = ReadArguments();
  const auto portable = PortableFolder();
  SingleInstance instance(portable.value_or(DataFolder()));
  const StartOutcome outcome = instance.Start(arguments);
  if (outcome == StartOutcome::kFailed) {
    const std::wstring text = Wide(Say(SystemLanguage(), Text::kStartFailed));
    MessageBoxW(nullptr, text.c_str(), L"Sprites", MB_OK | MB_ICONWARNING | MB_SETFOREGROUND);
  }
  if (outcome != StartOutcome::kIsFirst) {
    return outcome == StartOutcome::kSent ? 0 : 1;
  }
  const HRESULT com = CoInitializeEx(nullptr, COINIT_APARTMENTTHREADED);
  constexpr DWORD kControls =
      ICC_STANDARD_CLASSES | ICC_BAR_CLASSES | ICC_LISTVIEW_CLASSES | ICC_TAB_CLASSES;
  const INITCOMMONCONTROLSEX controls{sizeof controls, kControls};
  InitCommonControlsEx(&controls);
  const std::filesystem::path folder = portable ? *portable : MadeDataFolder();
  WriteMinidumps(folder / L"dumps");
  Shell(folder, portable.has_value(), instance).Run(std::move(arguments));
  if (SUCCEEDED(com)) {
    CoUninitialize();
  }
  return 0;
}

}  // namespace

}  // namespace sprites

int WINAPI wWinMain(HINSTANCE, HINSTANCE, LPWSTR, int) { return sprites::Main(); }
