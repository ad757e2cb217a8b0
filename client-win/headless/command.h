// What the headless desktop is told, one command a line, and what it says, one JSON value a line.
//
// A command is a word and its arguments; `--help` lists them. Cost: O(line).
#ifndef CLIENT_WIN_HEADLESS_COMMAND_H_
#define CLIENT_WIN_HEADLESS_COMMAND_H_

#include <string>
#include <string_view>

#include "core/desktop/desktop.h"
#include "core/picture/file_cache.h"
#include "core/text/json.h"

namespace sprites {

extern const char kCommandsHelp[];

// Carries out one line. What there is to say about it: null for nothing, {"error": …} when it is no
// command. `quit` sets *quits.
Json Obey(std::string_view line, Desktop* desktop, FileCache* cache, bool* quits);

// All there is to know about a desktop now.
Json Described(const Desktop& desktop, const Scene& scene);

}  // namespace sprites

#endif  // CLIENT_WIN_HEADLESS_COMMAND_H_
