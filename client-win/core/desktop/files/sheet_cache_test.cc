#include "core/desktop/files/sheet_cache.h"

#include <doctest/doctest.h>

#include <set>

#include "test/core/test_spr.h"

namespace sprites {
namespace {

constexpr char kCacheRelay[] = "http://relay.example";

// A file that no sheet has.
std::string FileNumber(size_t number) {
  std::string file(64, '0');
  const std::string digits = std::to_string(number);
  return file.replace(file.size() - digits.size(), digits.size(), digits);
}

// A sheet of a quarter of the pixels that may be decoded.
SheetPointer LargeSheet(size_t number) {
  auto sheet = std::make_shared<Sheet>(*Parcel());
  sheet->file = FileNumber(number);
  sheet->width = 4096;
  sheet->height = static_cast<int>(kDecodedPixelsMax / 4 / 4096);
  return sheet;
}

struct CacheFixture {
  std::vector<Request> Due(bool shows_others = true) {
    now_ms += kRequestMs;  // so that the budget allows a request
    return sheets.DueRequests(kCacheRelay, shows_others, now_ms, &budget);
  }
  // Looks a file up and receives its sheet.
  void Receive(const SheetPointer& sheet) {
    sheets.Find(sheet->file, true);
    const auto requests = Due();
    REQUIRE(requests.size() == 1);
    sheets.HandleResponse(sheet->file, {requests[0].id, 200, "", 0, sheet});
  }

  SheetCache sheets;
  RequestBudget budget;
  int64_t now_ms = 0;
};

TEST_CASE("sheet cache › draws a parcel until the sheet is here") {
  CacheFixture fixture;
  const SheetPointer sheet = ReadSheet(TestSpr(3));
  CHECK(fixture.sheets.Find(sheet->file, true) == Parcel());
  const auto requests = fixture.Due();
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].url == std::string(kCacheRelay) + "/v1/sprites/" + sheet->file);
  CHECK(fixture.Due().empty());
  CHECK(!fixture.sheets.Has(sheet->file));
  CHECK(fixture.sheets.HandleResponse(sheet->file, {requests[0].id, 200, "", 0, sheet}));
  CHECK(fixture.sheets.Find(sheet->file, true) == sheet);
  CHECK(fixture.sheets.Has(sheet->file));
}

TEST_CASE("sheet cache › fetches again only what it is asked to retry") {
  CacheFixture fixture;
  const SheetPointer sheet = ReadSheet(TestSpr(3));
  fixture.sheets.Find(sheet->file, true);
  const RequestId id = fixture.Due()[0].id;
  CHECK(!fixture.sheets.HandleResponse(sheet->file, {id, 200, "", 0, ReadSheet(TestSpr(4))}));
  CHECK(fixture.Due().empty());
  fixture.sheets.RetryMissing();
  CHECK(fixture.Due().size() == 1);
}

TEST_CASE("sheet cache › shows and fetches only the shelf when others are not wanted") {
  CacheFixture fixture;
  const SheetPointer own = ReadSheet(TestSpr(1));
  const SheetPointer other = ReadSheet(TestSpr(2));
  fixture.sheets.AddToShelf(own);
  fixture.sheets.AddToShelf(own);
  CHECK(fixture.sheets.shelf().size() == 1);
  CHECK(fixture.sheets.FindOnShelf(other->file) == nullptr);
  CHECK(fixture.sheets.Find(own->file, false) == own);
  CHECK(fixture.sheets.Find(other->file, false) == Parcel());
  CHECK(fixture.Due(false).empty());
  fixture.Receive(other);
  CHECK(fixture.sheets.Find(other->file, true) == other);
  CHECK(fixture.sheets.Find(other->file, false) == Parcel());
}

TEST_CASE("sheet cache › fetches a few files at once") {
  CacheFixture fixture;
  for (size_t i = 0; i < 2 * kFetchesMax; i++) {
    fixture.sheets.Find(FileNumber(i), true);
  }
  const auto requests = fixture.Due();
  CHECK(requests.size() == kFetchesMax);
  fixture.sheets.HandleResponse(requests[0].file, {requests[0].id, 0});
  CHECK(fixture.Due().size() == 1);
  fixture.sheets.ForgetFetches();
  CHECK(fixture.Due().size() == kFetchesMax);
}

TEST_CASE("sheet cache › forgets the longest unused sheet when there are too many pixels") {
  CacheFixture fixture;
  for (size_t i = 0; i < 4; i++) {
    fixture.sheets.BeginTick();
    fixture.Receive(LargeSheet(i));
  }
  fixture.sheets.BeginTick();
  fixture.sheets.Find(FileNumber(0), true);
  fixture.sheets.BeginTick();
  fixture.Receive(LargeSheet(4));
  CHECK(fixture.sheets.Has(FileNumber(0)));
  CHECK(!fixture.sheets.Has(FileNumber(1)));
  CHECK(fixture.sheets.Has(FileNumber(4)));
}

TEST_CASE("sheet cache › draws parcels when every sheet is used") {
  CacheFixture fixture;
  for (size_t i = 0; i < 4; i++) {
    fixture.Receive(LargeSheet(i));
  }
  fixture.Receive(LargeSheet(4));
  CHECK(!fixture.sheets.Has(FileNumber(4)));
}

TEST_CASE("sheet cache › knows a limited number of files") {
  CacheFixture fixture;
  for (size_t i = 0; i < kLooksMax; i++) {
    fixture.sheets.Find(FileNumber(i), true);
  }
  fixture.sheets.Find(FileNumber(kLooksMax), true);
  std::set<std::string> fetched;
  for (auto requests = fixture.Due(); !requests.empty(); requests = fixture.Due()) {
    for (const Request& request : requests) {
      fetched.insert(request.file);
      fixture.sheets.HandleResponse(request.file, {request.id, 0});
    }
  }
  CHECK(fetched.size() == kLooksMax);
  CHECK(!fetched.contains(FileNumber(kLooksMax)));
}

}  // namespace
}  // namespace sprites
