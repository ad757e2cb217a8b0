#include "x11/windows/fonts.h"

#include <fontconfig/fontconfig.h>
#include <ft2build.h>
#include FT_FREETYPE_H

#include <algorithm>
#include <array>
#include <optional>

#include "core/text/text.h"
#include "x11/windows/face_list.h"

namespace sprites {

namespace {

constexpr int kFixedPoint = 64;  // FreeType counts in 64ths of a pixel
constexpr char32_t kReplacement = 0xFFFD;

struct PatternFreed {
  void operator()(FcPattern* pattern) const { FcPatternDestroy(pattern); }
};
struct FontSetFreed {
  void operator()(FcFontSet* set) const { FcFontSetDestroy(set); }
};

}  // namespace

struct Fonts::Library {
  struct Family {
    std::unique_ptr<FcPattern, PatternFreed> pattern;
    std::unique_ptr<FcFontSet, FontSetFreed> sorted;  // the best first
    FaceList<FT_Face> faces;                          // by their place in `sorted`
  };

  FT_Library free_type = nullptr;
  FcConfig* config = nullptr;
  std::array<Family, 2> families;  // by Weight

  Library() {
    FT_Init_FreeType(&free_type);
    config = FcInitLoadConfigAndFonts();
    for (const Weight weight : {Weight::kRegular, Weight::kBold}) {
      Family& family = families[static_cast<size_t>(weight)];
      family.pattern.reset(FcNameParse(reinterpret_cast<const FcChar8*>("sans-serif")));
      FcPatternAddInteger(family.pattern.get(), FC_WEIGHT,
                          weight == Weight::kBold ? FC_WEIGHT_BOLD : FC_WEIGHT_REGULAR);
      FcPatternAddBool(family.pattern.get(), FC_SCALABLE, FcTrue);
      FcConfigSubstitute(config, family.pattern.get(), FcMatchPattern);
      FcDefaultSubstitute(family.pattern.get());
      FcResult result = FcResultMatch;
      family.sorted.reset(FcFontSort(config, family.pattern.get(), FcTrue, nullptr, &result));
    }
  }
  ~Library() {
    for (Family& family : families) {
      family.faces.CloseAll(FT_Done_Face);
      family.sorted.reset();
      family.pattern.reset();
    }
    if (config != nullptr) {
      FcConfigDestroy(config);
    }
    FT_Done_FreeType(free_type);
  }

  // The face with the letter, else the best one; null without any font.
  FT_Face FaceOf(Weight weight, char32_t letter) {
    Family& family = families[static_cast<size_t>(weight)];
    const int count = family.sorted == nullptr ? 0 : family.sorted->nfont;
    for (int i = 0; i < count; i++) {
      FcCharSet* letters = nullptr;
      FcPattern* font = family.sorted->fonts[i];
      const bool has_letter = FcPatternGetCharSet(font, FC_CHARSET, 0, &letters) == FcResultMatch &&
                              FcCharSetHasChar(letters, static_cast<FcChar32>(letter)) != 0;
      FT_Face face = has_letter ? Find(&family, static_cast<size_t>(i)) : nullptr;
      if (face != nullptr) {
        return face;
      }
    }
    for (int i = 0; i < count; i++) {
      if (FT_Face face = Find(&family, static_cast<size_t>(i))) {
        return face;
      }
    }
    return nullptr;
  }

  FT_Face Find(Family* family, size_t number) {
    return family->faces.Find(number, [&] { return Open(family->sorted->fonts[number]); });
  }

