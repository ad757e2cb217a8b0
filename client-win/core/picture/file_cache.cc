#include "core/picture/file_cache.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <system_error>
#include <vector>

#include "wire/rules.h"

namespace sprites {

namespace {

namespace fs = std::filesystem;

std::optional<Bytes> ReadFile(const fs::path& path) {
  std::error_code failed;
  const auto size = fs::file_size(path, failed);
  if (failed || size > kSprBytesMax) {
    return std::nullopt;
  }
  Bytes bytes(size);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  return file ? std::optional(std::move(bytes)) : std::nullopt;
}

// A file's name if it is ASCII, else "": not every name on a system can be converted.
std::string PlainNameOf(const fs::path& path) {
  const fs::path name = path.filename();
  const auto is_plain = [](auto c) { return c > 0 && c < 0x80; };
  return std::ranges::all_of(name.native(), is_plain)
             ? std::string(name.native().begin(), name.native().end())
             : "";
}

// A name that no other thread or program writes to.
fs::path TemporaryBeside(const fs::path& path) {
  static std::atomic<uint64_t> count = 0;
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  fs::path temporary = path;
  temporary += "." + std::to_string(now) + "-" + std::to_string(count++) + ".part";
  return temporary;
}

}  // namespace

FileCache::FileCache(fs::path folder, uint64_t received_bytes_max)
    : folder_(std::move(folder)),
      received_bytes_max_(std::max(received_bytes_max, kCacheBytesMin)) {
  std::error_code failed;
  for (const char* kind : {"own", "received"}) {
    fs::create_directories(folder_ / kind, failed);
  }
}

std::optional<Bytes> FileCache::Find(std::string_view file) {
  if (!IsFileHash(file)) {
    return std::nullopt;
  }
  const std::lock_guard lock(mutex_);
  for (const Origin origin : {Origin::kOwn, Origin::kReceived}) {
    const fs::path path = PathOf(file, origin);
    auto bytes = ReadFile(path);
    std::error_code failed;
    if (bytes && Sha256Hex(*bytes) == file) {
      fs::last_write_time(path, fs::file_time_type::clock::now(), failed);
      return bytes;
    }
    if (bytes) {
      fs::remove(path, failed);
    }
  }
  return std::nullopt;
}

std::vector<std::string> FileCache::Own() const {
  std::vector<std::string> files;
  std::error_code failed;
  for (fs::directory_iterator entry(folder_ / "own", failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::string name = PlainNameOf(entry->path());
    if (IsFileHash(name)) {
      files.push_back(std::move(name));
    }
  }
  std::ranges::sort(files);
  return files;
}

bool FileCache::Store(std::string_view file, std::span<const uint8_t> bytes, Origin origin) {
  if (!IsFileHash(file) || bytes.size() > kSprBytesMax) {
    return false;
  }
  const std::lock_guard lock(mutex_);
  if (origin == Origin::kReceived) {
    MakeRoom(bytes.size());
  }
  const fs::path path = PathOf(file, origin);
  const fs::path temporary = TemporaryBeside(path);
  std::error_code failed;
  {
    std::ofstream out(temporary, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
    out.flush();
    if (!out) {
      fs::remove(temporary, failed);
      return false;
    }
  }
  fs::rename(temporary, path, failed);
  if (failed) {
    fs::remove(temporary, failed);
    return false;
  }
  return true;
}

void FileCache::Disown(std::string_view file) {
  if (!IsFileHash(file)) {
    return;
  }
  const std::lock_guard lock(mutex_);
  std::error_code failed;
  fs::rename(PathOf(file, Origin::kOwn), PathOf(file, Origin::kReceived), failed);
}

void FileCache::RemoveReceived(std::string_view file) {
  if (!IsFileHash(file)) {
    return;
  }
  const std::lock_guard lock(mutex_);
  std::error_code failed;
  fs::remove(PathOf(file, Origin::kReceived), failed);
}

fs::path FileCache::PathOf(std::string_view file, Origin origin) const {
  return folder_ / (origin == Origin::kOwn ? "own" : "received") / file;
}

// Deletes received files until so many bytes more fit, the longest unused first. Files that were
// never finished count as received.
void FileCache::MakeRoom(uint64_t bytes) {
  struct Entry {
    fs::file_time_type used;
    uint64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::error_code failed;
  uint64_t total = bytes;
  for (fs::directory_iterator file(folder_ / "received", failed), end; !failed && file != end;
       file.increment(failed)) {
    std::error_code unreadable;
    const Entry entry{file->last_write_time(unreadable), file->file_size(unreadable), file->path()};
    if (!unreadable) {
      total += entry.bytes;
      entries.push_back(entry);
    }
  }
  std::ranges::sort(entries, {}, &Entry::used);
  for (const Entry& entry : entries) {
    if (total <= received_bytes_max_) {
      return;
    }
    if (fs::remove(entry.path, failed)) {
      total -= entry.bytes;
    }
  }
}

SheetPointer StoreOwn(FileCache* cache, std::span<const uint8_t> bytes) {
  SheetPointer sheet = ReadSheet(bytes);
  cache->Store(sheet->file, bytes, Origin::kOwn);
  return sheet;
}

bool IsFileHash(std::string_view text) {
  return text.size() == rules::kFileDigits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace sprites
