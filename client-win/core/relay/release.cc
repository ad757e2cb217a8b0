#include "core/relay/release.h"

#include <array>
#include <charconv>

#include "core/picture/file_cache.h"
#include "core/text/json.h"

namespace sprites {

namespace {

constexpr int kDepthMax = 3;

// The three numbers of a version.
std::optional<std::array<int, 3>> NumbersOf(std::string_view version) {
  std::array<int, 3> numbers{};
  const char* at = version.data();
  const char* const end = at + version.size();
  for (size_t i = 0; i < numbers.size(); i++) {
    if (i > 0 && (at == end || *at++ != '.')) {
      return std::nullopt;
    }
    const bool is_digit = at != end && *at >= '0' && *at <= '9';
    const auto [after, error] = std::from_chars(at, end, numbers[i]);
    if (!is_digit || error != std::errc{} || numbers[i] > kVersionPartMax) {
      return std::nullopt;
    }
    at = after;
  }
  return at == end ? std::optional(numbers) : std::nullopt;
}

}  // namespace

std::optional<ProgramRelease> ReadRelease(std::string_view json) {
  if (json.size() > kReleaseBytesMax) {
    return std::nullopt;
  }
  const Json root = ParseJson(json, kDepthMax);
  ProgramRelease release;
  release.version = TextAt(root, "version", 3 * 5);
  release.sha256 = TextAt(root, "sha256", 64);
  const Json& size = MemberOf(root, "size");
  const bool has_size = size.is_number_unsigned() && size.get<uint64_t>() > 0 &&
                        size.get<uint64_t>() <= kInstallerBytesMax;
  if (!has_size || !NumbersOf(release.version) || !IsFileHash(release.sha256)) {
    return std::nullopt;
  }
  release.size = size.get<size_t>();
  return release;
}

bool IsLater(std::string_view version, std::string_view than) {
  const auto one = NumbersOf(version);
  const auto other = NumbersOf(than);
  return one && other && *one > *other;
}

Request ReleaseRequest(const std::string& relay) {
  Request request;
  request.url = relay + "/client/latest.json";
  request.response_bytes_max = kReleaseBytesMax;
  return request;
}

Request InstallerRequest(const std::string& relay, const ProgramRelease& release) {
  Request request;
  request.url = relay + "/download/Sprites-Setup.exe";
  request.timeout_ms = kInstallerTimeoutMs;
  request.response_bytes_max = release.size;
  return request;
}

bool IsInstallerOf(const ProgramRelease& release, std::string_view bytes) {
  const auto* first = reinterpret_cast<const uint8_t*>(bytes.data());
  return bytes.size() == release.size && Sha256Hex({first, bytes.size()}) == release.sha256;
}

}  // namespace sprites
