// One of the program's own files, kept.json or settings.json: read at the start, and written later.
//
// A file that can't be read may still hold sprites. Only a file that is not there means a first
// start. Any other one is tried again for a while, because another program may have it open for a
// moment; then it is renamed, so that the user still has it. Invariant: what could not be read, as
// a whole, is never overwritten: while the file can't be renamed, nothing is written. Threads: the
// constructor and the getters on the desktop's thread, before the first Write, which is called on
// the writer's. Cost: the constructor takes up to kReadTries pauses of kReadPauseMs.
#ifndef CLIENT_WIN_CORE_DESKTOP_FILES_OWN_FILE_H_
#define CLIENT_WIN_CORE_DESKTOP_FILES_OWN_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "core/desktop/files/settings.h"
#include "core/text/texts.h"

namespace sprites {

constexpr int kReadTries = 8;          // a virus scanner has a new file open for a second
constexpr int64_t kReadPauseMs = 250;  // between two of them
constexpr int kBadFilesMax = 20;       // names for files that can't be read: .bad, .bad2 … .bad20

enum class ReadStatus : uint8_t {
  kRead,
  kMissing,  // there is no such file
  kTooLong,
  kFailed,  // locked, denied, a broken disk, or no file at all
};

struct FileContent {
  ReadStatus status = ReadStatus::kMissing;
  std::string text;  // with kRead
};

enum class Renaming : uint8_t {
  kDone,
  kTaken,    // the new name is that of another file, which is still there
  kMissing,  // there is no file with the old name
  kFailed,
};

// What a system does with files.
struct FileAccess {
  std::function<FileContent(const std::filesystem::path& path, size_t bytes_max)> read;
  // Returns false if the file could not be written; its old content is then still there.
  std::function<bool(const std::filesystem::path& path, std::string_view text)> write;
  std::function<Renaming(const std::filesystem::path& from, const std::filesystem::path& to)>
      rename;
  std::function<void(int64_t ms)> sleep;
};

// How much of a text a reader understands.
enum class Legible : uint8_t { kWhole, kPartly, kNot };

class OwnFile {
 public:
  using Check = Legible (*)(std::string_view text);

  OwnFile(FileAccess access, std::filesystem::path path, size_t bytes_max, Check check);

  // Whether there was no such file.
  bool is_new() const { return is_new_; }
  // Whether there was one that could not be used at all.
  bool is_unreadable() const { return !is_new_ && text_.empty(); }
  // What can be used of the file; empty for nothing.
  const std::string& text() const { return text_; }
  // What was wrong with the file, and where it is now. Empty if nothing was.
  std::string Complaint(Language language) const;

  // Returns false while nothing can be written.
  bool Write(std::string_view text);

 private:
  std::filesystem::path BadName(int number) const;
  bool MoveAside();

  FileAccess access_;
  std::filesystem::path path_;
  std::string text_;
  bool is_new_ = false;
  bool must_move_ = false;  // there is a file that must not be overwritten
  // For the complaint.
  std::optional<Text> wrong_;
  bool was_moved_ = false;
  std::filesystem::path moved_to_;  // or where it is to go
};

// What was wrong with these files, for one toast.
std::string Complaints(std::initializer_list<const OwnFile*> files, Language language);

// How much of settings.json or of kept.json can be used.
Legible LegibleSettings(std::string_view text);
Legible LegibleState(std::string_view text);

// The settings of `file`. When they can't be read, the relay and what belongs to it are those of
// `kept`, the saved state, if it names a relay: else the desktop would be nowhere.
Settings SettingsOf(const OwnFile& file, std::string_view kept, std::optional<Reason>* complaint);

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_FILES_OWN_FILE_H_
