#include "core/desktop/files/own_file.h"

#include <utility>

#include "core/desktop/files/saved_state.h"
#include "core/text/text.h"

namespace sprites {

namespace {

Text ComplaintOf(ReadStatus status, Legible legible) {
  return status == ReadStatus::kFailed    ? Text::kFileOwnFailed
         : status == ReadStatus::kTooLong ? Text::kFileOwnTooLong
         : legible == Legible::kPartly    ? Text::kFileOwnPartly
                                          : Text::kFileOwnDamaged;
}

}  // namespace

OwnFile::OwnFile(FileAccess access, std::filesystem::path path, size_t bytes_max, Check check)
    : access_(std::move(access)), path_(std::move(path)) {
  FileContent content = access_.read(path_, bytes_max);
  for (int tries = 1; content.status == ReadStatus::kFailed && tries < kReadTries; tries++) {
    access_.sleep(kReadPauseMs);
    content = access_.read(path_, bytes_max);
  }
  is_new_ = content.status == ReadStatus::kMissing;
  if (is_new_) {
    return;
  }
  const Legible legible = content.status == ReadStatus::kRead ? check(content.text) : Legible::kNot;
  if (legible != Legible::kNot) {
    text_ = std::move(content.text);
  }
  if (legible == Legible::kWhole) {
    return;
  }
  wrong_ = ComplaintOf(content.status, legible);
  must_move_ = true;
  // What can be used stays in place, too: the program may end before it saves.
  was_moved_ = MoveAside();
  if (was_moved_ && legible == Legible::kPartly) {
    access_.write(path_, text_);
  }
}

std::string OwnFile::Complaint(Language language) const {
  if (!wrong_) {
    return "";
  }
  return Say(language, *wrong_, {Utf8Of(path_)}) + " " +
         Say(language, was_moved_ ? Text::kFileOwnMoved : Text::kFileOwnStays,
             {Utf8Of(moved_to_.filename())});
}

bool OwnFile::Write(std::string_view text) {
  return (!must_move_ || MoveAside()) && access_.write(path_, text);
}

std::filesystem::path OwnFile::BadName(int number) const {
  std::filesystem::path name = path_;
  name += number == 1 ? ".bad" : ".bad" + std::to_string(number);
  return name;
}

// Renames the file to the first name that is free.
bool OwnFile::MoveAside() {
  for (int number = 1; number <= kBadFilesMax; number++) {
    moved_to_ = BadName(number);
    const Renaming renaming = access_.rename(path_, moved_to_);
    if (renaming == Renaming::kFailed) {
      return false;
    }
    if (renaming != Renaming::kTaken) {
      must_move_ = false;
      return true;
    }
  }
  return false;
}

std::string Complaints(std::initializer_list<const OwnFile*> files, Language language) {
  std::string all;
  for (const OwnFile* file : files) {
    const std::string one = file->Complaint(language);
    all += (all.empty() || one.empty() ? "" : " ") + one;
  }
  return all;
}

Legible LegibleSettings(std::string_view text) {
  std::optional<Reason> complaint;
  ReadSettings(text, &complaint);
  return complaint && complaint->text != Text::kFileOfSettingsRelay ? Legible::kNot
                                                                    : Legible::kWhole;
}

Legible LegibleState(std::string_view text) {
  const SavedState state = ReadSavedState(text, "");
  return !state.is_state ? Legible::kNot : state.left_out > 0 ? Legible::kPartly : Legible::kWhole;
}

Settings SettingsOf(const OwnFile& file, std::string_view kept, std::optional<Reason>* complaint) {
  complaint->reset();
  Settings settings = file.text().empty() ? Settings{} : ReadSettings(file.text(), complaint);
  if (!file.is_unreadable() && !*complaint) {
    return settings;
  }
  const SavedState state = ReadSavedState(kept, "");
  if (!state.relay.empty()) {
    settings.relay = state.relay;
    settings.world = state.world;
    settings.name = state.name;
  }
  return WithinLimits(std::move(settings));
}

}  // namespace sprites
