#include "posix/power_watch.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace sprites {
namespace {

// A folder as the kernel has it.
class Supplies {
 public:
  Supplies()
      : folder_(std::filesystem::temp_directory_path() /
                ("sprites-power-test-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~Supplies() { std::filesystem::remove_all(folder_); }

  void Set(const std::string& supply,
           const std::vector<std::pair<std::string, std::string>>& attributes) const {
    std::filesystem::create_directories(folder_ / supply);
    for (const auto& [name, value] : attributes) {
      std::ofstream(folder_ / supply / name) << value << "\n";
    }
  }
  void SetBattery(const std::string& supply, const std::string& percent,
                  const std::string& status = "Discharging") const {
    Set(supply, {{"type", "Battery"}, {"capacity", percent}, {"status", status}});
  }
  const std::filesystem::path& folder() const { return folder_; }
  bool IsLow() const { return IsBatteryLow(folder_); }

 private:
  std::filesystem::path folder_;
};

TEST_CASE("power watch › a machine without a battery, or without the folder, never saves power") {
  const Supplies supplies;
  CHECK(!supplies.IsLow());
  CHECK(!IsBatteryLow(supplies.folder() / "nothing"));
  supplies.Set("AC", {{"type", "Mains"}, {"online", "0"}});
  CHECK(!supplies.IsLow());
}

TEST_CASE("power watch › a battery is low at the limit and below it, not above") {
  const Supplies supplies;
  for (const int percent : {kLowBatteryPercentMax - 1, kLowBatteryPercentMax}) {
    supplies.SetBattery("BAT0", std::to_string(percent));
    CHECK(supplies.IsLow());
  }
  supplies.SetBattery("BAT0", std::to_string(kLowBatteryPercentMax + 1));
  CHECK(!supplies.IsLow());
}

TEST_CASE("power watch › a battery that charges, or mains, is not low") {
  const Supplies supplies;
  supplies.SetBattery("BAT0", "5", "Charging");
  CHECK(!supplies.IsLow());
  supplies.SetBattery("BAT0", "5");
  supplies.Set("AC", {{"type", "Mains"}, {"online", "1"}});
  CHECK(!supplies.IsLow());
  supplies.Set("AC", {{"type", "Mains"}, {"online", "0"}});
  CHECK(supplies.IsLow());
}

TEST_CASE("power watch › both of two batteries must be low, and that of a mouse does not count") {
  const Supplies supplies;
  supplies.SetBattery("BAT0", "5");
  supplies.SetBattery("BAT1", "80", "Unknown");
  CHECK(!supplies.IsLow());
  supplies.SetBattery("BAT1", "3", "Unknown");
  CHECK(supplies.IsLow());
  supplies.SetBattery("hidpp_battery_0", "90");
  supplies.Set("hidpp_battery_0", {{"scope", "Device"}});
  CHECK(supplies.IsLow());
}

TEST_CASE("power watch › the battery of a mouse alone is not that of the machine") {
  const Supplies supplies;
  supplies.SetBattery("hidpp_battery_0", "5");
  supplies.Set("hidpp_battery_0", {{"scope", "Device"}});
  CHECK(!supplies.IsLow());
}

TEST_CASE("power watch › what is no number of percents counts as not low") {
  const Supplies supplies;
  for (const char* wrong : {"", "low", "5%", "-1", "5 6", "99999999999999999999"}) {
    supplies.SetBattery("BAT0", wrong);
    CHECK_MESSAGE(!supplies.IsLow(), wrong);
  }
  supplies.SetBattery("BAT0", std::string(1'000'000, '1'));
  CHECK(!supplies.IsLow());
}

TEST_CASE("power watch › bytes of a file: below the limit, the limit; a longer one is not read") {
  const Supplies supplies;
  for (const size_t bytes : {kAttributeBytesMax - 1, kAttributeBytesMax, kAttributeBytesMax + 1}) {
    supplies.SetBattery("BAT0", std::string(bytes - 1, '0') + "5");
    CHECK(supplies.IsLow() == (bytes <= kAttributeBytesMax));
  }
}

TEST_CASE("power watch › reports each change, on a thread of its own") {
  const Supplies supplies;
  std::mutex mutex;
  std::condition_variable changed;
  int changes = 0;
  const PowerWatch watch(supplies.folder(), std::chrono::milliseconds(1), [&] {
    const std::lock_guard lock(mutex);
    changes++;
    changed.notify_all();
  });
  for (const bool is_low : {true, false, true}) {
    const int before = [&] {
      const std::lock_guard lock(mutex);
      return changes;
    }();
    supplies.SetBattery("BAT0", is_low ? "5" : "95");
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return changes > before && watch.is_saving() == is_low; });
    CHECK(watch.is_saving() == is_low);
  }
}

}  // namespace
}  // namespace sprites
