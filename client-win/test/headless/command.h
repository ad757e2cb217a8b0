// The commands of the headless desktop, one a line, and its output, one JSON value a line.
//
// A command is a word and its arguments; `--help` lists them. Cost: O(line).
#ifndef CLIENT_WIN_TEST_HEADLESS_COMMAND_H_
#define CLIENT_WIN_TEST_HEADLESS_COMMAND_H_

#include <string>
#include <string_view>

#include "core/desktop/desktop.h"
#include "core/picture/file_cache.h"
#include "core/text/json_fwd.h"

namespace sprites {

extern const char kCommandsHelp[];

// Runs the command in one line. Returns what to print, null for nothing, or {"error": …} when the
// line is not a valid command. `quit` sets *quits.
Json RunCommand(std::string_view line, Desktop* desktop, FileCache* cache, bool* quits);

// The present state of a desktop.
Json DescribeDesktop(const Desktop& desktop, const Scene& scene);

}  // namespace sprites

#endif  // CLIENT_WIN_TEST_HEADLESS_COMMAND_H_
