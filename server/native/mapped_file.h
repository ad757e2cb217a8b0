// The first bytes of a file as memory. What is stored in it is in the file for every process that
// reads it, and survives this one, however it ends.
//
// Memory: the pages of the file in the system's cache, and no copy.
#ifndef SERVER_NATIVE_MAPPED_FILE_H_
#define SERVER_NATIVE_MAPPED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

namespace sprites {

class MappedFile {
 public:
  // Returns nullptr on failure, with errno: EINVAL when `size` is 0, or more than the file has. The
  // descriptor may be closed afterwards. A file that is made shorter later is a SIGBUS.
  static std::unique_ptr<MappedFile> Map(int descriptor, size_t size);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  MappedFile(uint8_t* data, size_t size) : data_(data), size_(size) {}

  uint8_t* const data_;
  const size_t size_;
};

}  // namespace sprites

#endif  // SERVER_NATIVE_MAPPED_FILE_H_
