// libFuzzer target: the parser never reads outside its input, and a split at any place does not
// change the verdict. The first byte chooses the route, the second chooses the split; the rest is
// the request. The corpus is in corpus/request_parser/.
#include <cstdlib>
#include <cstring>
#include <memory>

#include "http/request_parser.h"

namespace {

void Require(bool condition) {
  if (!condition) {
    abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using sprites::Parsed;
  if (size < 2 || size > size_t{2} * sprites::kRequestBytesMax) {
    return 0;
  }
  const sprites::Route route =
      (bytes[0] & 1) != 0 ? sprites::Route::kCrossings : sprites::Route::kEvents;
  const uint32_t length = static_cast<uint32_t>(size - 2);
  // A copy of exactly this size, so that the address sanitizer detects reading one byte too many.
  const auto exact = std::make_unique_for_overwrite<uint8_t[]>(length);
  memcpy(exact.get(), bytes + 2, length);

  sprites::ParserPlace place = {};
  sprites::Request whole = {};
  const Parsed parsed = sprites::ParseRequest(exact.get(), length, route, &place, &whole);
  const bool is_hot = parsed == Parsed::kPoll || parsed == Parsed::kCrossing;
  if (is_hot) {
    Require(whole.bytes <= length && whole.body_start + whole.body_length == whole.bytes);
    Require(whole.body_length <= (whole.post == sprites::Post::kStage ? sprites::kStageBytesMax
                                                                      : sprites::kBodyBytesMax));
    Require(whole.slot == sprites::kNoSlot || (whole.slot < 1u << 24 && whole.generation != 0));
    Require(sprites::MayBecomeHot(exact.get(), length, route));
  }
  if (parsed == Parsed::kPartial) {
    Require(length < sprites::kRequestBytesMax);
  }

  const uint32_t split = length * bytes[1] / 255;
  const auto part = std::make_unique_for_overwrite<uint8_t[]>(split);
  memcpy(part.get(), exact.get(), split);
  sprites::ParserPlace split_place = {};
  sprites::Request request = {};
  const Parsed first = sprites::ParseRequest(part.get(), split, route, &split_place, &request);
  if (is_hot && split < whole.bytes) {
    Require(first == Parsed::kPartial);
  }
  if (first == Parsed::kPartial) {
    const Parsed second = sprites::ParseRequest(exact.get(), length, route, &split_place, &request);
    Require(second == parsed);
    if (is_hot) {
      Require(request.bytes == whole.bytes && request.slot == whole.slot);
    }
  }
  return 0;
}
