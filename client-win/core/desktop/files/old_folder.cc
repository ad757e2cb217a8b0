#include "core/desktop/files/old_folder.h"

#include <array>
#include <string_view>
#include <system_error>

#include "core/desktop/files/saved_state.h"

namespace sprites {

namespace {

constexpr std::string_view kStateName = "kept.json";
constexpr std::array<std::string_view, 3> kOwnNames = {"settings.json", "files", "dumps"};

}  // namespace

bool MoveOldFiles(const std::filesystem::path& from, const std::filesystem::path& to,
                  const FileAccess& files) {
  constexpr auto kHow =
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::skip_existing;
  std::error_code failed;
  if (std::filesystem::exists(to / kStateName, failed)) {
    return true;
  }
  const FileContent state = files.read(from / kStateName, kSavedBytesMax);
  if (state.status == ReadStatus::kFailed) {
    return false;
  }
  if (state.status != ReadStatus::kRead || LegibleState(state.text) == Legible::kNot) {
    return true;  // it is another program's
  }
  std::filesystem::create_directories(to, failed);
  for (const std::string_view name : kOwnNames) {
    std::error_code missing;
    if (!failed && std::filesystem::exists(from / name, missing)) {
      std::filesystem::copy(from / name, to / name, kHow, failed);
    }
  }
  if (failed || !files.write(to / kStateName, state.text)) {
    return false;
  }
  for (const std::string_view name : kOwnNames) {
    std::filesystem::remove_all(from / name, failed);
  }
  std::filesystem::remove(from / kStateName, failed);
  std::filesystem::remove(from, failed);  // unless something else is in it
  return true;
}

}  // namespace sprites
