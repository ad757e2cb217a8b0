// What the Task Manager and the settings of Windows note about a program that starts with Windows.
//
// Windows documents the key, Explorer\StartupApproved\Run, not its values: the first byte is even
// while the program may start and odd when the person has turned it off; the last eight are the
// time of that.
#ifndef CLIENT_WIN_CORE_DESKTOP_FILES_STARTUP_APPROVAL_H_
#define CLIENT_WIN_CORE_DESKTOP_FILES_STARTUP_APPROVAL_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace sprites {

constexpr size_t kApprovalBytes = 12;

// Whether a program with this value starts. An empty one counts as a missing one: it does.
constexpr bool IsStartupApproved(std::span<const uint8_t> value) {
  return value.empty() || value[0] % 2 == 0;
}

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_FILES_STARTUP_APPROVAL_H_
