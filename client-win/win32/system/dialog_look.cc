#include "win32/system/dialog_look.h"

#include "win32/system/resource.h"
#include "win32/system/text16.h"

namespace sprites {

namespace {

constexpr COLORREF kErrorColour = RGB(176, 0, 32);  // on white: a contrast of 7 to 1
constexpr COLORREF kLineColour = RGB(223, 223, 223);
constexpr int kHeadingPercent = 150;  // of the dialog's font
constexpr UINT kRescaled = WM_APP + 1;

int FooterTop(HWND dialog) {
  RECT rect{};
  GetWindowRect(GetDlgItem(dialog, IDC_FOOTER), &rect);
  MapWindowPoints(nullptr, dialog, reinterpret_cast<POINT*>(&rect), 2);
  return rect.top;
}

bool IsInFooter(HWND dialog, HWND control) {
  RECT rect{};
  GetWindowRect(control, &rect);
  MapWindowPoints(nullptr, dialog, reinterpret_cast<POINT*>(&rect), 2);
  return rect.top >= FooterTop(dialog);
}

}  // namespace

bool IsHighContrast() {
  HIGHCONTRASTW contrast{};
  contrast.cbSize = sizeof contrast;
  return SystemParametersInfoW(SPI_GETHIGHCONTRAST, sizeof contrast, &contrast, 0) != 0 &&
         (contrast.dwFlags & HCF_HIGHCONTRASTON) != 0;
}

void DialogLook::Begin(HWND dialog) {
  const HICON icon = LoadIconW(GetModuleHandleW(nullptr), MAKEINTRESOURCEW(IDI_PROGRAM));
  SendMessageW(dialog, WM_SETICON, ICON_BIG, reinterpret_cast<LPARAM>(icon));
  SendMessageW(dialog, WM_SETICON, ICON_SMALL, reinterpret_cast<LPARAM>(icon));
  SetHeadingFont(dialog);
}

void DialogLook::SetHeadingFont(HWND dialog) {
  LOGFONTW font{};
  const auto used = reinterpret_cast<HFONT>(SendMessageW(dialog, WM_GETFONT, 0, 0));
  if (GetDlgItem(dialog, IDC_HEADING) == nullptr || GetObjectW(used, sizeof font, &font) == 0) {
    return;
  }
  font.lfHeight = MulDiv(font.lfHeight, kHeadingPercent, 100);
  font.lfWeight = FW_SEMIBOLD;
  OwnedFont fresh(CreateFontIndirectW(&font));
  SendDlgItemMessageW(dialog, IDC_HEADING, WM_SETFONT, reinterpret_cast<WPARAM>(fresh.get()), TRUE);
  heading_ = std::move(fresh);
}

void DialogLook::Paint(HWND dialog, HDC canvas) const {
  RECT page{};
  GetClientRect(dialog, &page);
  RECT footer = page;
  footer.top = FooterTop(dialog);
  page.bottom = footer.top;
  FillRect(canvas, &page, GetSysColorBrush(COLOR_WINDOW));
  FillRect(canvas, &footer, GetSysColorBrush(COLOR_BTNFACE));
  if (!IsHighContrast()) {
    footer.bottom = footer.top + 1;
    SetDCBrushColor(canvas, kLineColour);
    FillRect(canvas, &footer, static_cast<HBRUSH>(GetStockObject(DC_BRUSH)));
  }
}

INT_PTR DialogLook::Handle(HWND dialog, UINT message, WPARAM wparam, LPARAM lparam) {
  switch (message) {
    case WM_ERASEBKGND:
      Paint(dialog, reinterpret_cast<HDC>(wparam));
      SetWindowLongPtrW(dialog, DWLP_MSGRESULT, TRUE);
      return TRUE;
    case WM_CTLCOLORDLG:
      return reinterpret_cast<INT_PTR>(GetSysColorBrush(COLOR_WINDOW));
    case WM_CTLCOLORBTN:
    case WM_CTLCOLORSTATIC: {
      const auto control = reinterpret_cast<HWND>(lparam);
      const auto canvas = reinterpret_cast<HDC>(wparam);
      const int page = IsInFooter(dialog, control) ? COLOR_BTNFACE : COLOR_WINDOW;
      const bool is_error = GetDlgCtrlID(control) == IDC_ERROR && !IsHighContrast();
      SetTextColor(canvas, is_error ? kErrorColour : GetSysColor(COLOR_WINDOWTEXT));
      SetBkColor(canvas, GetSysColor(page));
      return reinterpret_cast<INT_PTR>(GetSysColorBrush(page));
    }
    case WM_DPICHANGED:
      PostMessageW(dialog, kRescaled, 0, 0);  // the fonts of the dialog change after this message
      return FALSE;
    case kRescaled:
      SetHeadingFont(dialog);
      return TRUE;
    default:
      return FALSE;
  }
}

void SetWords(HWND dialog, int id, const std::wstring& text) {
  SetWindowTextW(id == 0 ? dialog : GetDlgItem(dialog, id), text.c_str());
}

std::string TextIn(HWND dialog, int id) {
  const HWND box = GetDlgItem(dialog, id);
  std::wstring text(static_cast<size_t>(GetWindowTextLengthW(box)) + 1, 0);
  text.resize(static_cast<size_t>(GetWindowTextW(box, text.data(), static_cast<int>(text.size()))));
  return Narrow(text);
}

void ShowNote(HWND dialog, const FieldNote& note) {
  const int shown = note.is_error ? IDC_ERROR : IDC_MEANING;
  const int hidden = note.is_error ? IDC_MEANING : IDC_ERROR;
  SetWords(dialog, shown, Wide(note.text));
  SetWords(dialog, hidden, L"");
  ShowWindow(GetDlgItem(dialog, shown), SW_SHOW);
  ShowWindow(GetDlgItem(dialog, hidden), SW_HIDE);
}

void ShowInputError(HWND dialog, int id, const std::wstring& text) {
  SetWords(dialog, IDC_ERROR, text);
  SendMessageW(dialog, WM_NEXTDLGCTL, reinterpret_cast<WPARAM>(GetDlgItem(dialog, id)), TRUE);
  // A screen reader reads the label that has changed.
  NotifyWinEvent(EVENT_OBJECT_NAMECHANGE, GetDlgItem(dialog, IDC_ERROR), OBJID_CLIENT,
                 CHILDID_SELF);
  MessageBeep(MB_ICONWARNING);
}

}  // namespace sprites
