// What the window that shows who is here has in it: a row for each desktop, a picture of where they
// sit, and the sprite to throw to one of them.
//
// A shell shows it, and reports what the person chooses. Cost: O(rows + sprites) an update.
#ifndef CLIENT_WIN_CORE_WORDS_COMPANY_VIEW_H_
#define CLIENT_WIN_CORE_WORDS_COMPANY_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/desktop/desktop.h"
#include "core/screen/geometry.h"
#include "core/words/menus.h"

namespace sprites {

constexpr double kFaceSide = 22;       // dip, at most: of a face in the picture
constexpr double kFacePitch = 25;      // dip, at most: from one face to the next
constexpr double kLetterSideMin = 14;  // dip: a letter in a smaller face can't be read

// How somebody is drawn.
enum class Face : uint8_t { kSelf, kHere, kNew, kAway };

struct CompanyRow {
  std::string name;   // as people see it
  std::string where;  // and how they are: "2 to the left, 1 up, away"
  std::string letter;
  Face face = Face::kHere;
  Goal goal;  // nobody's for oneself

  bool operator==(const CompanyRow&) const = default;
};

// The picture in cells, with oneself in the middle.
struct CompanyGrid {
  int columns = 1;
  int rows = 1;
  std::vector<std::pair<int, int>> cells;  // column and row of each, from 0
};
CompanyGrid GridOf(const std::vector<CompanyRow>& rows);

// The faces in a picture of this size, in px; `scale` is px a dip. They shrink until they fit.
std::vector<Rect> FacesIn(const std::vector<CompanyRow>& rows, double width, double height,
                          double scale);

struct ThrowableSprite {
  SpriteId id = kNobody;
  std::string name;

  bool operator==(const ThrowableSprite&) const = default;
};

class CompanyView {
 public:
  // Reads who is here now. Returns whether anything has changed that a window shows.
  bool Update(const Desktop& desktop);
  // The person has chosen a row, or a sprite. REQUIRES: it is there since the last update.
  void Choose(size_t row);
  void ChooseSprite(size_t index);

  // Oneself first.
  const std::vector<CompanyRow>& rows() const { return rows_; }
  size_t chosen() const { return chosen_; }
  // How many are here, or why nobody can be seen.
  const std::string& summary() const { return summary_; }
  const std::vector<ThrowableSprite>& sprites() const { return sprites_; }
  size_t chosen_sprite() const { return chosen_sprite_; }
  // The words of the button that throws, and what it does: nothing while there is nobody to throw
  // to, or no sprite.
  const std::string& throw_words() const { return throw_words_; }
  std::optional<MenuChoice> Throw() const;
  // What the button that changes seats does: asks, or accepts if that one asks. Nothing where the
  // relay would refuse it.
  std::optional<MenuChoice> Swap() const;

 private:
  void SayThrow();

  std::vector<CompanyRow> rows_;
  size_t chosen_ = 0;
  std::string summary_;
  std::vector<ThrowableSprite> sprites_;
  size_t chosen_sprite_ = 0;
  std::string throw_words_;
  bool may_swap_ = false;   // in a private world whose desktops are all listed
  std::string seat_asker_;  // who asks to change seats; empty for nobody
  Language language_ = Language::kEnglish;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_WORDS_COMPANY_VIEW_H_
