// A version of this program that a relay offers: `GET /client/latest.json`.
//
// A relay is a stranger, so nothing that it offers is ever installed by the program: the person
// gets the checked file, and decides. The hash proves that the file is the one that was announced.
#ifndef CLIENT_WIN_CORE_RELAY_RELEASE_H_
#define CLIENT_WIN_CORE_RELAY_RELEASE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/relay/request.h"

namespace sprites {

constexpr size_t kReleaseBytesMax = 4096;          // bytes of the JSON; it needs 200
constexpr size_t kInstallerBytesMax = 33'554'432;  // bytes: ten times what the installer has
constexpr uint32_t kInstallerTimeoutMs = 300'000;  // for 4 MiB at 15 kB/s
constexpr int kVersionPartMax = 9999;              // each of the three numbers of a version

struct ProgramRelease {
  std::string version;  // `1.2.3`
  std::string sha256;   // of the installer, 64 lowercase hex digits
  size_t size = 0;      // bytes of the installer

  bool operator==(const ProgramRelease&) const = default;
};

// Reads the relay's answer. Returns nothing when a member is missing or out of its limits.
std::optional<ProgramRelease> ReadRelease(std::string_view json);

// Whether `version` is a later one than `than`; false if one of them is not three numbers.
bool IsLater(std::string_view version, std::string_view than);

// The requests for the answer, and for the installer itself.
Request ReleaseRequest(const std::string& relay);
Request InstallerRequest(const std::string& relay, const ProgramRelease& release);

// Whether these are the bytes that the relay announced.
bool IsInstallerOf(const ProgramRelease& release, std::string_view bytes);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_RELAY_RELEASE_H_
