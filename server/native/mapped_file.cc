#include "mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

namespace sprites {

std::unique_ptr<MappedFile> MappedFile::Map(int descriptor, size_t size) {
  struct stat status = {};
  if (fstat(descriptor, &status) != 0) {
    return nullptr;
  }
  if (status.st_size < 0 || static_cast<size_t>(status.st_size) < size) {
    errno = EINVAL;
    return nullptr;
  }
  void* const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED) {
    return nullptr;
  }
  return std::unique_ptr<MappedFile>(new MappedFile(static_cast<uint8_t*>(mapped), size));
}

MappedFile::~MappedFile() { munmap(data_, size_); }

}  // namespace sprites
