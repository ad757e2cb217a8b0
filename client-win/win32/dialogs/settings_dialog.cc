#include "win32/dialogs/settings_dialog.h"

#include <commctrl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>

#include "core/picture/sheet.h"
#include "core/relay/relay_link.h"
#include "core/relay/seat.h"
#include "core/text/text.h"
#include "core/words/choices_menu.h"
#include "win32/system/dialog_look.h"
#include "win32/system/resource.h"
#include "win32/system/text16.h"

namespace sprites {

namespace {

struct CheckBox {
  int id;
  bool Settings::*field;
  Text label;
};
constexpr std::array<CheckBox, 14> kCheckBoxes = {
    {{IDC_SOUND, &Settings::sound, Text::kSettingsSound},
     {IDC_TOASTS, &Settings::toasts, Text::kSettingsToasts},
     {IDC_BUBBLES, &Settings::bubbles, Text::kSettingsBubbles},
     {IDC_PEEK, &Settings::peek_at_edges, Text::kSettingsPeek},
     {IDC_CALM, &Settings::calm, Text::kSettingsCalm},
     {IDC_ALL_MONITORS, &Settings::all_monitors, Text::kSettingsMonitors},
     {IDC_HIDE, &Settings::hide_in_full_screen, Text::kSettingsHide},
     {IDC_QUIET, &Settings::quiet, Text::kSettingsQuiet},
     {IDC_START, &Settings::start_with_system, Text::kSettingsStart},
     {IDC_ASK, &Settings::ask_before_closing, Text::kSettingsAsk},
     {IDC_PIXELS, &Settings::whole_pixels, Text::kSettingsPixels},
     {IDC_CLICK_THROUGH, &Settings::click_through, Text::kSettingsClickThrough},
     {IDC_SHARING, &Settings::out_of_shared_screens, Text::kSettingsSharing},
     {IDC_RESTORE, &Settings::restore_windows, Text::kSettingsRestore}}};

struct Label {
  int id;  // of the control that it belongs to
  Text text;
};
constexpr std::array<Label, 10> kLabels = {{{IDC_NAME, Text::kSettingsName},
                                            {IDC_PLACE, Text::kSettingsPlace},
                                            {IDC_WORLD, Text::kSettingsWorld},
                                            {IDC_ACCEPT, Text::kSettingsAccept},
                                            {IDC_SCALE, Text::kSettingsScale},
                                            {IDC_OPACITY, Text::kSettingsOpacity},
                                            {IDC_LANGUAGE, Text::kSettingsLanguage},
                                            {IDC_SPRITE_LIMIT, Text::kSettingsLimit},
                                            {IDC_CACHE, Text::kSettingsDisk},
                                            {IDC_VOLUME, Text::kSettingsVolume}}};

// A page and the controls that are on it, besides their labels.
struct Page {
  Text title;
  std::array<int, 11> ids;
};
constexpr std::array<Page, 3> kPages = {
    {{Text::kSettingsPageYou,
      {IDC_NAME, IDC_PLACE, IDC_WORLD, IDC_ACCEPT, IDC_BUBBLES, IDC_PEEK, IDC_SHOW_HIDDEN}},
     {Text::kSettingsPageSprites,
      {IDC_SCALE, IDC_OPACITY, IDC_SPRITE_LIMIT, IDC_CACHE, IDC_MIB, IDC_ALL_MONITORS, IDC_HIDE,
       IDC_CALM, IDC_PIXELS, IDC_CLICK_THROUGH, IDC_SHARING}},
     {Text::kSettingsPageProgram,
      {IDC_LANGUAGE, IDC_VOLUME, IDC_SOUNDS, IDC_SOUND, IDC_TOASTS, IDC_QUIET, IDC_START, IDC_ASK,
       IDC_RESTORE}}}};

struct TextBox {
  int id;
  size_t bytes_max;
  Text label;
  Text cue;  // shown in the box while it is empty
};
constexpr std::array<TextBox, 3> kTextBoxes = {
    {{IDC_NAME, kNameBytesMax, Text::kSettingsName, Text::kSettingsNameCue},
     {IDC_PLACE, kLinkBytesMax, Text::kSettingsPlace, Text::kSettingsPlaceCue},
     {IDC_WORLD, kNameBytesMax, Text::kSettingsWorld, Text::kSettingsWorldCue}}};

constexpr int kVolumeStep = 5;   // percent, of an arrow key
constexpr int kVolumePage = 20;  // percent, of Page Up and of a click beside the handle
constexpr std::array<double, 6> kScales = {0.5, 1, 1.5, 2, 3, 4};
constexpr std::array<Text, 3> kAccepts = {Text::kSettingsAcceptOwn, Text::kSettingsAcceptFriends,
                                          Text::kSettingsAcceptAll};

// The state of the dialog while it is open.
struct Dialog : SettingsQuestion {
  DialogLook look;
};

HWND open_dialog = nullptr;

std::wstring Words(const Dialog& state, Text text,
                   std::initializer_list<std::string_view> values = {}) {
  return Wide(Say(state.language, text, values));
}

void AddTo(HWND dialog, int id, const std::wstring& text) {
  SendDlgItemMessageW(dialog, id, CB_ADDSTRING, 0, reinterpret_cast<LPARAM>(text.c_str()));
}

size_t SelectionIn(HWND dialog, int id) {
  return static_cast<size_t>(
      std::max<LRESULT>(0, SendDlgItemMessageW(dialog, id, CB_GETCURSEL, 0, 0)));
}

// The index of the choice that is nearest to what the file says.
size_t NearestIn(const auto& choices, double value) {
  size_t nearest = 0;
  for (size_t i = 1; i < choices.size(); i++) {
    if (std::abs(choices[i] - value) < std::abs(choices[nearest] - value)) {
      nearest = i;
    }
  }
  return nearest;
}

// A value that is none of the choices stays while the person chooses no other one.
template <typename Value>
void ReadChoice(HWND dialog, int id, const auto& choices, Value* value) {
  const size_t chosen = SelectionIn(dialog, id);
  if (chosen != NearestIn(choices, *value)) {
    *value = choices[chosen];
  }
}

// The relay, with the invitation as long as it is valid.
std::string PlaceOf(const Settings& settings) {
  return settings.beside.empty() ? settings.relay
                                 : InvitationLink(settings.relay, "", settings.beside);
}

void ShowPage(HWND dialog, const Dialog& state, size_t page) {
  SendDlgItemMessageW(dialog, IDC_PAGES, TCM_SETCURSEL, page, 0);
  for (size_t i = 0; i < kPages.size(); i++) {
    for (const int id : kPages[i].ids) {
      const bool has_use = id != IDC_SHOW_HIDDEN || !state.settings.hidden.empty();
      const int how = i == page && has_use ? SW_SHOW : SW_HIDE;
      for (const HWND control : {GetDlgItem(dialog, id), GetDlgItem(dialog, id + IDC_LABEL)}) {
        if (control != nullptr) {
          ShowWindow(control, how);
        }
      }
    }
  }
}

size_t PageOf(int id) {
  const auto has_it = [id](const Page& page) {
    return std::ranges::find(page.ids, id) != page.ids.end();
  };
  return static_cast<size_t>(std::ranges::find_if(kPages, has_it) - kPages.begin());
}

void AddPages(HWND dialog, const Dialog& state) {
  for (size_t i = 0; i < kPages.size(); i++) {
    std::wstring title = Words(state, kPages[i].title);
    TCITEMW item{};
    item.mask = TCIF_TEXT;
    item.pszText = title.data();
    SendDlgItemMessageW(dialog, IDC_PAGES, TCM_INSERTITEMW, i, reinterpret_cast<LPARAM>(&item));
  }
  // Only the row of tabs: what is on the pages stands on the dialog itself.
  RECT rect{};
  SendDlgItemMessageW(dialog, IDC_PAGES, TCM_GETITEMRECT, 0, reinterpret_cast<LPARAM>(&rect));
  const LONG height = rect.bottom;
  const HWND pages = GetDlgItem(dialog, IDC_PAGES);
  GetClientRect(pages, &rect);
  SetWindowPos(pages, nullptr, 0, 0, rect.right, height, SWP_NOMOVE | SWP_NOZORDER);
  ShowPage(dialog, state, 0);
}

void SetAllWords(HWND dialog, const Dialog& state) {
  SetWords(dialog, 0, Words(state, Text::kSettingsTitle));
  SetWords(dialog, IDOK, Words(state, Text::kButtonOk));
  SetWords(dialog, IDCANCEL, Words(state, Text::kButtonCancel));
  for (const Label& label : kLabels) {
    SetWords(dialog, label.id + IDC_LABEL, Words(state, label.text));
  }
  for (const CheckBox& box : kCheckBoxes) {
    SetWords(dialog, box.id, Words(state, box.label));
  }
  for (const TextBox& box : kTextBoxes) {
    SendDlgItemMessageW(dialog, box.id, EM_SETLIMITTEXT, box.bytes_max, 0);
    SendDlgItemMessageW(dialog, box.id, EM_SETCUEBANNER, TRUE,
                        reinterpret_cast<LPARAM>(Words(state, box.cue).c_str()));
  }
  for (const double scale : kScales) {
    AddTo(dialog, IDC_SCALE, std::to_wstring(std::lround(scale * 100)) + L" %");
  }
  for (const int opacity : kOpacities) {
    AddTo(dialog, IDC_OPACITY, std::to_wstring(opacity) + L" %");
  }
  for (const Text accept : kAccepts) {
    AddTo(dialog, IDC_ACCEPT, Words(state, accept));
  }
  AddTo(dialog, IDC_LANGUAGE, Words(state, Text::kSettingsLanguageSystem));
  AddTo(dialog, IDC_LANGUAGE, L"English");
  AddTo(dialog, IDC_LANGUAGE, L"Deutsch");
  SetWords(dialog, IDC_SOUNDS, Words(state, Text::kSettingsSounds));
  const std::string hidden = std::to_string(state.settings.hidden.size());
  SetWords(dialog, IDC_SHOW_HIDDEN, Words(state, Text::kSettingsShowHidden, {hidden}));
}

void Fill(HWND dialog, const Dialog& state) {
  const Settings& settings = state.settings;
  SetWords(dialog, IDC_NAME, Wide(settings.name));
  SetWords(dialog, IDC_PLACE, Wide(PlaceOf(settings)));
  SetWords(dialog, IDC_WORLD, Wide(settings.world));
  for (const CheckBox& box : kCheckBoxes) {
    CheckDlgButton(dialog, box.id, settings.*box.field ? BST_CHECKED : BST_UNCHECKED);
  }
  SendDlgItemMessageW(dialog, IDC_SCALE, CB_SETCURSEL, NearestIn(kScales, settings.scale), 0);
  SendDlgItemMessageW(dialog, IDC_OPACITY, CB_SETCURSEL, NearestIn(kOpacities, settings.opacity),
                      0);
  SendDlgItemMessageW(dialog, IDC_ACCEPT, CB_SETCURSEL, static_cast<WPARAM>(settings.accept), 0);
  SendDlgItemMessageW(dialog, IDC_LANGUAGE, CB_SETCURSEL, static_cast<WPARAM>(settings.language),
                      0);
  SetDlgItemInt(dialog, IDC_SPRITE_LIMIT, static_cast<UINT>(settings.sprite_limit), FALSE);
  SetDlgItemInt(dialog, IDC_CACHE, static_cast<UINT>(settings.cache_mib), FALSE);
  SendDlgItemMessageW(dialog, IDC_VOLUME, TBM_SETRANGE, FALSE, MAKELPARAM(kVolumeMin, kVolumeMax));
  SendDlgItemMessageW(dialog, IDC_VOLUME, TBM_SETLINESIZE, 0, kVolumeStep);
  SendDlgItemMessageW(dialog, IDC_VOLUME, TBM_SETPAGESIZE, 0, kVolumePage);
  SendDlgItemMessageW(dialog, IDC_VOLUME, TBM_SETPOS, TRUE, settings.volume);
  EnableWindow(GetDlgItem(dialog, IDC_START), state.can_start);
}

// An invalid input: the box that holds it and what to tell the user.
struct InputError {
  int id;
  std::wstring text;
};

// The words of a label, without the mark of its access key.
std::string PlainLabel(const Dialog& state, Text label) {
  std::string text = Say(state.language, label);
  std::erase(text, '&');
  return text;
}

std::optional<InputError> FindTextError(HWND dialog, const Dialog& state) {
  for (const TextBox& box : kTextBoxes) {
    if (TextIn(dialog, box.id).size() > box.bytes_max) {
      return InputError{box.id,
                        Words(state, Text::kSettingsTooLong,
                              {PlainLabel(state, box.label), std::to_string(box.bytes_max)})};
    }
  }
  const std::string place = TextIn(dialog, IDC_PLACE);
  const auto link = ReadRelayLink(place);
  const bool is_known =
      link && !link->entry && !(link->relay.empty() && state.settings.relay.empty());
  if (!place.empty() && !is_known) {
    return InputError{IDC_PLACE, Words(state, Text::kSettingsBadPlace)};
  }
  return std::nullopt;
}

// Returns nullopt if all inputs are valid.
std::optional<InputError> FindInputError(HWND dialog, const Dialog& state) {
  if (auto error = FindTextError(dialog, state)) {
    return error;
  }
  const auto is_out_of_range = [&](int id, UINT low, UINT high) {
    BOOL is_number = FALSE;
    const UINT number = GetDlgItemInt(dialog, id, &is_number, FALSE);
    return !is_number || number < low || number > high;
  };
  const auto error = [&](int id, Text text, int low, int high) {
    return InputError{id, Words(state, text, {std::to_string(low), std::to_string(high)})};
  };
  if (is_out_of_range(IDC_SPRITE_LIMIT, kSpriteLimitMin, kSpriteLimitMax)) {
    return error(IDC_SPRITE_LIMIT, Text::kSettingsBadLimit, kSpriteLimitMin, kSpriteLimitMax);
  }
  if (is_out_of_range(IDC_CACHE, kCacheMiBMin, kCacheMiBMax)) {
    return error(IDC_CACHE, Text::kSettingsBadDisk, kCacheMiBMin, kCacheMiBMax);
  }
  return std::nullopt;
}

// A link names the relay, and may name the world and a friend. The field of the world holds for a
// link without one.
void ReadPlace(HWND dialog, Settings* settings) {
  const auto link = ReadRelayLink(TextIn(dialog, IDC_PLACE));
  settings->world = TextIn(dialog, IDC_WORLD);
  settings->beside.clear();
  if (!link) {
    settings->relay.clear();
    return;
  }
  settings->relay = link->relay.empty() ? settings->relay : link->relay;
  settings->beside = link->invitation;
  settings->world = link->world.empty() ? settings->world : link->world;
}

void ReadInputs(HWND dialog, Settings* settings) {
  settings->name = TextIn(dialog, IDC_NAME);
  ReadPlace(dialog, settings);
  for (const CheckBox& box : kCheckBoxes) {
    settings->*box.field = IsDlgButtonChecked(dialog, box.id) == BST_CHECKED;
  }
  ReadChoice(dialog, IDC_SCALE, kScales, &settings->scale);
  ReadChoice(dialog, IDC_OPACITY, kOpacities, &settings->opacity);
  settings->accept = static_cast<Accept>(SelectionIn(dialog, IDC_ACCEPT));
  settings->language = static_cast<LanguageChoice>(SelectionIn(dialog, IDC_LANGUAGE));
  settings->sprite_limit =
      static_cast<int>(GetDlgItemInt(dialog, IDC_SPRITE_LIMIT, nullptr, FALSE));
  settings->volume = static_cast<int>(SendDlgItemMessageW(dialog, IDC_VOLUME, TBM_GETPOS, 0, 0));
  settings->cache_mib = static_cast<int>(GetDlgItemInt(dialog, IDC_CACHE, nullptr, FALSE));
  if (IsDlgButtonChecked(dialog, IDC_SHOW_HIDDEN) == BST_CHECKED) {
    settings->hidden.clear();
  }
}

void ReadAndClose(HWND dialog, Dialog* state) {
  if (const auto error = FindInputError(dialog, *state)) {
    ShowPage(dialog, *state, PageOf(error->id));
    ShowInputError(dialog, error->id, error->text);
    return;
  }
  ReadInputs(dialog, &state->settings);
  EndDialog(dialog, IDOK);
}

// A link that was pasted fills the field of the world too.
void FollowLink(HWND dialog) {
  const auto link = ReadRelayLink(TextIn(dialog, IDC_PLACE));
  if (link && (!link->world.empty() || !link->invitation.empty())) {
    SetWords(dialog, IDC_WORLD, Wide(link->world));
  }
}

INT_PTR CALLBACK OnDialog(HWND dialog, UINT message, WPARAM wparam, LPARAM lparam) {
  if (message == WM_INITDIALOG) {
    auto* state = reinterpret_cast<Dialog*>(lparam);
    open_dialog = dialog;
    state->look.Begin(dialog);
    SetAllWords(dialog, *state);
    Fill(dialog, *state);
    AddPages(dialog, *state);
    SetWindowLongPtrW(dialog, GWLP_USERDATA, lparam);
    SetForegroundWindow(dialog);
    if (state->begins_at_name) {
      SetFocus(GetDlgItem(dialog, IDC_NAME));
      SendDlgItemMessageW(dialog, IDC_NAME, EM_SETSEL, 0, -1);
    }
    return state->begins_at_name ? FALSE : TRUE;
  }
  auto* state = reinterpret_cast<Dialog*>(GetWindowLongPtrW(dialog, GWLP_USERDATA));
  if (state == nullptr) {
    return FALSE;
  }
  switch (message) {
    case WM_COMMAND:
      if (LOWORD(wparam) == IDOK) {
        ReadAndClose(dialog, state);
      } else if (LOWORD(wparam) == IDCANCEL) {
        EndDialog(dialog, IDCANCEL);
      } else if (LOWORD(wparam) == IDC_SOUNDS) {
        state->open_sounds();
      } else if (LOWORD(wparam) == IDC_PLACE && HIWORD(wparam) == EN_CHANGE) {
        FollowLink(dialog);
      }
      return TRUE;
    case WM_NOTIFY:
      if (reinterpret_cast<const NMHDR*>(lparam)->code == TCN_SELCHANGE) {
        ShowPage(dialog, *state,
                 static_cast<size_t>(SendDlgItemMessageW(dialog, IDC_PAGES, TCM_GETCURSEL, 0, 0)));
      }
      return TRUE;
    case WM_DESTROY:
      open_dialog = nullptr;
      return TRUE;
    default:
      return state->look.Handle(dialog, message, wparam, lparam);
  }
}

}  // namespace

std::optional<Settings> AskForSettings(HWND owner, const SettingsQuestion& question) {
  if (open_dialog != nullptr) {
    SetForegroundWindow(open_dialog);
    return std::nullopt;
  }
  Dialog state{question, {}};
  const INT_PTR ended = DialogBoxParamW(GetModuleHandleW(nullptr), MAKEINTRESOURCEW(IDD_SETTINGS),
                                        owner, OnDialog, reinterpret_cast<LPARAM>(&state));
  return ended == IDOK ? std::optional(WithinLimits(std::move(state.settings))) : std::nullopt;
}

}  // namespace sprites
