// Sprite files on disk, by hash, within a size limit.
//
// Invariant: Find returns a file whose hash is the one asked for, or nothing; a file whose content
// does not match its name is deleted. Own files (bundled or dropped) stay; of the others the
// longest unused is evicted first. Several threads and programs may use one folder, because a file
// appears whole, by rename. Cost: a read and a hash; making room lists the folder.
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

constexpr uint64_t kCacheBytesMin = 1'048'576;               // bytes: room for one file
constexpr uint64_t kCacheBytesDefault = uint64_t{64} << 20;  // bytes: thousands of characters

class FileCache {
 public:
  // Creates the folder if needed. If that fails, nothing is ever found or stored.
  FileCache(std::filesystem::path folder, uint64_t received_bytes_max);

  // The file with this hash; nothing when it is not here, or `file` is not a hash.
  std::optional<Bytes> Find(std::string_view file);
  // The hashes of all own files.
  std::vector<std::string> Own() const;
  // Stores a file under its hash. False when it can't be written.
  bool Store(std::string_view file, std::span<const uint8_t> bytes, Origin origin);

  // An own file is one of the others from now on: the person has replaced it.
  void Disown(std::string_view file);
  // Deletes a received file, if it is here. An own one stays: it is the person's.
  void RemoveReceived(std::string_view file);

 private:
  std::filesystem::path PathOf(std::string_view file, Origin origin) const;
  void MakeRoom(uint64_t bytes);

  std::filesystem::path folder_;
  uint64_t received_bytes_max_;
  std::mutex mutex_;
};

// Checks and stores an own file, bundled or dropped, and returns its sheet. Throws SprRefused.
SheetPointer StoreOwn(FileCache* cache, std::span<const uint8_t> bytes);

// Whether `text` has the form of a hash: 64 lowercase hex digits. So it is never a path.
bool IsFileHash(std::string_view text);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_FILE_CACHE_H_
