// The tag in a thrown sprite's name, or at the start of what is said, with which the slice that
// catches or hears it, in any process, accounts for it:
//
//   swarm:RRRRRRRRSSSNNNNNNNNNDDDDDDTTTTTTTTTTTTTTTTE      49 bytes, of the 64 a name may have
//
// R: run; in a fleet that shares a world, the fleet in its first four digits and the machine in the
// others. S: slice of the sender. N: number of the throw in its slice. D: the sending desktop. T:
// when the throw was due (ns after the first one of the run). All of these are lowercase hex. E:
// the first letter of the edge it left by, any of a saying. The tag needs no escape in JSON.
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

// Of a run's id: the fleet, and with the other bits the machine.
constexpr uint32_t RunOf(uint32_t fleet, uint32_t machine) { return fleet << 16U | machine; }
constexpr uint32_t FleetOf(uint32_t run) { return run >> 16U; }
// What tells a throw from all others of its fleet.
constexpr uint64_t NumberInFleet(uint32_t run, uint32_t slice, uint64_t number) {
  return uint64_t{run} << 48U | uint64_t{slice} << 36U | number;
}

struct SpriteTag {
  uint32_t run = 0;
  uint32_t slice = 0;
  uint64_t number = 0;
  uint32_t desktop = 0;  // index of the desktop in the whole run
  int64_t due_ns = 0;
  Edge edge = Edge::kLeft;
};

// Writes so many lowercase hex digits, and returns their end.
char* WriteHex(char* to, uint64_t value, int digits);
// Writes kSpriteTagBytes bytes.
void WriteSpriteTag(const SpriteTag& tag, char* to);
// False when `name` does not begin with a valid tag. What follows the tag is ignored.
bool ReadSpriteTag(std::string_view name, SpriteTag* tag);

}  // namespace swarm

#endif  // LOADTEST_ENGINE_ACCOUNT_SPRITE_TAG_H_
