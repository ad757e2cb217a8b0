// A file as memory: what is stored in it is read from the file, also when the process that stored
// it was killed.
#include "mapped_file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace sprites {
namespace {

constexpr size_t kBytes = 8192;

// A file of kBytes zeros, without a name.
struct ZeroFile {
  ZeroFile() {
    char path[] = "/tmp/sprites-mapped-XXXXXX";
    descriptor = mkstemp(path);
    REQUIRE(descriptor >= 0);
    unlink(path);
    const std::vector<char> zeros(kBytes);
    REQUIRE(write(descriptor, zeros.data(), kBytes) == static_cast<ssize_t>(kBytes));
  }
  ~ZeroFile() { close(descriptor); }

  std::string Read(size_t size, off_t at) const {
    std::string bytes(size, '\0');
    CHECK(pread(descriptor, bytes.data(), size, at) == static_cast<ssize_t>(size));
    return bytes;
  }

  int descriptor = -1;
};

TEST_CASE("what is stored in the memory is read from the file, and what is written is seen in it") {
  const ZeroFile file;
  const auto mapped = MappedFile::Map(file.descriptor, kBytes);
  REQUIRE(mapped != nullptr);
  CHECK(mapped->size() == kBytes);
  memcpy(mapped->data() + kBytes - 3, "end", 3);
  CHECK(file.Read(3, kBytes - 3) == "end");
  REQUIRE(pwrite(file.descriptor, "begin", 5, 0) == 5);
  CHECK(memcmp(mapped->data(), "begin", 5) == 0);
}

TEST_CASE("what a process has stored is in the file after its SIGKILL") {
  const ZeroFile file;
  const pid_t child = fork();
  if (child == 0) {
    const auto mapped = MappedFile::Map(file.descriptor, kBytes);
    if (mapped != nullptr) {
      memcpy(mapped->data() + 5000, "stored", 6);
    }
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(file.Read(6, 5000) == "stored");
}

TEST_CASE("a file that has one byte less than is asked for is not mapped") {
  const ZeroFile file;
  CHECK(MappedFile::Map(file.descriptor, kBytes - 1) != nullptr);
  CHECK(MappedFile::Map(file.descriptor, kBytes) != nullptr);
  CHECK(MappedFile::Map(file.descriptor, kBytes + 1) == nullptr);
  CHECK(errno == EINVAL);
  CHECK(MappedFile::Map(file.descriptor, 0) == nullptr);
  CHECK(errno == EINVAL);
}

TEST_CASE("a descriptor that cannot be mapped gives the system's error") {
  CHECK(MappedFile::Map(-1, kBytes) == nullptr);
  CHECK(errno == EBADF);
  const int read_only = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  CHECK(MappedFile::Map(read_only, kBytes) == nullptr);
  CHECK(errno == EACCES);
  close(read_only);
}

}  // namespace
}  // namespace sprites
