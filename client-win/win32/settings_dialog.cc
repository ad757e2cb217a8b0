#include "win32/settings_dialog.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <string>

#include "core/poller.h"
#include "win32/resource.h"
#include "win32/text16.h"

namespace sprites {

namespace {

struct SwitchBox {
  int id;
  bool Settings::*place;
};
constexpr std::array<SwitchBox, 7> kSwitches = {{{IDC_SOUND, &Settings::sound},
                                                 {IDC_TOASTS, &Settings::toasts},
                                                 {IDC_CALM, &Settings::calm},
                                                 {IDC_ALL_MONITORS, &Settings::all_monitors},
                                                 {IDC_HIDE, &Settings::hide_in_full_screen},
                                                 {IDC_START, &Settings::start_with_system},
                                                 {IDC_ASK, &Settings::ask_before_closing}}};

struct TextBox {
  int id;
  std::string Settings::*place;
  size_t letters_max;
};
constexpr std::array<TextBox, 4> kTexts = {{{IDC_RELAY, &Settings::relay, kUrlBytesMax},
                                            {IDC_NAME, &Settings::name, kNameBytesMax},
                                            {IDC_WORLD, &Settings::world, kNameBytesMax},
                                            {IDC_BESIDE, &Settings::beside, kIdBytesMax}}};

constexpr std::array<double, 6> kScales = {0.5, 1, 1.5, 2, 3, 4};
constexpr std::array<const wchar_t*, 3> kAccepts = {L"Only those that come with the program",
                                                    L"Also of everybody in a private world",
                                                    L"Everybody's"};

HWND open_dialog = nullptr;

std::string TextIn(HWND dialog, int id) {
  const HWND box = GetDlgItem(dialog, id);
  std::wstring text(static_cast<size_t>(GetWindowTextLengthW(box)) + 1, 0);
  text.resize(static_cast<size_t>(GetWindowTextW(box, text.data(), static_cast<int>(text.size()))));
  return Narrow(text);
}

void AddTo(HWND dialog, int id, const std::wstring& text) {
  SendDlgItemMessageW(dialog, id, CB_ADDSTRING, 0, reinterpret_cast<LPARAM>(text.c_str()));
}

size_t ChosenIn(HWND dialog, int id) {
  return static_cast<size_t>(
      std::max<LRESULT>(0, SendDlgItemMessageW(dialog, id, CB_GETCURSEL, 0, 0)));
}

size_t NearestScale(double scale) {
  size_t nearest = 0;
  for (size_t i = 1; i < kScales.size(); i++) {
    if (std::abs(kScales[i] - scale) < std::abs(kScales[nearest] - scale)) {
      nearest = i;
    }
  }
  return nearest;
}

void Fill(HWND dialog, const Settings& settings) {
  for (const auto& [id, place, letters_max] : kTexts) {
    SendDlgItemMessageW(dialog, id, EM_SETLIMITTEXT, letters_max, 0);
    SetDlgItemTextW(dialog, id, Wide(settings.*place).c_str());
  }
  for (const auto& [id, place] : kSwitches) {
    CheckDlgButton(dialog, id, settings.*place ? BST_CHECKED : BST_UNCHECKED);
  }
  for (const double scale : kScales) {
    AddTo(dialog, IDC_SCALE, std::to_wstring(std::lround(scale * 100)) + L" %");
  }
  SendDlgItemMessageW(dialog, IDC_SCALE, CB_SETCURSEL, NearestScale(settings.scale), 0);
  for (const wchar_t* accept : kAccepts) {
    AddTo(dialog, IDC_ACCEPT, accept);
  }
  SendDlgItemMessageW(dialog, IDC_ACCEPT, CB_SETCURSEL, static_cast<WPARAM>(settings.accept), 0);
  SetDlgItemInt(dialog, IDC_MOST, static_cast<UINT>(settings.sprites_most), FALSE);
  SetDlgItemInt(dialog, IDC_CACHE, static_cast<UINT>(settings.cache_mib), FALSE);
}

// What is wrong with what was typed; empty when nothing is.
std::wstring ComplaintAbout(HWND dialog) {
  if (!RelayOrigin(TextIn(dialog, IDC_RELAY))) {
    return L"The relay is an address such as https://relay.example";
  }
  const auto is_outside = [&](int id, UINT low, UINT high) {
    BOOL is_number = FALSE;
    const UINT number = GetDlgItemInt(dialog, id, &is_number, FALSE);
    return !is_number || number < low || number > high;
  };
  if (is_outside(IDC_MOST, kSpritesMostMin, kSpritesMostMax)) {
    return L"Sprites at once: " + std::to_wstring(kSpritesMostMin) + L" to " +
           std::to_wstring(kSpritesMostMax);
  }
  if (is_outside(IDC_CACHE, kCacheMiBMin, kCacheMiBMax)) {
    return L"Disk for pictures: " + std::to_wstring(kCacheMiBMin) + L" to " +
           std::to_wstring(kCacheMiBMax) + L" MiB";
  }
  return L"";
}

void Read(HWND dialog, Settings* settings) {
  for (const auto& [id, place, letters_max] : kTexts) {
    settings->*place = TextIn(dialog, id);
  }
  for (const auto& [id, place] : kSwitches) {
    settings->*place = IsDlgButtonChecked(dialog, id) == BST_CHECKED;
  }
  const size_t scale = ChosenIn(dialog, IDC_SCALE);
  if (scale != NearestScale(settings->scale)) {  // one from the file may lie between two of ours
    settings->scale = kScales[scale];
  }
  settings->accept = static_cast<Accept>(ChosenIn(dialog, IDC_ACCEPT));
  settings->sprites_most = static_cast<int>(GetDlgItemInt(dialog, IDC_MOST, nullptr, FALSE));
  settings->cache_mib = static_cast<int>(GetDlgItemInt(dialog, IDC_CACHE, nullptr, FALSE));
}

void Confirm(HWND dialog) {
  const std::wstring complaint = ComplaintAbout(dialog);
  if (!complaint.empty()) {
    SetDlgItemTextW(dialog, IDC_COMPLAINT, complaint.c_str());
    MessageBeep(MB_ICONWARNING);
    return;
  }
  Read(dialog, reinterpret_cast<Settings*>(GetWindowLongPtrW(dialog, GWLP_USERDATA)));
  EndDialog(dialog, IDOK);
}

INT_PTR CALLBACK OnDialog(HWND dialog, UINT message, WPARAM wide, LPARAM wider) {
  switch (message) {
    case WM_INITDIALOG:
      open_dialog = dialog;
      SetWindowLongPtrW(dialog, GWLP_USERDATA, wider);
      Fill(dialog, *reinterpret_cast<const Settings*>(wider));
      return TRUE;
    case WM_COMMAND:
      if (LOWORD(wide) == IDOK) {
        Confirm(dialog);
      } else if (LOWORD(wide) == IDCANCEL) {
        EndDialog(dialog, IDCANCEL);
      }
      return TRUE;
    case WM_DESTROY:
      open_dialog = nullptr;
      return TRUE;
    default:
      return FALSE;
  }
}

}  // namespace

std::optional<Settings> AskForSettings(HWND owner, const Settings& settings) {
  if (open_dialog != nullptr) {
    SetForegroundWindow(open_dialog);
    return std::nullopt;
  }
  Settings edited = settings;
  const INT_PTR ended = DialogBoxParamW(GetModuleHandleW(nullptr), MAKEINTRESOURCEW(IDD_SETTINGS),
                                        owner, OnDialog, reinterpret_cast<LPARAM>(&edited));
  return ended == IDOK ? std::optional(WithinLimits(std::move(edited))) : std::nullopt;
}

}  // namespace sprites
