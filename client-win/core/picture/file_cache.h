// Sprite files on disk, by their hash, within a size limit.
//
// Invariant: a file is found under its own hash or not at all: what is read is checked, what was
// read and does not fit its name is deleted. Own files (bundled, dropped) are kept; of what was
// received the longest unused goes first. Several threads and programs may use one folder: files
// appear whole, by rename. Cost: a read and a hash; making room lists the folder.
#ifndef CLIENT_WIN_CORE_PICTURE_FILE_CACHE_H_
#define CLIENT_WIN_CORE_PICTURE_FILE_CACHE_H_

#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/picture/sheet.h"

namespace sprites {

enum class Origin : uint8_t { kOwn, kReceived };

constexpr uint64_t kCacheBytesMin = 1'048'576;               // bytes: one file at least
constexpr uint64_t kCacheBytesDefault = uint64_t{64} << 20;  // bytes: thousands of characters

class FileCache {
 public:
  // Makes the folder when it is not there; where that fails nothing is ever found or kept.
  FileCache(std::filesystem::path folder, uint64_t received_bytes_max);

  // The file of this hash; nothing when it is not here. `file` must be 64 lowercase hex digits.
  std::optional<Bytes> Find(std::string_view file);
  // The hashes of all own files.
  std::vector<std::string> Own() const;
  // Keeps a file under its hash. False when it can't be written.
  bool Keep(std::string_view file, std::span<const uint8_t> bytes, Origin origin);

 private:
  std::filesystem::path PathOf(std::string_view file, Origin origin) const;
  void MakeRoom(uint64_t bytes);

  std::filesystem::path folder_;
  uint64_t received_bytes_max_;
  std::mutex mutex_;
};

// Takes in an own file, bundled or dropped: checked, kept, ready for the shelf. Throws SprRefused.
SheetPointer KeepOwn(FileCache* cache, std::span<const uint8_t> bytes);

// Whether this can be the hash of a file: 64 lowercase hex digits, so never a path.
bool IsFileHash(std::string_view text);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_FILE_CACHE_H_
