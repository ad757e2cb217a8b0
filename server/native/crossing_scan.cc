#include "crossing_scan.h"

#include <array>
#include <cstring>
#include <string_view>

namespace sprites {
namespace {

// The limits of wire/crossing.ts and wire/text.ts.
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

// For each edge that a sprite leaves by: the name of that edge, and the beginning of the passage,
// which names the opposite edge.
constexpr std::string_view kEdges[] = {"left\"", "right\"", "top\"", "bottom\""};
constexpr std::string_view kEntries[] = {"\"edge\":\"right\",", "\"edge\":\"left\",",
                                         "\"edge\":\"bottom\",", "\"edge\":\"top\","};

bool IsDigit(uint8_t c) { return c >= '0' && c <= '9'; }
bool IsLetter(uint8_t c) { return c >= 'a' && c <= 'z'; }

// The rest of the body. Each step returns false when the body continues differently.
class Cursor {
 public:
  Cursor(const uint8_t* at, const uint8_t* end) : at_(at), end_(end) {}

  const uint8_t* at() const { return at_; }
  bool AtEnd() const { return at_ == end_; }

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

  bool DecimalWithin(double min, double max) {
    double value;
    return Decimal(&value) && value >= min && value <= max;
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

  const uint8_t* at_;
  const uint8_t* const end_;
};

bool ScanEdge(Cursor* cursor, uint32_t* edge) {
  for (*edge = 0; *edge < 4; ++*edge) {
    if (cursor->Skip(kEdges[*edge])) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool ScanCrossing(const uint8_t* body, uint32_t size, ScannedCrossing* out) {
  Cursor cursor(body, body + size);
  double number;
  uint32_t edge;
  if (!cursor.Skip("{\"crossing\":") || !cursor.Decimal(&number) || !cursor.Skip(",\"edge\":\"") ||
      !ScanEdge(&cursor, &edge)) {
    return false;
  }
  // Fifteen digits are always a safe integer in JavaScript.
  const uint64_t crossing = number < 1 ? 0 : static_cast<uint64_t>(number);
  if (crossing == 0 || static_cast<double>(crossing) != number || !cursor.Skip(",")) {
    return false;
  }
  const uint8_t* const passage = cursor.at();
  if (!cursor.Skip("\"at\":") || !cursor.DecimalWithin(0, 1) || !cursor.Skip(",\"vx\":") ||
      !cursor.DecimalWithin(-kSpeedMax, kSpeedMax) || !cursor.Skip(",\"vy\":") ||
      !cursor.DecimalWithin(-kSpeedMax, kSpeedMax) || !cursor.Skip(",\"sprite\":{\"file\":\"") ||
      !cursor.FileHash() || !cursor.Skip("\",\"name\":\"") || !cursor.Name() ||
      !cursor.Skip("\",\"animation\":\"") || !cursor.Animation() ||
      !cursor.Skip("\",\"facing\":\"") || (!cursor.Skip("left") && !cursor.Skip("right")) ||
      !cursor.Skip("\",\"scale\":") || !cursor.DecimalWithin(kScaleMin, kScaleMax) ||
      !cursor.Skip("}}") || !cursor.AtEnd()) {
    return false;
  }
  *out = {crossing, edge, static_cast<uint32_t>(passage - body)};
  return true;
}

uint32_t WriteEntry(uint32_t edge, uint8_t* to) {
  const std::string_view entry = kEntries[edge];
  memcpy(to, entry.data(), entry.size());
  return static_cast<uint32_t>(entry.size());
}

}  // namespace sprites
