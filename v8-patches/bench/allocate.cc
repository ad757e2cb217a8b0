// Allocates ArrayBuffers beside a large heap, to measure the effect of a flag in V8 without Node.
//
//   allocate BYTES RATE WINDOW SECONDS [V8 flags]      RATE 0: as many as possible
//
// Prints one line of JSON with the names of pauses.ts. Threads: one allocates; V8's own worker
// threads collect beside it.
#include <libplatform/libplatform.h>
#include <sys/resource.h>
#include <unistd.h>
#include <v8.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

// Live objects beside the buffers, which a major collection has to mark.
constexpr int kObjects = 2'000'000;

// The most buffers between two turns. V8's tasks run between slices, as in an event loop.
constexpr int kSliceMax = 1000;

// `heap` lives as long as the context. allocate() makes `count` buffers, keeps the newest WINDOW of
// all, and returns the milliseconds that the slowest allocation took.
constexpr char kScript[] = R"js(
  const heap = [];
  for (let n = 0; n < OBJECTS; n++) heap.push({ n, next: { n } });
  const kept = new Array(WINDOW);
  let made = 0;
  function allocate(count) {
    let slowest = 0;
    for (let n = 0; n < count; n++) {
      const start = now();
      kept[made++ % WINDOW] = new ArrayBuffer(BYTES);
      slowest = Math.max(slowest, now() - start);
    }
    return slowest;
  }
)js";

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Collections since `counting` was set, and their pauses.
struct Collections {
  bool counting = false;
  Clock::time_point start;
  int scavenges = 0;
  int majors = 0;
  double scavenges_ms = 0;
  double longest_major_ms = 0;
};

void OnCollectionStart(v8::Isolate*, v8::GCType, v8::GCCallbackFlags, void* data) {
  static_cast<Collections*>(data)->start = Clock::now();
}

void OnCollectionEnd(v8::Isolate*, v8::GCType type, v8::GCCallbackFlags, void* data) {
  auto* collections = static_cast<Collections*>(data);
  if (!collections->counting) return;
  const double took_ms = MillisecondsSince(collections->start);
  if (type == v8::kGCTypeScavenge) {
    collections->scavenges++;
    collections->scavenges_ms += took_ms;
  } else if (type == v8::kGCTypeMarkSweepCompact) {
    collections->majors++;
    collections->longest_major_ms = std::max(collections->longest_major_ms, took_ms);
  }
}

void Now(const v8::FunctionCallbackInfo<v8::Value>& info) {
  static const Clock::time_point start = Clock::now();
  info.GetReturnValue().Set(MillisecondsSince(start));
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) { return time.tv_sec + time.tv_usec / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Load {
  int bytes;
  int rate;
  int window;
  double seconds;
};

v8::Local<v8::String> Text(v8::Isolate* isolate, const std::string& text) {
  return v8::String::NewFromUtf8(isolate, text.c_str()).ToLocalChecked();
}

void Measure(v8::Isolate* isolate, v8::Platform* platform, const Load& load,
             Collections* collections) {
  const v8::HandleScope scope(isolate);
  const v8::Local<v8::ObjectTemplate> global = v8::ObjectTemplate::New(isolate);
  const auto number = [&](const char* name, int value) {
    global->Set(isolate, name, v8::Number::New(isolate, value));
  };
  number("OBJECTS", kObjects);
  number("WINDOW", load.window);
  number("BYTES", load.bytes);
  global->Set(isolate, "now", v8::FunctionTemplate::New(isolate, Now));
  const v8::Local<v8::Context> context = v8::Context::New(isolate, nullptr, global);
  const v8::Context::Scope inside(context);
  v8::Script::Compile(context, Text(isolate, kScript))
      .ToLocalChecked()
      ->Run(context)
      .ToLocalChecked();
  const v8::Local<v8::Function> allocate = v8::Script::Compile(context, Text(isolate, "allocate"))
                                               .ToLocalChecked()
                                               ->Run(context)
                                               .ToLocalChecked()
                                               .As<v8::Function>();
  isolate->LowMemoryNotification();

  collections->counting = true;
  const double start_cpu = CpuSeconds();
  const Clock::time_point start = Clock::now();
  long made = 0;
  double longest_ms = 0;
  for (double elapsed_ms = 0; elapsed_ms < load.seconds * 1000;
       elapsed_ms = MillisecondsSince(start)) {
    const long due =
        load.rate == 0 ? kSliceMax : static_cast<long>(load.rate * elapsed_ms / 1000) - made;
    const int count = static_cast<int>(std::clamp<long>(due, 0, kSliceMax));
    const v8::HandleScope turn(isolate);
    v8::Local<v8::Value> argument = v8::Number::New(isolate, count);
    const double slowest_ms = allocate->Call(context, context->Global(), 1, &argument)
                                  .ToLocalChecked()
                                  ->NumberValue(context)
                                  .FromJust();
    made += count;
    const Clock::time_point tasks = Clock::now();
    while (v8::platform::PumpMessageLoop(platform, isolate)) {
    }
    longest_ms = std::max({longest_ms, slowest_ms, MillisecondsSince(tasks)});
    if (due < kSliceMax) usleep(1000);
  }
  std::printf(
      "{\"perSecond\":%.0f,\"scavenges\":%d,\"scavengesMs\":%.1f,\"majors\":%d,\"longestMajorMs\":%"
      ".1f,"
      "\"longestBlockMs\":%.1f,\"cpuSeconds\":%.2f}\n",
      made / (MillisecondsSince(start) / 1000), collections->scavenges, collections->scavenges_ms,
      collections->majors, collections->longest_major_ms, longest_ms, CpuSeconds() - start_cpu);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "Usage: allocate BYTES RATE WINDOW SECONDS [V8 flags]\n");
    return 2;
  }
  const Load load{std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3]), std::atof(argv[4])};
  if (load.bytes < 1 || load.rate < 0 || load.window < 1 || load.seconds <= 0) {
    std::fprintf(stderr,
                 "BYTES, WINDOW and SECONDS must be positive, RATE must not be negative.\n");
    return 2;
  }
  // V8 removes the flags it knows from the arguments; the rest are unknown.
  int rest = argc - 4;
  v8::V8::SetFlagsFromCommandLine(&rest, argv + 4, true);
  if (rest > 1) {
    std::fprintf(stderr, "This V8 has no flag %s.\n", argv[5]);
    return 2;
  }
  const std::unique_ptr<v8::Platform> platform = v8::platform::NewDefaultPlatform();
  v8::V8::InitializePlatform(platform.get());
  v8::V8::Initialize();
  const std::unique_ptr<v8::ArrayBuffer::Allocator> allocator(
      v8::ArrayBuffer::Allocator::NewDefaultAllocator());
  v8::Isolate::CreateParams params;
  params.array_buffer_allocator = allocator.get();
  // The heap's size depends on the machine's memory, as in Node.
  params.constraints.ConfigureDefaults(
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)),
      0);
  v8::Isolate* isolate = v8::Isolate::New(params);
  Collections collections;
  isolate->AddGCPrologueCallback(OnCollectionStart, &collections);
  isolate->AddGCEpilogueCallback(OnCollectionEnd, &collections);
  {
    const v8::Isolate::Scope scope(isolate);
    Measure(isolate, platform.get(), load, &collections);
  }
  isolate->Dispose();
  v8::V8::Dispose();
  v8::V8::DisposePlatform();
  return 0;
}
