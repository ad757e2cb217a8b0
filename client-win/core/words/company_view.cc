#include "core/words/company_view.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "core/text/text.h"

namespace sprites {

namespace {

// "3 to the left", "1 up"; added to what is said already.
void AddWords(const std::string& words, std::string* all) {
  *all += (all->empty() ? "" : ", ") + words;
}

void AddSteps(const Desktop& desktop, int steps, Text back, Text onwards, std::string* all) {
  if (steps != 0) {
    AddWords(Say(desktop.language(), steps < 0 ? back : onwards, {std::to_string(std::abs(steps))}),
             all);
  }
}

CompanyRow RowOf(const Desktop& desktop, const Companion& companion) {
  const auto& [name, column, row] = companion.goal;
  CompanyRow shown{PlainText(name, kNameBytesMax), "", "", Face::kHere, companion.goal};
  AddSteps(desktop, column, Text::kCompanyLeft, Text::kCompanyRight, &shown.where);
  AddSteps(desktop, row, Text::kCompanyUp, Text::kCompanyDown, &shown.where);
  if (companion.is_away) {
    shown.face = Face::kAway;
    AddWords(Say(desktop.language(), Text::kCompanyAway), &shown.where);
  } else if (companion.IsNew(desktop.now_ms())) {
    shown.face = Face::kNew;
    AddWords(Say(desktop.language(), Text::kCompanyNew), &shown.where);
  }
  return shown;
}

std::vector<CompanyRow> RowsOf(const Desktop& desktop) {
  std::vector<CompanyRow> rows;
  const std::string you = Say(desktop.language(), Text::kHeardYou);
  const std::string& name = desktop.relay().name;  // empty until the relay has told it
  rows.push_back({name.empty() ? you : name, name.empty() ? "" : you, "", Face::kSelf});
  for (const Companion& companion : desktop.company().all()) {
    rows.push_back(RowOf(desktop, companion));
  }
  for (CompanyRow& row : rows) {
    row.letter = row.name.substr(0, BytesOfLetters(row.name, 1));
  }
  return rows;
}

int64_t ListedPeople(const Desktop& desktop) {
  return std::ranges::count_if(desktop.company().all(),
                               [](const Companion& one) { return !IsResident(one.goal.name); });
}

bool MaySwap(const Desktop& desktop) {
  const auto& seat = desktop.relay().seat();
  return seat && seat->world != kCommons && desktop.relay().link() == Link::kConnected &&
         desktop.company().people() == 1 + ListedPeople(desktop);
}

std::string SummaryOf(const Desktop& desktop) {
  if (const Neighbour* asker = desktop.SeatAsker()) {
    return Say(desktop.language(), Text::kSwapAsks, {asker->DisplayName()});
  }
  const int64_t people = desktop.company().people();
  if (people == 0 || desktop.relay().link() != Link::kConnected) {
    return StatusOf(desktop);
  }
  const Text text = desktop.company().all().empty()      ? Text::kCompanyAlone
                    : people > 1 + ListedPeople(desktop) ? Text::kCompanySome
                                                         : Text::kCompanyHere;
  return Say(desktop.language(), text, {std::to_string(people)});
}

std::vector<ThrowableSprite> SpritesOf(const Desktop& desktop) {
  std::vector<ThrowableSprite> sprites;
  for (const Sprite& sprite : desktop.simulation().sprites()) {
    const Neighbour* sender = desktop.guests().SenderOf(sprite.id);
    sprites.push_back({sprite.id, sender == nullptr ? sprite.name
                                                    : Say(desktop.language(), Text::kSpriteFrom,
                                                          {sprite.name, sender->DisplayName()})});
  }
  std::ranges::sort(sprites, {}, &ThrowableSprite::id);  // their order changes as they are touched
  return sprites;
}

// The selected sprite, or else the newest own one, or else the newest guest.
SpriteId UsualSprite(const Desktop& desktop) {
  const auto rank = [&](const Sprite& sprite) {
    return std::tuple(sprite.id == desktop.sprites().selected(),
                      desktop.guests().SenderOf(sprite.id) == nullptr, sprite.id);
  };
  const auto& sprites = desktop.simulation().sprites();
  const auto usual = std::ranges::max_element(sprites, {}, rank);
  return usual == sprites.end() ? kNobody : usual->id;
}

// The index of a sprite, or nothing.
std::optional<size_t> IndexOf(const std::vector<ThrowableSprite>& sprites, SpriteId id) {
  const auto found = std::ranges::find(sprites, id, &ThrowableSprite::id);
  return found == sprites.end() ? std::nullopt
                                : std::optional(static_cast<size_t>(found - sprites.begin()));
}

}  // namespace

CompanyGrid GridOf(const std::vector<CompanyRow>& rows) {
  int right = 0;
  int down = 0;
  for (const CompanyRow& row : rows) {
    right = std::max(right, std::abs(row.goal.column));
    down = std::max(down, std::abs(row.goal.row));
  }
  CompanyGrid grid{2 * right + 1, 2 * down + 1, {}};
  for (const CompanyRow& row : rows) {
    grid.cells.emplace_back(row.goal.column + right, row.goal.row + down);
  }
  return grid;
}

std::vector<Rect> FacesIn(const std::vector<CompanyRow>& rows, double width, double height,
                          double scale) {
  const CompanyGrid grid = GridOf(rows);
  const double pitch = std::min({kFacePitch * scale, width / grid.columns, height / grid.rows});
  const double side = pitch * kFaceSide / kFacePitch;
  const double left = (width - pitch * grid.columns + pitch - side) / 2;
  const double top = (height - pitch * grid.rows + pitch - side) / 2;
  std::vector<Rect> faces;
  for (const auto& [column, row] : grid.cells) {
    const double x = left + pitch * column;
    const double y = top + pitch * row;
    faces.push_back({x, y, x + side, y + side});
  }
  return faces;
}

bool CompanyView::Update(const Desktop& desktop) {
  std::vector<CompanyRow> rows = RowsOf(desktop);
  std::vector<ThrowableSprite> sprites = SpritesOf(desktop);
  std::string summary = SummaryOf(desktop);
  const bool may_swap = MaySwap(desktop);
  if (rows == rows_ && sprites == sprites_ && summary == summary_ && may_swap == may_swap_) {
    return false;
  }
  may_swap_ = may_swap;
  const Neighbour* asker = desktop.SeatAsker();
  seat_asker_ = asker == nullptr ? "" : asker->DisplayName();
  // The same one stays chosen, wherever it is now. At first that is the first friend.
  const bool has_choice = rows_.size() > 1;
  const auto same = std::ranges::find_if(rows, [&](const CompanyRow& row) {
    return has_choice && row.goal.name == rows_[chosen_].goal.name;
  });
  chosen_ = same == rows.end() ? std::min<size_t>(1, rows.size() - 1)
                               : static_cast<size_t>(same - rows.begin());
  const std::optional<size_t> kept =
      sprites_.empty() ? std::nullopt : IndexOf(sprites, sprites_[chosen_sprite_].id);
  chosen_sprite_ = kept ? *kept : IndexOf(sprites, UsualSprite(desktop)).value_or(0);
  rows_ = std::move(rows);
  sprites_ = std::move(sprites);
  summary_ = std::move(summary);
  language_ = desktop.language();
  SayThrow();
  return true;
}

void CompanyView::Choose(size_t row) {
  chosen_ = std::min(row, rows_.size() - 1);
  SayThrow();
}

void CompanyView::ChooseSprite(size_t index) {
  chosen_sprite_ = std::min(index, sprites_.size() - 1);
}

std::optional<MenuChoice> CompanyView::Throw() const {
  if (rows_.empty() || sprites_.empty() || rows_[chosen_].goal.name.empty()) {
    return std::nullopt;
  }
  return MenuChoice{MenuCommand::kThrowToFriend,
                    0,
                    {"", rows_[chosen_].goal.name},
                    false,
                    sprites_[chosen_sprite_].id};
}

std::optional<MenuChoice> CompanyView::Swap() const {
  const Goal& chosen = rows_[chosen_].goal;
  if (!may_swap_ || chosen.name.empty()) {
    return std::nullopt;
  }
  return rows_[chosen_].name == seat_asker_
             ? MenuChoice{MenuCommand::kAnswerForSeat, 0, {}, true}
             : MenuChoice{MenuCommand::kAskForSeat, 0, {"", chosen.name}};
}

void CompanyView::SayThrow() {
  const bool is_self = rows_[chosen_].goal.name.empty();
  throw_words_ = is_self ? Say(language_, Text::kCompanyThrow)
                         : Say(language_, Text::kCompanyThrowTo, {NameInMenu(rows_[chosen_].name)});
}

}  // namespace sprites
