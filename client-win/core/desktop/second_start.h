// What a second start of the program does: it sends its files to the first instance, or takes over
// when the first one is just ending.
#ifndef CLIENT_WIN_CORE_DESKTOP_SECOND_START_H_
#define CLIENT_WIN_CORE_DESKTOP_SECOND_START_H_

#include <cstdint>
#include <functional>

namespace sprites {

constexpr int64_t kSecondStartMsMax =
    10'000;  // the first instance may still be starting, or ending
constexpr int64_t kSecondStartRetryMs = 50;

int64_t SteadyMs();  // of a monotonic clock

enum class StartOutcome : uint8_t {
  kIsFirst,  // there is no other instance, or it has ended
  kSent,     // the other instance has the files
  kFailed,   // the other instance neither answers nor ends
};

struct OtherInstance {
  // Waits up to `ms` until there is no other instance. From then on, this one is the first.
  std::function<bool(int64_t ms)> has_ended;
  // Sends the files. False when the other instance does not take them, for example because it is
  // ending.
  std::function<bool()> send;
  std::function<int64_t()> now_ms = SteadyMs;
};

StartOutcome StartBeside(const OtherInstance& other);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_SECOND_START_H_
