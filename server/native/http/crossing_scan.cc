#include "http/crossing_scan.h"

#include <array>
#include <cstring>

namespace sprites {
namespace {

using rules::Is;
using rules::Member;

// A decimal number of at most 15 digits and its double are written the same.
constexpr int kDigitsMax = 15;
// JavaScript writes smaller fractions with an exponent.
constexpr double kFractionMin = 1e-6;
constexpr std::array<double, kDigitsMax + 1> kPowers = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

template <size_t N>
constexpr uint32_t RequiredOf(const std::array<Member, N>& members) {
  uint32_t bits = 0;
  for (size_t i = 0; i < N; ++i) {
    bits |= members[i].is_required ? 1u << i : 0;
  }
  return bits;
}

// The number of a crossing is in no passage, and `sprite` is no value itself.
constexpr size_t kMembersBeforeValues = 1;
constexpr size_t kFirstSpriteValue = rules::kCrossingMembers.size() - kMembersBeforeValues - 1;

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

  // Reads an object with these members, each at most once, and all that are required. A name is
  // found at once when it follows the one before it in their order. `value(i)` reads the value of
  // one.
  template <const auto& kMembers, typename Value>
  bool Object(Value value) {
    constexpr size_t kCount = kMembers.size();
    constexpr uint32_t kRequired = RequiredOf(kMembers);
    uint32_t seen = 0;
    uint32_t next = 0;
    if (!Skip("{")) {
      return false;
    }
    do {
      SkipSpace();
      uint32_t tries = 0;
      while (!Skip(kMembers[next].quoted)) {
        next = next + 1 == kCount ? 0 : next + 1;
        if (++tries == kCount) {
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
      next = next + 1 == kCount ? 0 : next + 1;
      SkipSpace();
    } while (Skip(","));
    return Skip("}") && (seen & kRequired) == kRequired;
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

  bool Edge(rules::Edge* edge) {
    for (size_t i = 0; i < rules::kEdgeNames.size(); ++i) {
      if (Skip(rules::kEdgeNames[i])) {
        *edge = static_cast<rules::Edge>(i);
        return true;
      }
    }
    return false;
  }

  // Reads what is between the quotes of a text.
  bool Contents(Is is) {
    switch (is) {
      case Is::kFile:
        return FileHash();
      case Is::kName:
        return Name();
      case Is::kAnimation:
        return Animation();
      case Is::kFacing:
        return Skip(NameOf(rules::Edge::kLeft)) || Skip(NameOf(rules::Edge::kRight));
      default:
        return false;
    }
  }

  bool FileHash() {
    if (Remaining() < rules::kFileDigits) {
      return false;
    }
    uint8_t wrong = 0;
    for (size_t i = 0; i < rules::kFileDigits; ++i) {
      const uint8_t c = at_[i];
      const uint8_t digit = static_cast<uint8_t>(c - '0') <= 9;
      const uint8_t letter = static_cast<uint8_t>(c - 'a') <= 5;
      wrong |= static_cast<uint8_t>((digit | letter) ^ 1);
    }
    at_ += rules::kFileDigits;
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
    if (at == end_ || static_cast<size_t>(at - at_) > rules::kNameBytesMax ||
        (at > at_ && (*at_ == ' ' || at[-1] == ' '))) {
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
    if (at == at_ || static_cast<size_t>(at - at_) > rules::kAnimationLengthMax ||
        !IsLetter(*at_)) {
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

// Reads the value of a member that the passage has as it is.
bool ScanValue(Cursor* cursor, const Member& member, std::string_view* value) {
  if (member.is == Is::kNumber) {
    return cursor->DecimalWithin(member.min, member.max, value);
  }
  return cursor->Text(value, [cursor, &member] { return cursor->Contents(member.is); });
}

bool ScanSprite(Cursor* cursor, ScannedCrossing* out) {
  const auto& members = rules::kSpriteMembers;
  for (size_t i = 0; i < members.size(); ++i) {
    out->values[kFirstSpriteValue + i] = members[i].otherwise;
  }
  return cursor->Object<rules::kSpriteMembers>([cursor, out, &members](uint32_t i) {
    return ScanValue(cursor, members[i], &out->values[kFirstSpriteValue + i]);
  });
}

}  // namespace

bool ScanCrossing(const uint8_t* body, uint32_t size, ScannedCrossing* out) {
  Cursor cursor(body, body + size);
  cursor.SkipSpace();
  const auto& members = rules::kCrossingMembers;
  for (size_t i = kMembersBeforeValues; i + 1 < members.size(); ++i) {
    out->values[i - kMembersBeforeValues] = members[i].otherwise;
  }
  const bool is_crossing =
      cursor.Object<rules::kCrossingMembers>([&cursor, &members, out](uint32_t i) {
        std::string_view edge;
        switch (members[i].is) {
          case Is::kRising:
            return cursor.RisingNumber(&out->crossing);
          case Is::kEdge:
            return cursor.Text(&edge, [&cursor, out] { return cursor.Edge(&out->edge); });
          case Is::kObject:
            return ScanSprite(&cursor, out);
          default:
            return ScanValue(&cursor, members[i], &out->values[i - kMembersBeforeValues]);
        }
      });
  cursor.SkipSpace();
  // The edge by which the sprite enters is the opposite one.
  out->values[0] = NameOf(Opposite(out->edge));
  return is_crossing && cursor.AtEnd() && size <= rules::kCrossingBytesMax;
}

uint32_t WritePassage(const ScannedCrossing& crossing, uint8_t* to) {
  uint32_t length = 0;
  const auto put = [to, &length](std::string_view piece) {
    memcpy(to + length, piece.data(), piece.size());
    length += static_cast<uint32_t>(piece.size());
  };
  for (size_t i = 0; i < crossing.values.size(); ++i) {
    put(rules::kPassageTexts[i]);
    put(crossing.values[i]);
  }
  put(rules::kPassageTexts.back());
  return length;
}

}  // namespace sprites