  // Null when it can't be opened, or can't be drawn at any size.
  FT_Face Open(FcPattern* font) const {
    FcChar8* file = nullptr;
    int index = 0;
    FcPatternGetInteger(font, FC_INDEX, 0, &index);
    FT_Face face = nullptr;
    const bool is_open =
        FcPatternGetString(font, FC_FILE, 0, &file) == FcResultMatch &&
        FT_New_Face(free_type, reinterpret_cast<const char*>(file), index, &face) == 0;
    if (!is_open || !FT_IS_SCALABLE(face)) {
      if (face != nullptr) {
        FT_Done_Face(face);
      }
      return nullptr;
    }
    return face;
  }
};

Fonts::Fonts() : library_(std::make_unique<Library>()) {}

Fonts::~Fonts() = default;

FontMetrics Fonts::MetricsOf(FontSize size) {
  FT_Face face = library_->FaceOf(size.weight, U'x');
  if (face == nullptr) {
    return {size.pixels, size.pixels / 4};
  }
  FT_Set_Pixel_Sizes(face, 0, static_cast<FT_UInt>(size.pixels));
  const FT_Size_Metrics& metrics = face->size->metrics;
  return {static_cast<int>((metrics.ascender + kFixedPoint - 1) / kFixedPoint),
          static_cast<int>((-metrics.descender + kFixedPoint - 1) / kFixedPoint)};
}

const Glyph& Fonts::Find(FontSize size, char32_t letter) {
  if (glyphs_.size() >= kGlyphsMax) {
    glyphs_.clear();
  }
  const auto [place, is_new] = glyphs_.try_emplace({size, letter});
  Glyph& glyph = place->second;
  FT_Face face = is_new ? library_->FaceOf(size.weight, letter) : nullptr;
  if (face == nullptr) {
    return glyph;
  }
  FT_Set_Pixel_Sizes(face, 0, static_cast<FT_UInt>(size.pixels));
  if (FT_Load_Char(face, letter, FT_LOAD_RENDER | FT_LOAD_TARGET_LIGHT) != 0) {
    return glyph;
  }
  const FT_GlyphSlot slot = face->glyph;
  glyph.advance = static_cast<int>((slot->advance.x + kFixedPoint / 2) / kFixedPoint);
  if (slot->bitmap.pixel_mode != FT_PIXEL_MODE_GRAY) {
    return glyph;
  }
  glyph.width = static_cast<int>(slot->bitmap.width);
  glyph.height = static_cast<int>(slot->bitmap.rows);
  glyph.left = slot->bitmap_left;
  glyph.top = slot->bitmap_top;
  for (int y = 0; y < glyph.height; y++) {
    const uint8_t* row = slot->bitmap.buffer + static_cast<ptrdiff_t>(y) * slot->bitmap.pitch;
    glyph.cover.insert(glyph.cover.end(), row, row + glyph.width);
  }
  return glyph;
}

int Fonts::WidthOf(FontSize size, std::string_view text) {
  int width = 0;
  for (const char32_t letter : LettersOf(text)) {
    width += Find(size, letter).advance;
  }
  return width;
}

// How many bytes of `text` fit into `width` px: whole letters, and at least one.
size_t Fonts::BytesThatFit(FontSize size, std::string_view text, int width) {
  size_t fits = 0;
  int used = 0;
  while (fits < text.size()) {
    size_t end = fits + 1;
    while (end < text.size() && !IsFirstByte(text[end])) {
      end++;
    }
    used += WidthOf(size, text.substr(fits, end - fits));
    if (used > width && fits > 0) {
      break;
    }
    fits = end;
  }
  return fits;
}

std::vector<std::string> Fonts::Wrapped(FontSize size, std::string_view text, int width) {
  std::vector<std::string> lines;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line;
    for (size_t word = at; word < end;) {
      const size_t space = std::min(text.find(' ', word), end);
      const std::string longer =
          (line.empty() ? "" : line + " ") + std::string(text.substr(word, space - word));
      if (!line.empty() && WidthOf(size, longer) > width) {
        lines.push_back(line);
        line = text.substr(word, space - word);
      } else {
        line = longer;
      }
      while (WidthOf(size, line) > width) {
        const size_t fits = BytesThatFit(size, line, width);
        if (fits == line.size()) {
          break;
        }
        lines.push_back(line.substr(0, fits));
        line.erase(0, fits);
      }
      word = space + 1;
    }
    lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

std::u32string LettersOf(std::string_view text) {
  std::u32string letters;
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const size_t size = first < 0x80       ? 1
                        : first >> 5 == 6  ? 2
                        : first >> 4 == 14 ? 3
                        : first >> 3 == 30 ? 4
                                           : 0;
    if (size == 0 || i + size > text.size()) {
      letters += kReplacement;
      i++;
      continue;
    }
    char32_t letter = size == 1 ? first : first & (0x7F >> size);
    for (size_t k = 1; k < size; k++) {
      letter = letter << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3F);
    }
    letters += letter;
    i += size;
  }
  return letters;
}

}  // namespace sprites
