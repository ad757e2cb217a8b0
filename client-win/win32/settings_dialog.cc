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

struct SwitchBox {
  int id;
  bool Settings::*place;
};
constexpr std::array<SwitchBox, 8> kSwitches = {{{IDC_SOUND, &Settings::sound},
                                                 {IDC_TOASTS, &Settings::toasts},
                                                 {IDC_CALM, &Settings::calm},
                                                 {IDC_ALL_MONITORS, &Settings::all_monitors},
                                                 {IDC_HIDE, &Settings::hide_in_full_screen},
                                                 {IDC_START, &Settings::start_with_system},
                                                 {IDC_ASK, &Settings::ask_before_closing},
                                                 {IDC_RESTORE, &Settings::restore_windows}}};

struct TextBox {
  int id;
  std::string Settings::*place;
  size_t bytes_max;
  const wchar_t* label;
  const wchar_t* cue;  // shown in the empty box
};
constexpr std::array<TextBox, 4> kTexts = {
    {{IDC_NAME, &Settings::name, kNameBytesMax, L"Your name", L"what your neighbours see"},
     {IDC_WORLD, &Settings::world, kNameBytesMax, L"World", L"the world everybody is in"},
     {IDC_BESIDE, &Settings::beside, kIdBytesMax, L"Next to friend", L"the id in an invitation"},
     {IDC_RELAY, &Settings::relay, kUrlBytesMax, L"Relay", L"https://relay.example"}}};
constexpr COLORREF kComplaintColour = RGB(176, 0, 32);

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
  for (const TextBox& box : kTexts) {
    SendDlgItemMessageW(dialog, box.id, EM_SETLIMITTEXT, box.bytes_max, 0);
    SendDlgItemMessageW(dialog, box.id, EM_SETCUEBANNER, TRUE, reinterpret_cast<LPARAM>(box.cue));
    SetDlgItemTextW(dialog, box.id, Wide(settings.*box.place).c_str());
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
  SetDlgItemInt(dialog, IDC_MOST, static_cast<UINT>(settings.sprite_limit), FALSE);
  SetDlgItemInt(dialog, IDC_CACHE, static_cast<UINT>(settings.cache_mib), FALSE);
}

// What is wrong, and in which box.
struct Complaint {
  int id;
  std::wstring text;
};

std::optional<Complaint> ComplaintAboutText(HWND dialog) {
  for (const TextBox& box : kTexts) {
    if (TextIn(dialog, box.id).size() > box.bytes_max) {
      return Complaint{box.id, std::wstring(box.label) + L": too long. " +
                                   std::to_wstring(box.bytes_max) +
                                   L" bytes fit; letters beyond English take 2 to 4."};
    }
  }
  if (const std::string beside = TextIn(dialog, IDC_BESIDE); !beside.empty() && !IsToken(beside)) {
    return Complaint{IDC_BESIDE, L"Next to friend: the id in an invitation, such as 1a2b-3f."};
  }
  if (!RelayOrigin(TextIn(dialog, IDC_RELAY))) {
    return Complaint{IDC_RELAY, L"Relay: an address such as https://relay.example."};
  }
  return std::nullopt;
}

// Nothing when all is well.
std::optional<Complaint> ComplaintAbout(HWND dialog) {
  if (auto complaint = ComplaintAboutText(dialog)) {
    return complaint;
  }
  const auto is_outside = [&](int id, UINT low, UINT high) {
    BOOL is_number = FALSE;
    const UINT number = GetDlgItemInt(dialog, id, &is_number, FALSE);
    return !is_number || number < low || number > high;
  };
  const auto range = [](int low, int high) {
    return std::to_wstring(low) + L" to " + std::to_wstring(high);
  };
  if (is_outside(IDC_MOST, kSpriteLimitMin, kSpriteLimitMax)) {
    return Complaint{IDC_MOST,
                     L"Sprites at once: " + range(kSpriteLimitMin, kSpriteLimitMax) + L"."};
  }
  if (is_outside(IDC_CACHE, kCacheMiBMin, kCacheMiBMax)) {
    return Complaint{IDC_CACHE,
                     L"Disk for pictures: " + range(kCacheMiBMin, kCacheMiBMax) + L" MiB."};
  }
  return std::nullopt;
}

void Read(HWND dialog, Settings* settings) {
  for (const TextBox& box : kTexts) {
    settings->*box.place = TextIn(dialog, box.id);
  }
  for (const auto& [id, place] : kSwitches) {
    settings->*place = IsDlgButtonChecked(dialog, id) == BST_CHECKED;
  }
  const size_t scale = ChosenIn(dialog, IDC_SCALE);
  if (scale != NearestScale(settings->scale)) {  // one from the file may lie between two of ours
    settings->scale = kScales[scale];
  }
  settings->accept = static_cast<Accept>(ChosenIn(dialog, IDC_ACCEPT));
  settings->sprite_limit = static_cast<int>(GetDlgItemInt(dialog, IDC_MOST, nullptr, FALSE));
  settings->cache_mib = static_cast<int>(GetDlgItemInt(dialog, IDC_CACHE, nullptr, FALSE));
}

void Confirm(HWND dialog) {
  if (const auto complaint = ComplaintAbout(dialog)) {
    SetDlgItemTextW(dialog, IDC_COMPLAINT, complaint->text.c_str());
    SendMessageW(dialog, WM_NEXTDLGCTL, reinterpret_cast<WPARAM>(GetDlgItem(dialog, complaint->id)),
                 TRUE);
    MessageBeep(MB_ICONWARNING);
    return;
  }
  Read(dialog, reinterpret_cast<Settings*>(GetWindowLongPtrW(dialog, GWLP_USERDATA)));
  EndDialog(dialog, IDOK);
}

void Begin(HWND dialog, const Settings& settings) {
  open_dialog = dialog;
  const HICON icon = LoadIconW(GetModuleHandleW(nullptr), MAKEINTRESOURCEW(IDI_PROGRAM));
  SendMessageW(dialog, WM_SETICON, ICON_BIG, reinterpret_cast<LPARAM>(icon));
  SendMessageW(dialog, WM_SETICON, ICON_SMALL, reinterpret_cast<LPARAM>(icon));
  Fill(dialog, settings);
}

// The brush behind a label; a complaint is written in red.
INT_PTR Colour(HWND label, HDC canvas) {
  if (GetDlgCtrlID(label) != IDC_COMPLAINT) {
    return FALSE;
  }
  SetTextColor(canvas, kComplaintColour);
  SetBkMode(canvas, TRANSPARENT);
  return reinterpret_cast<INT_PTR>(GetSysColorBrush(COLOR_BTNFACE));
}

INT_PTR CALLBACK OnDialog(HWND dialog, UINT message, WPARAM wide, LPARAM wider) {
  switch (message) {
    case WM_INITDIALOG:
      SetWindowLongPtrW(dialog, GWLP_USERDATA, wider);
      Begin(dialog, *reinterpret_cast<const Settings*>(wider));
      return TRUE;
    case WM_CTLCOLORSTATIC:
      return Colour(reinterpret_cast<HWND>(wider), reinterpret_cast<HDC>(wide));
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
