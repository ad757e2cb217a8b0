#include "win32/dialogs/company_dialog.h"
// After windows.h.
#include <commctrl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "win32/dialogs/row_list.h"
#include "win32/system/dialog_look.h"
#include "win32/system/owned.h"
#include "win32/system/text16.h"

namespace sprites {

namespace {

using OwnedPen = Owned<HPEN, DeleteObject>;
using OwnedBrush = Owned<HBRUSH, DeleteObject>;

constexpr std::array kNamePercents = {36};  // at most, of the list's width; where they sit has more
constexpr int kNewPercent = 30;             // of the accent, behind who has just come
constexpr double kFrame = 2;                // dip, around a face
constexpr int kCornerPart = 4;              // of a face's side: one of so many parts

double ScaleOf(HWND window) { return GetDpiForWindow(window) / double{USER_DEFAULT_SCREEN_DPI}; }

COLORREF Tinted(COLORREF one, COLORREF other, int percent) {
  const auto mix = [percent](int a, int b) { return (a * percent + b * (100 - percent)) / 100; };
  return RGB(mix(GetRValue(one), GetRValue(other)), mix(GetGValue(one), GetGValue(other)),
             mix(GetBValue(one), GetBValue(other)));
}

COLORREF FillOf(Face face) {
  const COLORREF accent = GetSysColor(COLOR_HIGHLIGHT);
  const COLORREF page = GetSysColor(COLOR_WINDOW);
  const bool is_tinted = face == Face::kNew && !IsHighContrast();  // it has no mixed colours
  return face == Face::kSelf ? accent : is_tinted ? Tinted(accent, page, kNewPercent) : page;
}

void PaintFace(HDC canvas, const Rect& face, const CompanyRow& row, double scale) {
  const bool is_away = row.face == Face::kAway;
  const int accent = is_away ? COLOR_GRAYTEXT : COLOR_HIGHLIGHT;
  const int width = is_away ? 1 : static_cast<int>(std::lround(kFrame * scale));  // dots are thin
  const OwnedPen pen(CreatePen(is_away ? PS_DOT : PS_INSIDEFRAME, width, GetSysColor(accent)));
  const OwnedBrush brush(CreateSolidBrush(FillOf(row.face)));
  const HGDIOBJ old_pen = SelectObject(canvas, pen.get());
  const HGDIOBJ old_brush = SelectObject(canvas, brush.get());
  RECT box{std::lround(face.left), std::lround(face.top), std::lround(face.right),
           std::lround(face.bottom)};
  const int corner = (box.right - box.left) / kCornerPart;
  SetBkMode(canvas, TRANSPARENT);
  RoundRect(canvas, box.left, box.top, box.right, box.bottom, corner, corner);
  if (face.Width() >= kLetterSideMin * scale) {
    SetTextColor(canvas, GetSysColor(row.face == Face::kSelf ? COLOR_HIGHLIGHTTEXT
                                     : is_away               ? COLOR_GRAYTEXT
                                                             : COLOR_WINDOWTEXT));
    DrawTextW(canvas, Wide(row.letter).c_str(), -1, &box,
              DT_CENTER | DT_VCENTER | DT_SINGLELINE | DT_NOPREFIX);
  }
  SelectObject(canvas, old_pen);
  SelectObject(canvas, old_brush);
}

}  // namespace

void CompanyDialog::Update() {
  if (window() != nullptr && view_.Update(*desktop_)) {
    Fill();
  }
}

void CompanyDialog::SetUp() {
  const auto words = [this](Text text) { return Wide(Say(desktop_->language(), text)); };
  SetWords(window(), 0, words(Text::kCompanyTitle));
  SetWords(window(), IDC_THROWN + IDC_LABEL, words(Text::kCompanySprite));
  SetWords(window(), IDC_SWAP, words(Text::kCompanySwap));
  SetWords(window(), IDCANCEL, words(Text::kSayClose));
  SetColumns(GetDlgItem(window(), IDC_COMPANY), words(Text::kCompanyTitle),
             std::array{words(Text::kHeardWho), words(Text::kCompanyWhere)});
  view_ = CompanyView();
  shown_sprites_.clear();
  view_.Update(*desktop_);
  FillSprites();
  Fill();
}

void CompanyDialog::Fill() {
  SetWords(window(), IDC_COMPANY_SUMMARY, Wide(view_.summary()));
  const HWND list = GetDlgItem(window(), IDC_COMPANY);
  const int chosen = static_cast<int>(view_.chosen());
  std::vector<std::vector<std::wstring>> texts;
  for (const CompanyRow& row : view_.rows()) {
    texts.push_back({Wide(row.name), Wide(row.where)});
  }
  ShowRows(list, texts);
  FitColumns(list, kNamePercents);
  if (ChosenRow(list) != chosen) {
    ChooseRow(list, chosen);
  }
  if (shown_sprites_ != view_.sprites()) {
    FillSprites();
  }
  ShowChoices();
}

void CompanyDialog::FillSprites() {
  shown_sprites_ = view_.sprites();
  const HWND box = GetDlgItem(window(), IDC_THROWN);
  SendMessageW(box, CB_RESETCONTENT, 0, 0);
  for (const ThrowableSprite& sprite : shown_sprites_) {
    SendMessageW(box, CB_ADDSTRING, 0, reinterpret_cast<LPARAM>(Wide(sprite.name).c_str()));
  }
  SendMessageW(box, CB_SETCURSEL, view_.chosen_sprite(), 0);
  EnableWindow(box, shown_sprites_.empty() ? FALSE : TRUE);
}

// Shows what can be done with the chosen one.
void CompanyDialog::ShowChoices() {
  SetWords(window(), IDOK, Wide(view_.throw_words()));
  Enable(IDOK, view_.Throw().has_value());
  Enable(IDC_SWAP, view_.Swap().has_value());
  InvalidateRect(GetDlgItem(window(), IDC_COMPANY_PLACES), nullptr, FALSE);
}

// A button that is disabled can't keep the focus.
void CompanyDialog::Enable(int id, bool is_enabled) {
  const HWND button = GetDlgItem(window(), id);
  if (!is_enabled && GetFocus() == button) {
    SetFocus(GetDlgItem(window(), IDC_COMPANY));
  }
  EnableWindow(button, is_enabled ? TRUE : FALSE);
}

void CompanyDialog::Throw() {
  if (const auto choice = view_.Throw()) {
    choose_(*choice);
  }
}

void CompanyDialog::Swap() {
  if (const auto choice = view_.Swap()) {
    choose_(*choice);
  }
}

std::vector<Rect> CompanyDialog::Faces() const {
  const HWND picture = GetDlgItem(window(), IDC_COMPANY_PLACES);
  RECT inside{};
  GetClientRect(picture, &inside);
  return FacesIn(view_.rows(), inside.right, inside.bottom, ScaleOf(window()));
}

void CompanyDialog::Paint(HDC canvas) const {
  RECT inside{};
  GetClientRect(GetDlgItem(window(), IDC_COMPANY_PLACES), &inside);
  FillRect(canvas, &inside, GetSysColorBrush(COLOR_WINDOW));
  const std::vector<Rect> faces = Faces();
  for (size_t i = 0; i < faces.size(); i++) {
    PaintFace(canvas, faces[i], view_.rows()[i], ScaleOf(window()));
  }
  const Rect& chosen = faces[view_.chosen()];
  const RECT ring{std::lround(chosen.left) - 2, std::lround(chosen.top) - 2,
                  std::lround(chosen.right) + 2, std::lround(chosen.bottom) + 2};
  FrameRect(canvas, &ring, GetSysColorBrush(COLOR_WINDOWTEXT));
}

bool CompanyDialog::ChooseFace() {
  POINT point{};
  if (GetCursorPos(&point) == FALSE) {
    return false;
  }
  ScreenToClient(GetDlgItem(window(), IDC_COMPANY_PLACES), &point);
  const std::vector<Rect> faces = Faces();
  const auto below = std::ranges::find_if(faces, [&](const Rect& face) {
    return face.Contains({static_cast<double>(point.x), static_cast<double>(point.y)});
  });
  if (below == faces.end()) {
    return false;
  }
  ChooseRow(GetDlgItem(window(), IDC_COMPANY), static_cast<int>(below - faces.begin()));
  return true;
}

void CompanyDialog::HandleCommand(int id, int notice) {
  if (id == IDCANCEL) {
    Close();
  } else if (id == IDOK) {
    Throw();
  } else if (id == IDC_SWAP) {
    Swap();
  } else if (id == IDC_THROWN && notice == CBN_SELCHANGE) {
    view_.ChooseSprite(
        static_cast<size_t>(SendDlgItemMessageW(window(), IDC_THROWN, CB_GETCURSEL, 0, 0)));
  } else if (id == IDC_COMPANY_PLACES && ChooseFace() && notice == STN_DBLCLK) {
    Throw();
  }
}

bool CompanyDialog::Handle(UINT message, WPARAM wparam, LPARAM lparam) {
  switch (message) {
    case WM_DRAWITEM:
      Paint(reinterpret_cast<const DRAWITEMSTRUCT*>(lparam)->hDC);
      return true;
    case WM_COMMAND:
      HandleCommand(LOWORD(wparam), HIWORD(wparam));
      return true;
    case WM_NOTIFY: {
      const auto& notice = *reinterpret_cast<const NMHDR*>(lparam);
      const auto& item = *reinterpret_cast<const NMLISTVIEW*>(lparam);
      if (notice.idFrom != IDC_COMPANY) {
        return false;
      }
      if (notice.code == LVN_ITEMCHANGED && (item.uNewState & LVIS_SELECTED) != 0) {
        view_.Choose(static_cast<size_t>(item.iItem));
        ShowChoices();
      } else if (notice.code == NM_DBLCLK) {
        Throw();
      }
      return false;
    }
    default:
      return false;
  }
}

}  // namespace sprites
