// Notices when the battery is low and does not charge, so that the sprites use less of it.
//
// Invariant: a machine without a battery never saves power, and neither does one whose batteries
// can't be read. The batteries of a mouse or a telephone do not count. Threads: has a thread of its
// own, because firmware takes milliseconds to answer; is_saving may be called on any.
// Source: Linux, Documentation/ABI/testing/sysfs-class-power.
#ifndef CLIENT_WIN_POSIX_POWER_WATCH_H_
#define CLIENT_WIN_POSIX_POWER_WATCH_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

namespace sprites {

constexpr char kPowerSupplies[] = "/sys/class/power_supply";
constexpr int kLowBatteryPercentMax =
    20;  // as Windows begins to save, if the person has not chosen
constexpr std::chrono::milliseconds kPowerCheckMs{
    30'000};  // a battery loses 1 % in a minute or more

constexpr size_t kAttributeBytesMax = 64;  // of a file: the longest word in them has 12

// Whether the batteries in this folder are low now.
bool IsBatteryLow(const std::filesystem::path& folder);

class PowerWatch {
 public:
  // `changed` is called on the watch's thread each time is_saving() has changed.
  PowerWatch(std::filesystem::path folder, std::chrono::milliseconds period,
             std::function<void()> changed);
  ~PowerWatch();
  PowerWatch(const PowerWatch&) = delete;
  PowerWatch& operator=(const PowerWatch&) = delete;

  bool is_saving() const { return is_saving_; }

 private:
  void Run();

  std::filesystem::path folder_;
  std::chrono::milliseconds period_;
  std::function<void()> changed_;
  std::atomic<bool> is_saving_ = false;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_POSIX_POWER_WATCH_H_
