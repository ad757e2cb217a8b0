// What Windows tells about this machine, this process and the person in front of it.
#ifndef CLIENT_WIN_WIN32_SYSTEM_MACHINE_H_
#define CLIENT_WIN_WIN32_SYSTEM_MACHINE_H_

#include <filesystem>
#include <optional>
#include <string>

#include "core/words/diagnostics.h"

namespace sprites {

// For the diagnostics; `running_ms` and `is_portable` are left for the caller.
Machine MachineNow();

// Whether a full-screen program runs, or the person presents. Cost: one call to the shell of
// Windows.
Presence PresenceNow();

// An IPv4 address of this machine that others in its network reach; empty if it has none.
std::string AddressInNetwork();

// Whether the person has turned off animations in the settings of Windows.
bool IsMotionReduced();

// The language that the person reads in Windows.
Language SystemLanguage();

// The folder of a portable copy: `Sprites-data` beside the program, if there is one. Such a copy
// writes nothing to the registry.
std::optional<std::filesystem::path> PortableFolder();

// The name of the installer that has installed this version, as it was downloaded. It is returned
// once; empty afterwards, and if there was none.
std::string PopInstallerName();

// Opens a folder in the Explorer, or a file in its program. Returns false if that fails.
bool OpenPath(const std::filesystem::path& path);

// Writes an installer to the folder of downloads, marked as coming from the internet, and shows it
// there in the Explorer. Returns false if it can't be written.
bool ShowDownload(const std::string& version, const std::string& bytes);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_MACHINE_H_
