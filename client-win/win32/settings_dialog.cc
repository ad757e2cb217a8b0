#include "win32/settings_dialog.h"

#include <commctrl.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <string>

#include "core/picture/sheet.h"
#include "core/relay/seat.h"
#include "core/text/text.h"
#include "win32/resource.h"
#include "win32/text16.h"

namespace sprites {

namespace {

struct CheckBox {
  int id;
  bool Settings::*field;
};
constexpr std::array<CheckBox, 8> kCheckBoxes = {{{IDC_SOUND, &Settings::sound},
                                                  {IDC_TOASTS, &Settings::toasts},
                                                  {IDC_CALM, &Settings::calm},
                                                  {IDC_ALL_MONITORS, &Settings::all_monitors},
                                                  {IDC_HIDE, &Settings::hide_in_full_screen},
                                                  {IDC_START, &Settings::start_with_system},
                                                  {IDC_ASK, &Settings::ask_before_closing},
                                                  {IDC_RESTORE, &Settings::restore_windows}}};

struct TextBox {
  int id;
  std::string Settings::*field;
  size_t bytes_max;
  const wchar_t* label;
  const wchar_t* cue;  // shown in the box while it is empty
};
constexpr std::array<TextBox, 4> kTextBoxes = {
    {{IDC_NAME, &Settings::name, kNameBytesMax, L"Your name", L"what your neighbours see"},
     {IDC_WORLD, &Settings::world, kNameBytesMax, L"World", L"empty: the public world"},
     {IDC_BESIDE, &Settings::beside, kIdBytesMax, L"Next to friend", L"a friend's invitation"},
     {IDC_RELAY, &Settings::relay, kUrlBytesMax, L"Relay", L"https://relay.example"}}};
constexpr COLORREF kErrorColour = RGB(176, 0, 32);

constexpr std::array<double, 6> kScales = {0.5, 1, 1.5, 2, 3, 4};
constexpr std::array<const wchar_t*, 3> kAccepts = {
    L"Only mine and those of the program", L"In private worlds, everybody's", L"Everybody's"};

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

size_t SelectionIn(HWND dialog, int id) {
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
  for (const TextBox& box : kTextBoxes) {
    SendDlgItemMessageW(dialog, box.id, EM_SETLIMITTEXT, box.bytes_max, 0);
    SendDlgItemMessageW(dialog, box.id, EM_SETCUEBANNER, TRUE, reinterpret_cast<LPARAM>(box.cue));
    SetDlgItemTextW(dialog, box.id, Wide(settings.*box.field).c_str());
  }
  for (const auto& [id, field] : kCheckBoxes) {
    CheckDlgButton(dialog, id, settings.*field ? BST_CHECKED : BST_UNCHECKED);
  }
  for (const double scale : kScales) {
    AddTo(dialog, IDC_SCALE, std::to_wstring(std::lround(scale * 100)) + L" %");
  }
  SendDlgItemMessageW(dialog, IDC_SCALE, CB_SETCURSEL, NearestScale(settings.scale), 0);
  for (const wchar_t* accept : kAccepts) {
    AddTo(dialog, IDC_ACCEPT, accept);
  }
  SendDlgItemMessageW(dialog, IDC_ACCEPT, CB_SETCURSEL, static_cast<WPARAM>(settings.accept), 0);
  SetDlgItemInt(dialog, IDC_SPRITE_LIMIT, static_cast<UINT>(settings.sprite_limit), FALSE);
  SetDlgItemInt(dialog, IDC_CACHE, static_cast<UINT>(settings.cache_mib), FALSE);
}

// An invalid input: the box that holds it and what to tell the user.
struct InputError {
  int id;
  std::wstring text;
};

std::optional<InputError> FindTextError(HWND dialog) {
  for (const TextBox& box : kTextBoxes) {
    if (TextIn(dialog, box.id).size() > box.bytes_max) {
      return InputError{box.id, std::wstring(box.label) + L": too long. The limit is " +
                                    std::to_wstring(box.bytes_max) +
                                    L" bytes; a letter outside English takes 2 to 4."};
    }
  }
  if (const std::string beside = TextIn(dialog, IDC_BESIDE); !beside.empty() && !IsToken(beside)) {
    return InputError{IDC_BESIDE,
                      L"Next to friend: enter the invitation that the friend gave you."};
  }
  if (!RelayOrigin(TextIn(dialog, IDC_RELAY))) {
    return InputError{IDC_RELAY, L"Relay: enter an address such as https://relay.example."};
  }
  return std::nullopt;
}

// Returns nullopt if all inputs are valid.
std::optional<InputError> FindInputError(HWND dialog) {
  if (auto error = FindTextError(dialog)) {
    return error;
  }
  const auto is_out_of_range = [&](int id, UINT low, UINT high) {
    BOOL is_number = FALSE;
    const UINT number = GetDlgItemInt(dialog, id, &is_number, FALSE);
    return !is_number || number < low || number > high;
  };
  const auto range = [](int low, int high) {
    return std::to_wstring(low) + L" to " + std::to_wstring(high);
  };
  if (is_out_of_range(IDC_SPRITE_LIMIT, kSpriteLimitMin, kSpriteLimitMax)) {
    return InputError{IDC_SPRITE_LIMIT, L"Sprites at once: enter a number from " +
                                            range(kSpriteLimitMin, kSpriteLimitMax) + L"."};
  }
  if (is_out_of_range(IDC_CACHE, kCacheMiBMin, kCacheMiBMax)) {
    return InputError{IDC_CACHE, L"Disk for pictures: enter a size from " +
                                     range(kCacheMiBMin, kCacheMiBMax) + L" MiB."};
  }
  return std::nullopt;
}

void ReadInputs(HWND dialog, Settings* settings) {
  for (const TextBox& box : kTextBoxes) {
    settings->*box.field = TextIn(dialog, box.id);
  }
  for (const auto& [id, field] : kCheckBoxes) {
    settings->*field = IsDlgButtonChecked(dialog, id) == BST_CHECKED;
  }
  const size_t scale = SelectionIn(dialog, IDC_SCALE);
  if (scale != NearestScale(settings->scale)) {  // else keep it: the file may say 1.25
    settings->scale = kScales[scale];
  }
  settings->accept = static_cast<Accept>(SelectionIn(dialog, IDC_ACCEPT));
  settings->sprite_limit =
      static_cast<int>(GetDlgItemInt(dialog, IDC_SPRITE_LIMIT, nullptr, FALSE));
  settings->cache_mib = static_cast<int>(GetDlgItemInt(dialog, IDC_CACHE, nullptr, FALSE));
}

void ReadAndClose(HWND dialog) {
  if (const auto error = FindInputError(dialog)) {
    SetDlgItemTextW(dialog, IDC_ERROR, error->text.c_str());
    SendMessageW(dialog, WM_NEXTDLGCTL, reinterpret_cast<WPARAM>(GetDlgItem(dialog, error->id)),
                 TRUE);
    MessageBeep(MB_ICONWARNING);
    return;
  }
  ReadInputs(dialog, reinterpret_cast<Settings*>(GetWindowLongPtrW(dialog, GWLP_USERDATA)));
  EndDialog(dialog, IDOK);
}

void Open(HWND dialog, const Settings& settings) {
  open_dialog = dialog;
  const HICON icon = LoadIconW(GetModuleHandleW(nullptr), MAKEINTRESOURCEW(IDI_PROGRAM));
  SendMessageW(dialog, WM_SETICON, ICON_BIG, reinterpret_cast<LPARAM>(icon));
  SendMessageW(dialog, WM_SETICON, ICON_SMALL, reinterpret_cast<LPARAM>(icon));
  Fill(dialog, settings);
}

// Returns the brush for the background of a label, and sets the colour of the error text to red.
INT_PTR ColourLabel(HWND label, HDC canvas) {
  if (GetDlgCtrlID(label) != IDC_ERROR) {
    return FALSE;
  }
  SetTextColor(canvas, kErrorColour);
  SetBkMode(canvas, TRANSPARENT);
  return reinterpret_cast<INT_PTR>(GetSysColorBrush(COLOR_BTNFACE));
}

INT_PTR CALLBACK OnDialog(HWND dialog, UINT message, WPARAM wparam, LPARAM lparam) {
  switch (message) {
    case WM_INITDIALOG:
      SetWindowLongPtrW(dialog, GWLP_USERDATA, lparam);
      Open(dialog, *reinterpret_cast<const Settings*>(lparam));
      return TRUE;
    case WM_CTLCOLORSTATIC:
      return ColourLabel(reinterpret_cast<HWND>(lparam), reinterpret_cast<HDC>(wparam));
    case WM_COMMAND:
      if (LOWORD(wparam) == IDOK) {
        ReadAndClose(dialog);
      } else if (LOWORD(wparam) == IDCANCEL) {
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
