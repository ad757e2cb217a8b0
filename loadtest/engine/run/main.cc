// swarm-engine: reads its command line, runs, and exits with 0 (done), 1 (failed) or 2 (misused).
// report.h documents what it prints.
#include <sys/resource.h>

#include <cstdio>
#include <exception>
#include <string_view>
#include <vector>

#include "plan/options.h"
#include "run/run.h"

namespace {

// Raises the limit of open files as far as it goes, and returns it.
rlim_t RaiseFileLimit() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  getrlimit(RLIMIT_NOFILE, &files);
  return files.rlim_cur;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    swarm::Options options;
    const std::vector<std::string_view> arguments(argv + 1, argv + argc);
    const swarm::Parsed parsed = swarm::ParseOptions(arguments, RaiseFileLimit(), &options);
    switch (parsed.kind) {
      case swarm::Parsed::Kind::kHelp:
        std::fputs(parsed.message.c_str(), stdout);
        return 0;
      case swarm::Parsed::Kind::kMisuse:
        std::fprintf(stderr, "swarm-engine: %s (--help lists the flags)\n", parsed.message.c_str());
        return 2;
      case swarm::Parsed::Kind::kRun:
        return swarm::Run(options).Execute() ? 0 : 1;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "swarm-engine: %s\n", error.what());
  }
  return 1;
}
