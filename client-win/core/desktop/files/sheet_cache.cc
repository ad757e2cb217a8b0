#include "core/desktop/files/sheet_cache.h"

#include <algorithm>
#include <utility>

namespace sprites {

namespace {

size_t PixelsOf(const SheetPointer& sheet) {
  return sheet == nullptr ? 0 : static_cast<size_t>(sheet->width) * sheet->height;
}

}  // namespace

void SheetCache::AddToShelf(const SheetPointer& sheet) {
  if (FindOnShelf(sheet->file) == nullptr) {
    shelf_.push_back(sheet);
  }
  looks_[sheet->file] = {sheet, State::kHere, ticks_};
}

void SheetCache::Replace(const std::string& file, const SheetPointer& sheet) {
  AddToShelf(sheet);
  const auto is_of = [](const std::string& wanted) {
    return [&wanted](const SheetPointer& one) { return one->file == wanted; };
  };
  if (std::ranges::any_of(shelf_, is_of(file))) {
    std::erase_if(shelf_, is_of(sheet->file));
    std::ranges::replace_if(shelf_, is_of(file), sheet);
  }
}

SheetPointer SheetCache::FindOnShelf(const std::string& file) const {
  const auto found = std::ranges::find(shelf_, file, [](const auto& sheet) { return sheet->file; });
  return found == shelf_.end() ? nullptr : *found;
}

const SheetPointer& SheetCache::Find(const std::string& file, bool shows_others) {
  static const SheetPointer parcel = Parcel();
  if (!looks_.contains(file) && looks_.size() >= kLooksMax) {
    const auto unused = std::ranges::find_if(looks_, [this](const auto& entry) {
      return entry.second.state != State::kFetching && IsUnused(entry.first, entry.second);
    });
    if (unused == looks_.end()) {
      return parcel;
    }
    looks_.erase(unused);
  }
  Look& look = looks_[file];
  look.used = ticks_;
  return look.sheet != nullptr && IsShown(file, shows_others) ? look.sheet : parcel;
}

void SheetCache::Remove(const std::string& file) {
  std::erase_if(shelf_, [&file](const SheetPointer& sheet) { return sheet->file == file; });
  if (looks_.contains(file) || looks_.size() < kLooksMax) {
    looks_[file] = {nullptr, State::kRemoved, ticks_};
  }
}

bool SheetCache::Has(const std::string& file) const {
  const auto look = looks_.find(file);
  return look != looks_.end() && look->second.sheet != nullptr;
}

void SheetCache::RetryMissing() {
  for (auto& [file, look] : looks_) {
    if (look.state == State::kMissing) {
      look.state = State::kWanted;
    }
  }
}

std::vector<Request> SheetCache::DueRequests(const std::string& relay, bool shows_others,
                                             int64_t now_ms, RequestBudget* budget) {
  std::vector<Request> requests;
  for (auto& [file, look] : looks_) {
    if (fetches_ >= kFetchesMax || !budget->Allows(now_ms)) {
      break;
    }
    if (look.state != State::kWanted || !IsShown(file, shows_others)) {
      continue;
    }
    look.state = State::kFetching;
    budget->Spend(now_ms);
    requests.push_back(FileRequest(relay, file));
    fetches_++;
  }
  return requests;
}

bool SheetCache::HandleResponse(const std::string& file, const Response& response) {
  fetches_--;
  const auto found = looks_.find(file);
  if (found == looks_.end() || found->second.state != State::kFetching) {
    return false;
  }
  Look& look = found->second;
  const bool is_it = response.sheet != nullptr && response.sheet->file == file;
  if (!is_it || !MakeRoom(PixelsOf(response.sheet))) {
    look.state = State::kMissing;
    return false;
  }
  look.sheet = response.sheet;
  look.state = State::kHere;
  return true;
}

void SheetCache::ForgetFetches() {
  fetches_ = 0;
  for (auto& [file, look] : looks_) {
    look.state = look.state == State::kFetching ? State::kWanted : look.state;
  }
}

void SheetCache::SetHidden(std::span<const std::string> files) {
  hidden_ = {files.begin(), files.end()};
}

bool SheetCache::IsShown(const std::string& file, bool shows_others) const {
  return !hidden_.contains(file) && (shows_others || FindOnShelf(file) != nullptr);
}

bool SheetCache::IsUnused(const std::string& file, const Look& look) const {
  return look.used + 1 < ticks_ && FindOnShelf(file) == nullptr;
}

// Forgets unused sheets, the longest unused first, until so many pixels more fit. False if they
// don't.
bool SheetCache::MakeRoom(size_t pixels) {
  size_t used = pixels;
  std::vector<std::pair<uint64_t, std::string>> unused;
  for (const auto& [file, look] : looks_) {
    used += PixelsOf(look.sheet);
    if (look.sheet != nullptr && IsUnused(file, look)) {
      unused.emplace_back(look.used, file);
    }
  }
  std::ranges::sort(unused);
  for (const auto& [tick, file] : unused) {
    if (used <= kDecodedPixelsMax) {
      break;
    }
    used -= PixelsOf(looks_[file].sheet);
    looks_.erase(file);
  }
  return used <= kDecodedPixelsMax;
}

}  // namespace sprites
