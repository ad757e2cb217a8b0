// If the program crashes, a minidump is written to a folder of this computer. Nothing is sent.
//
// A crash is an invalid access and the like, a full stack, an abort, and an exception that nobody
// catches, on any thread. `npm run client -- symbols` says what a dump of a build tells.
//
// A minidump has the stacks of all threads, which may hold the seat's token and names of
// neighbours.
#ifndef CLIENT_WIN_WIN32_SYSTEM_MINIDUMP_H_
#define CLIENT_WIN_WIN32_SYSTEM_MINIDUMP_H_

#include <filesystem>

namespace sprites {

// From now on, a crash writes a minidump to `folder`. Call it once, on the main thread.
void WriteMinidumps(const std::filesystem::path& folder);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_MINIDUMP_H_
