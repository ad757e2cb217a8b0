#include "http/crossing_scan.h"

#include <array>
#include <cstring>
#include <initializer_list>

namespace sprites {
namespace {

// The limits of wire/crossing.ts and wire/text.ts.
constexpr uint32_t kCrossingBytesMax = 1024;
constexpr double kSpeedMax = 20'000;
constexpr double kScaleMin = 0.25;
constexpr double kScaleMax = 16;
constexpr uint32_t kNameBytesMax = 64;
constexpr uint32_t kAnimationLengthMax = 32;
constexpr uint32_t kFileHashDigits = 64;

// A decimal number of at most 15 digits and its double are written the same.
constexpr int kDigitsMax = 15;
// JavaScript writes smaller fractions with an exponent.
constexpr double kFractionMin = 1e-6;
constexpr std::array<double, kDigitsMax + 1> kPowers = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

constexpr std::string_view kEdges[] = {"left", "right", "top", "bottom"};

// The members of a crossing and of its sprite, in PROTOCOL.md's order. A name is found at once when
// it follows the one before it in this order.
enum CrossingMember : uint32_t { kCrossing, kEdge, kAt, kVx, kVy, kSprite };
constexpr std::array<std::string_view, 6> kCrossingMembers = {
    "\"crossing\"", "\"edge\"", "\"at\"", "\"vx\"", "\"vy\"", "\"sprite\""};
constexpr uint32_t kCrossingRequired = (1u << kCrossingMembers.size()) - 1;
enum SpriteMember : uint32_t { kFile, kName, kAnimation, kFacing, kScale };
constexpr std::array<std::string_view, 5> kSpriteMembers = {"\"file\"", "\"name\"", "\"animation\"",
                                                            "\"facing\"", "\"scale\""};
constexpr uint32_t kSpriteRequired = 1u << kFile;

bool IsDigit(uint8_t c) { return c >= '0' && c <= '9'; }
bool IsLetter(uint8_t c) { return c >= 'a' && c <= 'z'; }

// The rest of the body. Each step returns false when the body continues differently; what it has
// read until then no longer matters.
class Cursor {
 public:
  Cursor(const uint8_t* at, const uint8_t* end) : at_(at), end_(end) {}

  bool AtEnd() const { return at_ == end_; }

  void SkipSpace() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) {
      ++at_;
    }
  }

  // Reads an object with members of these names, each at most once, and all of `required`.
  // `value(member)` reads the value of one.
  template <size_t N, typename Value>
  bool Object(const std::array<std::string_view, N>& members, uint32_t required, Value value) {
    uint32_t seen = 0;
    uint32_t next = 0;
    if (!Skip("{")) {
      return false;
    }
    do {
      SkipSpace();
      uint32_t tries = 0;
      while (!Skip(members[next])) {
        next = next + 1 == N ? 0 : next + 1;
        if (++tries == N) {
          return false;
        }
      }
      SkipSpace();
      if ((seen >> next & 1) != 0 || !Skip(":")) {
        return false;
      }
      seen |= 1u << next;
      SkipSpace();
      if (!value(next)) {
        return false;
      }
      next = next + 1 == N ? 0 : next + 1;
      SkipSpace();
    } while (Skip(","));
    return Skip("}") && (seen & required) == required;
  }

  // Reads a text with quotes; `contents` reads what is between them.
  template <typename Contents>
  bool Text(std::string_view* text, Contents contents) {
    if (!Skip("\"")) {
      return false;
    }
    const uint8_t* const start = at_;
    if (!contents()) {
      return false;
    }
    *text = From(start);
    return Skip("\"");
  }

  bool Skip(std::string_view text) {
    if (Remaining() < text.size() || memcmp(at_, text.data(), text.size()) != 0) {
      return false;
    }
    at_ += text.size();
    return true;
  }

  // Reads a number as JavaScript writes it, without an exponent.
  bool Decimal(double* value) {
    const bool is_negative = at_ < end_ && *at_ == '-';
    const uint8_t* at = at_ + (is_negative ? 1 : 0);
    const uint8_t* const first = at;
    uint64_t whole = 0;
    for (; at < end_ && IsDigit(*at) && at - first <= kDigitsMax; ++at) {
      whole = whole * 10 + (*at - '0');
    }
    int digits = static_cast<int>(at - first);
    if (digits == 0 || digits > kDigitsMax || (digits > 1 && *first == '0')) {
      return false;
    }
    double sum = static_cast<double>(whole);
    if (at < end_ && *at == '.') {
      const uint8_t* const fraction = ++at;
      for (; at < end_ && IsDigit(*at) && digits <= kDigitsMax; ++at, ++digits) {
        whole = whole * 10 + (*at - '0');
      }
      if (at == fraction || digits > kDigitsMax || at[-1] == '0') {
        return false;
      }
      sum = static_cast<double>(whole) / kPowers[static_cast<size_t>(at - fraction)];
      if (sum < kFractionMin) {
        return false;
      }
    }
    if (is_negative && sum == 0) {
      return false;
    }
    at_ = at;
    *value = is_negative ? -sum : sum;
    return true;
  }

  bool DecimalWithin(double min, double max, std::string_view* text) {
    const uint8_t* const start = at_;
    double value;
    if (!Decimal(&value) || !(value >= min && value <= max)) {
      return false;
    }
    *text = From(start);
    return true;
  }

