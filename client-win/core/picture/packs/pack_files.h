// The files of a pack, which is a folder or a zip archive, by their paths.
//
// The pack may be anybody's: every length in an archive is checked against it, a file is unpacked
// only when it is asked for, into at most as many bytes as the caller has room for, and nothing is
// ever written under the names in it. server/web/make/zip.ts is the same; packs.vectors.json is
// played with both. Source: PKWARE's APPNOTE.TXT, 4.3.
#ifndef CLIENT_WIN_CORE_PICTURE_PACKS_PACK_FILES_H_
#define CLIENT_WIN_CORE_PICTURE_PACKS_PACK_FILES_H_

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "core/picture/picture.h"

namespace sprites {

constexpr size_t kPackEntriesMax = 2048;  // files and folders: a pack has some sixty
constexpr int kFolderDepthMax = 6;        // folders in each other: a pack has two or three

// Reads a file of at most `bytes_max` bytes. Throws PictureRefused.
using ReadPackFile = std::function<Bytes(size_t bytes_max)>;
// By path; `/` divides its parts.
using PackFiles = std::map<std::string, ReadPackFile>;

bool IsZip(std::span<const uint8_t> bytes);

// The files of an archive, which live no longer than its bytes. Of several with one name the first
// counts. Throws PictureRefused.
PackFiles FilesOfZip(std::span<const uint8_t> archive);

// The files in a folder that a pack may have, without those behind links. Throws PictureRefused.
PackFiles FilesOfFolder(const std::filesystem::path& folder);

// The bytes of a file; nothing when it can't be read, or is longer than that.
std::optional<Bytes> ReadBytes(const std::filesystem::path& path, size_t bytes_max);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_PICTURE_PACKS_PACK_FILES_H_
