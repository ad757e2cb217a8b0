#include "posix/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string>
#include <system_error>
#include <thread>

#include "posix/owned_fd.h"

namespace sprites {

namespace {

constexpr mode_t kOwnerOnly = 0600;  // kept.json has the token of the seat

bool WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return false;
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

FileContent ReadWholeFile(const std::filesystem::path& path, size_t bytes_max) {
  const OwnedFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    return {errno == ENOENT ? ReadStatus::kMissing : ReadStatus::kFailed, ""};
  }
  struct stat about {};
  if (fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) {
    return {ReadStatus::kFailed, ""};
  }
  if (static_cast<uint64_t>(about.st_size) > bytes_max) {
    return {ReadStatus::kTooLong, ""};
  }
  std::string text(static_cast<size_t>(about.st_size), 0);
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t more = read(file.get(), text.data() + size, text.size() - size);
    if (more < 0 && errno == EINTR) {
      continue;
    }
    if (more <= 0) {
      return {ReadStatus::kFailed, ""};
    }
    size += static_cast<size_t>(more);
  }
  return {ReadStatus::kRead, std::move(text)};
}

bool WriteFileAtomically(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::path fresh = path;
  fresh += ".part";
  {
    const OwnedFd file(open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kOwnerOnly));
    if (file.get() < 0 || !WriteAll(file.get(), text) || fsync(file.get()) != 0) {
      return false;
    }
  }
  std::error_code failed;
  std::filesystem::rename(fresh, path, failed);
  return !failed;
}

Renaming RenameFile(const std::filesystem::path& from, const std::filesystem::path& to) {
  struct stat about {};
  if (lstat(to.c_str(), &about) == 0) {
    return Renaming::kTaken;
  }
  if (errno != ENOENT) {
    return Renaming::kFailed;
  }
  const bool is_done = std::rename(from.c_str(), to.c_str()) == 0;
  return is_done ? Renaming::kDone : errno == ENOENT ? Renaming::kMissing : Renaming::kFailed;
}

FileAccess SystemFiles() {
  return {ReadWholeFile, WriteFileAtomically, RenameFile,
          [](int64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }};
}

}  // namespace sprites