  // Reads the sender's number.
  bool RisingNumber(uint64_t* number) {
    double value;
    // Fifteen digits are always a safe integer in JavaScript.
    if (!Decimal(&value) || value < 1) {
      return false;
    }
    *number = static_cast<uint64_t>(value);
    return static_cast<double>(*number) == value;
  }

  bool Edge(uint32_t* edge) {
    for (*edge = 0; *edge < 4; ++*edge) {
      if (Skip(kEdges[*edge])) {
        return true;
      }
    }
    return false;
  }

  bool FileHash() {
    if (Remaining() < kFileHashDigits) {
      return false;
    }
    uint8_t wrong = 0;
    for (uint32_t i = 0; i < kFileHashDigits; ++i) {
      const uint8_t c = at_[i];
      const uint8_t digit = static_cast<uint8_t>(c - '0') <= 9;
      const uint8_t letter = static_cast<uint8_t>(c - 'a') <= 5;
      wrong |= static_cast<uint8_t>((digit | letter) ^ 1);
    }
    at_ += kFileHashDigits;
    return wrong == 0;
  }

  // Printable ASCII without escapes, and without a space at either end.
  bool Name() {
    const uint8_t* at = at_;
    while (at < end_ && *at != '"') {
      if (*at < ' ' || *at > '~' || *at == '\\') {
        return false;
      }
      ++at;
    }
    if (at == end_ || at - at_ > kNameBytesMax || (at > at_ && (*at_ == ' ' || at[-1] == ' '))) {
      return false;
    }
    at_ = at;
    return true;
  }

  bool Animation() {
    const uint8_t* at = at_;
    while (at < end_ && (IsLetter(*at) || IsDigit(*at) || *at == '-')) {
      ++at;
    }
    if (at == at_ || at - at_ > kAnimationLengthMax || !IsLetter(*at_)) {
      return false;
    }
    at_ = at;
    return true;
  }

 private:
  size_t Remaining() const { return static_cast<size_t>(end_ - at_); }
  std::string_view From(const uint8_t* start) const {
    return {reinterpret_cast<const char*>(start), static_cast<size_t>(at_ - start)};
  }

  const uint8_t* at_;
  const uint8_t* const end_;
};

bool ScanSprite(Cursor* cursor, ScannedCrossing* out) {
  return cursor->Object(kSpriteMembers, kSpriteRequired, [cursor, out](uint32_t member) {
    switch (member) {
      case kFile:
        return cursor->Text(&out->file, [cursor] { return cursor->FileHash(); });
      case kName:
        return cursor->Text(&out->name, [cursor] { return cursor->Name(); });
      case kAnimation:
        return cursor->Text(&out->animation, [cursor] { return cursor->Animation(); });
      case kFacing:
        return cursor->Text(&out->facing,
                            [cursor] { return cursor->Skip("left") || cursor->Skip("right"); });
      default:
        return cursor->DecimalWithin(kScaleMin, kScaleMax, &out->scale);
    }
  });
}

}  // namespace

bool ScanCrossing(const uint8_t* body, uint32_t size, ScannedCrossing* out) {
  *out = {};
  Cursor cursor(body, body + size);
  cursor.SkipSpace();
  const bool is_crossing =
      cursor.Object(kCrossingMembers, kCrossingRequired, [&cursor, out](uint32_t member) {
        std::string_view edge;
        switch (member) {
          case kCrossing:
            return cursor.RisingNumber(&out->crossing);
          case kEdge:
            return cursor.Text(&edge, [&cursor, out] { return cursor.Edge(&out->edge); });
          case kAt:
            return cursor.DecimalWithin(0, 1, &out->at);
          case kVx:
            return cursor.DecimalWithin(-kSpeedMax, kSpeedMax, &out->vx);
          case kVy:
            return cursor.DecimalWithin(-kSpeedMax, kSpeedMax, &out->vy);
          default:
            return ScanSprite(&cursor, out);
        }
      });
  cursor.SkipSpace();
  return is_crossing && cursor.AtEnd() && size <= kCrossingBytesMax;
}

uint32_t WritePassage(const ScannedCrossing& crossing, uint8_t* to) {
  // The edge by which the sprite enters is the opposite one.
  const std::initializer_list<std::string_view> pieces = {"\"edge\":\"",
                                                          kEdges[crossing.edge ^ 1],
                                                          "\",\"at\":",
                                                          crossing.at,
                                                          ",\"vx\":",
                                                          crossing.vx,
                                                          ",\"vy\":",
                                                          crossing.vy,
                                                          ",\"sprite\":{\"file\":\"",
                                                          crossing.file,
                                                          "\",\"name\":\"",
                                                          crossing.name,
                                                          "\",\"animation\":\"",
                                                          crossing.animation,
                                                          "\",\"facing\":\"",
                                                          crossing.facing,
                                                          "\",\"scale\":",
                                                          crossing.scale,
                                                          "}}"};
  uint32_t length = 0;
  for (const std::string_view piece : pieces) {
    memcpy(to + length, piece.data(), piece.size());
    length += static_cast<uint32_t>(piece.size());
  }
  return length;
}

}  // namespace sprites
