#include "account/sprite_tag.h"

#include <algorithm>
#include <cstring>

namespace swarm {
namespace {

constexpr std::string_view kPrefix = "swarm:";
static_assert(kPrefix.size() + 8 + 3 + 9 + 6 + 16 + 1 == kSpriteTagBytes);

bool ReadHex(const char** from, int digits, uint64_t* value) {
  uint64_t result = 0;
  for (int i = 0; i < digits; ++i) {
    const char c = *(*from)++;
    uint64_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<uint64_t>(c - 'a') + 10;
    } else {
      return false;
    }
    result = result << 4U | digit;
  }
  *value = result;
  return true;
}

}  // namespace

char* WriteHex(char* to, uint64_t value, int digits) {
  for (int i = digits - 1; i >= 0; --i) {
    to[i] = kHex[value & 15U];
    value >>= 4U;
  }
  return to + digits;
}

void WriteSpriteTag(const SpriteTag& tag, char* to) {
  std::memcpy(to, kPrefix.data(), kPrefix.size());
  to = WriteHex(to + kPrefix.size(), tag.run, 8);
  to = WriteHex(to, tag.slice, 3);
  to = WriteHex(to, tag.number, 9);
  to = WriteHex(to, tag.desktop, 6);
  to = WriteHex(to, static_cast<uint64_t>(tag.due_ns), 16);
  *to = NameOf(tag.edge).front();
}

bool ReadSpriteTag(std::string_view name, SpriteTag* tag) {
  if (name.size() < kSpriteTagBytes || !name.starts_with(kPrefix)) {
    return false;
  }
  const char* from = name.data() + kPrefix.size();
  uint64_t run = 0;
  uint64_t slice = 0;
  uint64_t desktop = 0;
  uint64_t due = 0;
  if (!ReadHex(&from, 8, &run) || !ReadHex(&from, 3, &slice) || !ReadHex(&from, 9, &tag->number) ||
      !ReadHex(&from, 6, &desktop) || !ReadHex(&from, 16, &due)) {
    return false;
  }
  const auto* const edge = std::ranges::find(
      rules::kEdgeNames, *from, [](std::string_view edge_name) { return edge_name.front(); });
  if (edge == rules::kEdgeNames.end()) {
    return false;
  }
  tag->run = static_cast<uint32_t>(run);
  tag->slice = static_cast<uint32_t>(slice);
  tag->desktop = static_cast<uint32_t>(desktop);
  tag->due_ns = static_cast<int64_t>(due);
  tag->edge = static_cast<Edge>(edge - rules::kEdgeNames.begin());
  return true;
}

}  // namespace swarm
