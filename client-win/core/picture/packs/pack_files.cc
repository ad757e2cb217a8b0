#include "core/picture/packs/pack_files.h"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>

#include "core/picture/png.h"
#include "core/picture/stb.h"
#include "core/text/text.h"

namespace sprites {

namespace {

constexpr uint32_t kEnd = 0x06054b50;
constexpr size_t kEndBytes = 22;
constexpr size_t kCommentBytesMax = 65'535;
constexpr uint32_t kEntry = 0x02014b50;
constexpr size_t kEntryBytes = 46;
constexpr uint32_t kLocal = 0x04034b50;
constexpr size_t kLocalBytes = 30;
constexpr uint32_t kStored = 0;
constexpr uint32_t kDeflated = 8;
constexpr uint32_t kEncrypted = 1;  // a bit of the flags

struct ZipEntry {
  uint32_t flags;
  uint32_t method;
  uint32_t crc;
  size_t packed_bytes;
  size_t bytes;
  size_t at;
};

[[noreturn]] void RefuseArchive() { throw PictureRefused(Text::kPicturePackDamaged); }

[[noreturn]] void RefuseMore() {
  throw PictureRefused(Text::kPicturePackTooMany, {std::to_string(kPackEntriesMax)});
}

[[noreturn]] void RefuseLonger(size_t bytes_max) {
  throw PictureRefused(Text::kPictureFileTooLarge, {std::to_string(bytes_max >> 20)});
}

// REQUIRES of both: the bytes are there.
uint32_t Word16(std::span<const uint8_t> bytes, size_t at) {
  return bytes[at] | uint32_t{bytes[at + 1]} << 8;
}

uint32_t Word32(std::span<const uint8_t> bytes, size_t at) {
  return Word16(bytes, at) | Word16(bytes, at + 2) << 16;
}

// Where the record at the end of the archive begins.
size_t EndOf(std::span<const uint8_t> archive) {
  for (size_t back = kEndBytes; back <= std::min(archive.size(), kEndBytes + kCommentBytesMax);
       back++) {
    if (Word32(archive, archive.size() - back) == kEnd) {
      return archive.size() - back;
    }
  }
  RefuseArchive();
}

// A path whose bytes are not UTF-8, as old programs wrote them, has a letter for each byte.
std::string PathOf(std::string_view bytes) {
  const bool is_utf8 = IsUtf8(bytes);
  std::string path;
  for (const char byte : bytes) {
    const auto code = static_cast<uint8_t>(byte);
    if (byte == '\\') {
      path += '/';
    } else if (is_utf8 || code < 0x80) {
      path += byte;
    } else {
      path += static_cast<char>(0xC0 | code >> 6);
      path += static_cast<char>(0x80 | (code & 0x3F));
    }
  }
  return path;
}

// Into at most as many bytes as the archive claims, for which the caller has room.
Bytes Inflated(std::string_view packed, size_t bytes) {
  // stb looks for more bits than the last code has, which the checksum of a PNG gives it.
  const std::string padded = std::string(packed) + std::string(4, '\0');
  Bytes unpacked(bytes + 1);  // a pointer to no bytes would be none
  const int length = stbi_zlib_decode_noheader_buffer(reinterpret_cast<char*>(unpacked.data()),
                                                      static_cast<int>(bytes), padded.data(),
                                                      static_cast<int>(padded.size()));
  unpacked.resize(static_cast<size_t>(std::max(length, 0)));
  return unpacked;
}

Bytes Unpacked(std::span<const uint8_t> archive, const ZipEntry& entry) {
  if (archive.size() < kLocalBytes || entry.at > archive.size() - kLocalBytes ||
      Word32(archive, entry.at) != kLocal) {
    RefuseArchive();
  }
  const size_t begin =
      entry.at + kLocalBytes + Word16(archive, entry.at + 26) + Word16(archive, entry.at + 28);
  if (begin > archive.size() || entry.packed_bytes > archive.size() - begin ||
      (entry.flags & kEncrypted) != 0 || (entry.method != kStored && entry.method != kDeflated)) {
    RefuseArchive();
  }
  const auto packed = archive.subspan(begin, entry.packed_bytes);
  Bytes unpacked = entry.method == kDeflated ? Inflated(AsText(packed), entry.bytes)
                                             : Bytes(packed.begin(), packed.end());
  if (unpacked.size() != entry.bytes || Crc32(unpacked) != entry.crc) {
    RefuseArchive();
  }
  return unpacked;
}

}  // namespace

bool IsZip(std::span<const uint8_t> bytes) { return AsText(bytes).starts_with("PK\3\4"); }

PackFiles FilesOfZip(std::span<const uint8_t> archive) {
  const size_t end = EndOf(archive);
  const uint32_t count = Word16(archive, end + 10);
  if (count > kPackEntriesMax) {
    RefuseMore();
  }
  PackFiles files;
  size_t at = Word32(archive, end + 16);
  for (uint32_t i = 0; i < count; i++) {
    if (at + kEntryBytes > end || Word32(archive, at) != kEntry) {
      RefuseArchive();
    }
    const size_t name_bytes = Word16(archive, at + 28);
    if (at + kEntryBytes + name_bytes > end) {
      RefuseArchive();
    }
    const ZipEntry entry{Word16(archive, at + 8),  Word16(archive, at + 10),
                         Word32(archive, at + 16), Word32(archive, at + 20),
                         Word32(archive, at + 24), Word32(archive, at + 42)};
    const std::string path = PathOf(AsText(archive.subspan(at + kEntryBytes, name_bytes)));
    if (!path.ends_with('/')) {
      files.try_emplace(path, [archive, entry](size_t bytes_max) {
        if (entry.bytes > bytes_max) {
          RefuseLonger(bytes_max);
        }
        return Unpacked(archive, entry);
      });
    }
    at += kEntryBytes + name_bytes + Word16(archive, at + 30) + Word16(archive, at + 32);
  }
  return files;
}

PackFiles FilesOfFolder(const std::filesystem::path& folder) {
  PackFiles files;
  size_t count = 0;
  std::error_code failed;
  std::filesystem::recursive_directory_iterator it(folder, failed);
  for (; !failed && it != std::filesystem::recursive_directory_iterator(); it.increment(failed)) {
    if (++count > kPackEntriesMax) {
      RefuseMore();
    }
    const std::filesystem::path path = it->path();
    const std::u8string name = path.lexically_relative(folder).generic_u8string();
    const std::u8string ending = path.extension().u8string();
    const std::string kind = LowerCase(std::string(ending.begin(), ending.end()));
    const bool is_link = it->is_symlink(failed);
    if (is_link || it.depth() + 2 > kFolderDepthMax) {
      it.disable_recursion_pending();
    }
    if (!is_link && it->is_regular_file(failed) && (kind == ".png" || kind == ".xml")) {
      files[{name.begin(), name.end()}] = [path](size_t bytes_max) {
        auto bytes = ReadBytes(path, bytes_max);
        if (!bytes) {
          RefuseLonger(bytes_max);
        }
        return *std::move(bytes);
      };
    }
  }
  return files;
}

std::optional<Bytes> ReadBytes(const std::filesystem::path& path, size_t bytes_max) {
  std::error_code failed;
  const bool is_file = std::filesystem::is_regular_file(path, failed);
  const uintmax_t size = is_file ? std::filesystem::file_size(path, failed) : 0;
  if (!is_file || failed || size > bytes_max) {
    return std::nullopt;
  }
  std::ifstream file(path, std::ios::binary);
  Bytes bytes(static_cast<size_t>(size));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return file ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace sprites
