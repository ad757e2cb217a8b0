#include "core/relay/open_requests.h"

#include <doctest/doctest.h>

#include <vector>

namespace sprites {
namespace {

TEST_CASE("open requests › a response is handled once, and one to no request not at all") {
  OpenRequests open;
  std::vector<int> handled;
  open.Add(7, Until::kAnswered,
           [&](const Response& response) { handled.push_back(response.status); });
  open.Handle({0, 200});
  open.Handle({8, 200});
  CHECK(handled.empty());
  open.Handle({7, 204});
  open.Handle({7, 410});
  CHECK(handled == std::vector{204});
}

TEST_CASE("open requests › what has ended is not handled, and what lasts longer is") {
  constexpr Until kAll[] = {Until::kSeatEnds, Until::kRelayChanges, Until::kProgramEnds,
                            Until::kAnswered};
  for (const Until end : kAll) {
    OpenRequests open;
    std::vector<Until> handled;
    for (const Until until : kAll) {
      open.Add(static_cast<RequestId>(until) + 1, until,
               [&handled, until](const Response&) { handled.push_back(until); });
    }
    open.End(end);
    for (const Until until : kAll) {
      open.Handle({static_cast<RequestId>(until) + 1, 200});
    }
    std::vector<Until> longer;
    for (const Until until : kAll) {
      if (until > end) {
        longer.push_back(until);
      }
    }
    CHECK((handled == longer));
  }
}

TEST_CASE("open requests › a handler may end all, and open another") {
  OpenRequests open;
  int handled = 0;
  open.Add(1, Until::kSeatEnds, [&](const Response&) {
    open.End(Until::kAnswered);
    open.Add(2, Until::kSeatEnds, [&](const Response&) { handled++; });
  });
  open.Handle({1, 200});
  open.Handle({2, 200});
  CHECK(handled == 1);
}

}  // namespace
}  // namespace sprites
