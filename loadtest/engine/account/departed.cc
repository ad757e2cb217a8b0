#include "account/departed.h"

namespace swarm {

Fingerprint FingerprintOf(std::string_view id) {
  constexpr uint64_t kMask = (uint64_t{1} << kFingerprintBits) - 1;
  uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const char c : id) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  const auto print = static_cast<Fingerprint>((hash ^ (hash >> 32U)) & kMask);
  return print == kNoFingerprint ? 1 : print;
}

}  // namespace swarm
