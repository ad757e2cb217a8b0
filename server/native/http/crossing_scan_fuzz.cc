// libFuzzer target: the scan never reads outside its input, its passages are never too long, and
// scanning a passage again gives the same values. The corpus is in corpus/crossing_scan/.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "http/crossing_scan.h"

namespace {

void Require(bool condition) {
  if (!condition) {
    abort();
  }
}

std::string PassageOf(const sprites::ScannedCrossing& scanned) {
  const auto passage = std::make_unique_for_overwrite<uint8_t[]>(sprites::kPassageBytesMax);
  const uint32_t size = sprites::WritePassage(scanned, passage.get());
  return {reinterpret_cast<const char*>(passage.get()), size};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  // A copy of exactly this size, so that the address sanitizer detects reading one byte too many.
  const auto exact = std::make_unique_for_overwrite<uint8_t[]>(size);
  memcpy(exact.get(), bytes, size);
  sprites::ScannedCrossing scanned;
  if (!sprites::ScanCrossing(exact.get(), static_cast<uint32_t>(size), &scanned)) {
    return 0;
  }
  Require(size <= 1024 && scanned.crossing >= 1 && scanned.crossing < uint64_t{1} << 53);
  const std::string passage = PassageOf(scanned);
  // A passage is the body of a crossing but for its number; it names the opposite edge.
  const std::string body = "{\"crossing\":" + std::to_string(scanned.crossing) + "," + passage;
  sprites::ScannedCrossing again;
  Require(sprites::ScanCrossing(reinterpret_cast<const uint8_t*>(body.data()),
                                static_cast<uint32_t>(body.size()), &again));
  Require(again.crossing == scanned.crossing && again.edge == Opposite(scanned.edge));
  again.values[0] = scanned.values[0];
  Require(PassageOf(again) == passage);
  return 0;
}
