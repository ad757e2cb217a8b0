// swarm-engine: reads a plan from stdin, carries it out, and exits with 0 (done), 1 (failed) or 2
// (the plan is wrong). tools/engine_plan.ts documents the plan, report.h what the engine prints.
#include <sys/resource.h>

#include <cstdio>
#include <exception>
#include <iostream>

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
  if (argc > 1) {
    std::fprintf(
        stderr,
        "swarm-engine: no arguments, not %s: it reads its plan from stdin. `npm run swarm` "
        "writes one, and tools/engine_plan.ts documents it\n",
        argv[1]);
    return 2;
  }
  try {
    // Without a buffer, so that a line after the plan is left for the start signal.
    std::setvbuf(stdin, nullptr, _IONBF, 0);
    const swarm::Options options = swarm::ReadPlan(std::cin, RaiseFileLimit());
    return swarm::Run(options).Execute() ? 0 : 1;
  } catch (const swarm::WrongPlan& error) {
    std::fprintf(stderr, "swarm-engine: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "swarm-engine: %s\n", error.what());
  }
  return 1;
}
