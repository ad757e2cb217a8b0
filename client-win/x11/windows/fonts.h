// Text in pixels: the user's font for interfaces, and others for letters that it lacks.
//
// Each letter is drawn by itself: scripts that join or reorder letters are shown unjoined, from
// left to right. Invariant: a text can hold anything; a letter that no font has is a box. Cost: a
// letter is drawn once a size, then looked up.
#ifndef CLIENT_WIN_X11_WINDOWS_FONTS_H_
#define CLIENT_WIN_X11_WINDOWS_FONTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace sprites {

constexpr size_t kGlyphsMax = 4'096;  // letters kept: strangers' names must not fill the memory

enum class Weight : uint8_t { kRegular, kBold };

struct FontSize {
  int pixels = 14;
  Weight weight = Weight::kRegular;

  bool operator<(const FontSize& other) const {
    return std::tie(pixels, weight) < std::tie(other.pixels, other.weight);
  }
};

// A letter: how much of each pixel it covers, 0 … 255.
struct Glyph {
  std::vector<uint8_t> cover;
  int width = 0;
  int height = 0;
  int left = 0;  // px from the pen to the first column
  int top = 0;   // px from the base line up to the first row
  int advance = 0;
};

struct FontMetrics {
  int ascent = 0;   // px above the base line
  int descent = 0;  // px below it
  int LineHeight() const { return ascent + descent; }
};

class Fonts {
 public:
  Fonts();
  ~Fonts();
  Fonts(const Fonts&) = delete;
  Fonts& operator=(const Fonts&) = delete;

  FontMetrics MetricsOf(FontSize size);
  // Valid until the next call.
  const Glyph& Find(FontSize size, char32_t letter);
  // Letters that are kept.
  size_t kept() const { return glyphs_.size(); }
  int WidthOf(FontSize size, std::string_view text);
  // `text` in lines of at most `width` px, broken at spaces and at each '\n'; a word that is wider
  // than a line is broken between letters.
  std::vector<std::string> Wrapped(FontSize size, std::string_view text, int width);

 private:
  struct Library;

  size_t BytesThatFit(FontSize size, std::string_view text, int width);

  std::unique_ptr<Library> library_;
  std::map<std::pair<FontSize, char32_t>, Glyph> glyphs_;
};

// The letters of UTF-8; an invalid byte is U+FFFD.
std::u32string LettersOf(std::string_view text);

}  // namespace sprites

#endif  // CLIENT_WIN_X11_WINDOWS_FONTS_H_
