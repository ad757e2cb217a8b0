// The pictures that this desktop knows: the sheets on its shelf, and those of the sprites that came
// from others.
//
// A sheet that is missing, or that the person does not want to see, is drawn as a parcel.
// Invariant: sheets on the shelf stay; of the others, those that no sprite wears go, the longest
// unused first, before there are more than kLooksMax of them or more than kDecodedPixelsMax pixels.
// Cost: O(1) a look-up; O(looks) to make room.
#ifndef CLIENT_WIN_CORE_DESKTOP_FILES_SHEET_CACHE_H_
#define CLIENT_WIN_CORE_DESKTOP_FILES_SHEET_CACHE_H_

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/picture/sheet.h"
#include "core/relay/request.h"
#include "core/relay/request_budget.h"

namespace sprites {

constexpr size_t kDecodedPixelsMax = 50'331'648;  // pixels of all sheets: three of the largest
constexpr size_t kLooksMax = 512;  // files known at once: more than sprites here and waiting
constexpr size_t kFetchesMax = 4;  // files fetched at once

class SheetCache {
 public:
  // Starts a tick. A sheet that was not looked up in this tick or the one before counts as unused.
  void BeginTick() { ticks_++; }

  void AddToShelf(const SheetPointer& sheet);
  // Puts a sheet on the shelf in the place of the one of this file.
  void Replace(const std::string& file, const SheetPointer& sheet);
  const std::vector<SheetPointer>& shelf() const { return shelf_; }
  // Null when there is no such file on the shelf.
  SheetPointer FindOnShelf(const std::string& file) const;

  // The sheet to draw a file with: a parcel while it is not here, or when it is not on the shelf
  // and `shows_others` is false. Never null.
  const SheetPointer& Find(const std::string& file, bool shows_others);
  // The pictures that the person does not want to see: they are drawn as parcels, also when they
  // are on the shelf, and are not fetched.
  void SetHidden(std::span<const std::string> files);
  // Forgets a picture for good: it is not on the shelf, drawn as a parcel, and not fetched.
  void Remove(const std::string& file);
  // Whether the file's sheet is here.
  bool Has(const std::string& file) const;

  // Fetches again what could not be fetched.
  void RetryMissing();
  // The requests for files to fetch now, each taken out of `budget`.
  std::vector<Request> DueRequests(const std::string& relay, bool shows_others, int64_t now_ms,
                                   RequestBudget* budget);
  // The response to the request for this file. Returns whether its sheet has come with it.
  bool HandleResponse(const std::string& file, const Response& response);
  // No response comes to the requests under way: their files are fetched again.
  void ForgetFetches();

 private:
  enum class State : uint8_t { kWanted, kFetching, kHere, kMissing, kRemoved };
  // What is known of a file.
  struct Look {
    SheetPointer sheet;  // null unless it is here
    State state = State::kWanted;
    uint64_t used = 0;  // the tick of the last look-up
  };

  bool IsShown(const std::string& file, bool shows_others) const;
  bool IsUnused(const std::string& file, const Look& look) const;
  bool MakeRoom(size_t pixels);

  std::vector<SheetPointer> shelf_;
  std::unordered_set<std::string> hidden_;
  std::unordered_map<std::string, Look> looks_;  // by file
  size_t fetches_ = 0;                           // requests under way
  uint64_t ticks_ = 0;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_FILES_SHEET_CACHE_H_
