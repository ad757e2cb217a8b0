// Pictures that the person takes from the gallery of a relay.
#include <doctest/doctest.h>

#include "core/words/link_words.h"
#include "test/core/test_desktop.h"

namespace sprites {
namespace {

constexpr char kOtherRelay[] = "https://other.example";

// A link to a picture that is not on the shelf.
struct Offered {
  SheetPointer sheet = ReadSheet(TestSpr(7));
  RelayLink link{kOtherRelay, "", "", GalleryEntry{sheet->file, "Biscuit", "Anna"}};
};

TEST_CASE(
    "desktop › fetches a picture of a gallery from the relay of the link, without its token") {
  TestDesktop test;
  test.Join();
  const Offered offered;
  test.desktop.Open(offered.link);
  const Request request = test.Pop("/v1/sprites/" + offered.sheet->file, Method::kGet);
  CHECK(request.url == kOtherRelay + ("/v1/sprites/" + offered.sheet->file));
  CHECK(request.file == offered.sheet->file);
  CHECK(request.keeps_file);
  CHECK(request.token.empty());
  CHECK(request.response_bytes_max == kSprBytesMax);
  CHECK(test.desktop.settings().relay == TestDesktop::Given().relay);
  CHECK(test.desktop.relay().link() == Link::kConnected);

  test.desktop.HandleResponse({request.id, 200, "", 0, offered.sheet});
  REQUIRE(test.desktop.simulation().sprites().size() == 1);
  const Sprite& sprite = test.desktop.simulation().sprites().front();
  CHECK(sprite.file == offered.sheet->file);
  CHECK(sprite.from_shelf);
  CHECK(test.desktop.look().shelf().back() == offered.sheet);
  test.Pass(10);
  CHECK(test.saved.find(offered.sheet->file) != std::string::npos);
  CHECK(test.toasts.empty());
}

TEST_CASE("desktop › a picture that is taken is seen again, even if it was hidden before") {
  Settings settings = TestDesktop::Given();
  const Offered offered;
  settings.hidden = {offered.sheet->file};
  TestDesktop test(settings);
  test.desktop.Open(offered.link);
  const Request request = test.Pop(offered.sheet->file, Method::kGet);
  test.desktop.HandleResponse({request.id, 200, "", 0, offered.sheet});
  CHECK(!test.desktop.look().IsHidden(offered.sheet->file));
  CHECK(test.Pass(10).sprites.front().sheet == offered.sheet);
}

TEST_CASE(
    "desktop › says that a picture of a gallery did not come, and takes no other one for it") {
  TestDesktop test;
  test.Join();
  const Offered offered;
  for (const Response& response : {Response{0, 404}, Response{0, 0}, Response{0, 200, "nonsense"},
                                   Response{0, 200, "", 0, ReadSheet(TestSpr(8))}}) {
    test.Pass(kToastMsMin);
    test.toasts.clear();
    test.desktop.Open(offered.link);
    Response to_it = response;
    to_it.id = test.Pop(offered.sheet->file, Method::kGet).id;
    test.desktop.HandleResponse(to_it);
    test.Pass(10);
    REQUIRE(test.toasts.size() == 1);
    CHECK(test.toasts.front().title == "Biscuit did not come");
    CHECK(test.toasts.front().text.starts_with("other.example did not answer"));
  }
  CHECK(test.desktop.simulation().sprites().empty());
}

TEST_CASE("desktop › fetches pictures of galleries: one less than the limit, the limit; no more") {
  TestDesktop test;
  const Offered offered;
  std::optional<Request> first;
  for (size_t i = 0; i < kGalleryFetchesMax + 1; i++) {
    test.desktop.Open(offered.link);
    test.Pass(10);
    const auto request = test.Find(offered.sheet->file, Method::kGet);
    CHECK(request.has_value() == (i < kGalleryFetchesMax));
    CHECK(test.toasts.size() == (i < kGalleryFetchesMax ? 0 : 1));
    first = first ? first : request;
  }
  test.desktop.HandleResponse({first->id, 404});
  test.desktop.Open(offered.link);
  test.Pass(10);
  CHECK(test.Find(offered.sheet->file, Method::kGet));
}

TEST_CASE("desktop › without a relay, a link to a picture leads to its relay too") {
  Settings settings = TestDesktop::Given();
  settings.relay.clear();
  TestDesktop test(settings);
  const Offered offered;
  test.desktop.Open(offered.link);
  test.Pass(10);
  CHECK(test.Find(offered.sheet->file, Method::kGet));
  CHECK(test.desktop.settings().relay == kOtherRelay);
  CHECK(test.Pop("/v1/desktops", Method::kPost).url == kOtherRelay + std::string("/v1/desktops"));
}

TEST_CASE("link words › a question comes before a picture is fetched and before a relay is left") {
  TestDesktop test;
  Offered offered;
  auto words = QuestionBefore(offered.link, test.desktop);
  REQUIRE(words);
  CHECK(words->heading == "Put Biscuit by Anna on your desktop?");
  CHECK(words->text == "A link offers this sprite. Its picture comes from other.example.");
  offered.link.entry->author.clear();
  CHECK(QuestionBefore(offered.link, test.desktop)->heading == "Put Biscuit on your desktop?");
  offered.link.relay = TestDesktop::Given().relay;  // a picture of one's own relay too
  CHECK(QuestionBefore(offered.link, test.desktop));

  words = QuestionBefore({kOtherRelay, "garden", ""}, test.desktop);
  REQUIRE(words);
  CHECK(words->heading == "Go to other.example?");
  CHECK(!QuestionBefore({TestDesktop::Given().relay, "garden", ""}, test.desktop));
  CHECK(!QuestionBefore({"", "", "7.ff"}, test.desktop));

  Settings nowhere = TestDesktop::Given();
  nowhere.relay.clear();
  test.desktop.SetSettings(nowhere);
  offered.link.relay = kOtherRelay;
  CHECK(QuestionBefore(offered.link, test.desktop)->text ==
        "A link offers this sprite. Its picture comes from other.example, and you join there.");
  CHECK(!QuestionBefore({kOtherRelay, "", ""}, test.desktop));
}

}  // namespace
}  // namespace sprites
