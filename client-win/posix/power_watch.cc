#include "posix/power_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <string>
#include <system_error>
#include <utility>

#include "posix/owned_fd.h"

namespace sprites {

namespace {

// The first line of a file of the kernel; empty when it can't be read, or is too long.
std::string Attribute(const std::filesystem::path& path) {
  const OwnedFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char bytes[kAttributeBytesMax + 1];  // one more, for the end of the line
  const ssize_t size = file.get() < 0 ? 0 : read(file.get(), bytes, sizeof bytes);
  const std::string text(bytes, size > 0 ? static_cast<size_t>(size) : 0);
  const std::string line = text.substr(0, text.find('\n'));
  return line.size() <= kAttributeBytesMax ? line : "";
}

int PercentOf(const std::string& text) {
  int percent = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  return error == std::errc{} && end == text.data() + text.size() ? percent : -1;
}

}  // namespace

bool IsBatteryLow(const std::filesystem::path& folder) {
  bool is_discharging = false;
  std::error_code failed;
  std::filesystem::directory_iterator supply(folder, failed);
  for (; !failed && supply != std::filesystem::directory_iterator{}; supply.increment(failed)) {
    const std::filesystem::path& path = supply->path();
    const std::string type = Attribute(path / "type");
    if (type != "Battery") {
      if (Attribute(path / "online") == "1") {
        return false;  // mains, or USB
      }
    } else if (Attribute(path / "scope") != "Device") {
      const int percent = PercentOf(Attribute(path / "capacity"));
      if (percent < 0 || percent > kLowBatteryPercentMax) {
        return false;
      }
      is_discharging = is_discharging || Attribute(path / "status") == "Discharging";
    }
  }
  return is_discharging;
}

PowerWatch::PowerWatch(std::filesystem::path folder, std::chrono::milliseconds period,
                       std::function<void()> changed)
    : folder_(std::move(folder)),
      period_(period),
      changed_(std::move(changed)),
      thread_([this] { Run(); }) {}

PowerWatch::~PowerWatch() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  ends_.notify_all();
  thread_.join();
}

void PowerWatch::Run() {
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    lock.unlock();
    const bool is_low = IsBatteryLow(folder_);
    if (is_saving_.exchange(is_low) != is_low) {
      changed_();
    }
    lock.lock();
    ends_.wait_for(lock, period_, [this] { return is_ending_; });
  }
}

}  // namespace sprites
