// The tag in a thrown sprite's name, or at the start of what is said, with which the slice that
// catches or hears it, in any process, accounts for it:
//
//   swarm:RRRRRRRRSSSNNNNNNNNNDDDDDDTTTTTTTTTTTTTTTTE      49 bytes, of the 64 a name may have
//
// R: run. S: slice of the sender. N: number of the throw in its slice. D: the sending desktop. T:
// when the throw was due (ns of CLOCK_MONOTONIC). All of these are lowercase hex. E: the first
// letter of the edge it left by, any of a saying. The tag needs no escape in JSON.
#ifndef LOADTEST_ENGINE_ACCOUNT_SPRITE_TAG_H_
#define LOADTEST_ENGINE_ACCOUNT_SPRITE_TAG_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/rules.h"

namespace swarm {

using rules::Edge;
constexpr int kEdges = rules::kEdgeNames.size();

constexpr std::string_view kHex = "0123456789abcdef";  // digits of tags and of file names
constexpr size_t kSpriteTagBytes = 49;
// What follows the tag of a saying. Together they are as long as a usual line.
constexpr std::string_view kSayingEnd = " whose cat is it?";
constexpr uint32_t kSlicesMax = 0xfff;
constexpr uint64_t kNumberMax = 0xf'ffff'ffff;
constexpr uint32_t kDesktopsMax = 0xff'ffff;

struct SpriteTag {
  uint32_t run = 0;
  uint32_t slice = 0;
  uint64_t number = 0;
  uint32_t desktop = 0;  // index of the desktop in the whole run
  int64_t due_ns = 0;
  Edge edge = Edge::kLeft;
};

// Writes kSpriteTagBytes bytes.
void WriteSpriteTag(const SpriteTag& tag, char* to);
// False when `name` does not begin with a valid tag. What follows the tag is ignored.
bool ReadSpriteTag(std::string_view name, SpriteTag* tag);

}  // namespace swarm

#endif  // LOADTEST_ENGINE_ACCOUNT_SPRITE_TAG_H_
