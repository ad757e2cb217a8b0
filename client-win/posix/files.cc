#include "posix/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

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

std::optional<std::string> ReadWholeFile(const std::filesystem::path& path, size_t bytes_max) {
  const OwnedFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about {};
  const bool fits = file.get() >= 0 && fstat(file.get(), &about) == 0 && S_ISREG(about.st_mode) &&
                    static_cast<uint64_t>(about.st_size) <= bytes_max;
  if (!fits) {
    return std::nullopt;
  }
  std::string text(static_cast<size_t>(about.st_size), 0);
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t more = read(file.get(), text.data() + size, text.size() - size);
    if (more < 0 && errno == EINTR) {
      continue;
    }
    if (more <= 0) {
      return std::nullopt;
    }
    size += static_cast<size_t>(more);
  }
  return text;
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

}  // namespace sprites
