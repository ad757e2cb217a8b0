#include "core/desktop/files/save_queue.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

namespace sprites {
namespace {

Request Poll(RequestId id) {
  Request request;
  request.id = id;
  return request;
}

std::vector<RequestId> Ids(const std::vector<Request>& requests) {
  std::vector<RequestId> ids(requests.size());
  std::ranges::transform(requests, ids.begin(), &Request::id);
  return ids;
}

using Numbers = std::vector<RequestId>;

TEST_CASE("save queue › passes requests on at once when there is nothing to save") {
  SaveQueue queue;
  queue.Add("", {Poll(1), Poll(2)});
  CHECK(Ids(queue.PopRequests()) == Numbers{1, 2});
  CHECK(queue.IsEmpty());
}

TEST_CASE("save queue › acknowledges nothing until it is on disk") {
  SaveQueue queue;
  queue.Add("one", {Poll(1)});
  queue.Add("", {Poll(2)});
  CHECK(queue.PopRequests().empty());
  CHECK(*queue.PopState(0) == "one");
  CHECK(queue.PopRequests().empty());
  CHECK(!queue.PopState(0));
  queue.HandleWritten(true, 0);
  CHECK(Ids(queue.PopRequests()) == Numbers{1, 2});
  CHECK(queue.IsEmpty());
}

TEST_CASE("save queue › keeps requests of a state that came while an older one was written") {
  SaveQueue queue;
  queue.Add("one", {Poll(1)});
  queue.PopState(0);
  queue.Add("two", {Poll(2)});
  queue.Add("three", {Poll(3)});
  queue.HandleWritten(true, 0);
  CHECK(Ids(queue.PopRequests()) == Numbers{1});
  CHECK(*queue.PopState(0) == "three");
  queue.HandleWritten(true, 0);
  CHECK(Ids(queue.PopRequests()) == Numbers{2, 3});
}

TEST_CASE(
    "save queue › holds requests back while writing fails, and tries again less and less often") {
  SaveQueue queue;
  queue.Add("one", {Poll(1)});
  int64_t now = 0;
  int64_t pause = kSaveRetryMsFirst;
  for (int i = 0; i < 20; i++) {
    CHECK(queue.IsFailing() == (i >= kSaveFailuresShown));
    REQUIRE(*queue.PopState(now) == "one");
    queue.HandleWritten(false, now);
    CHECK(queue.PopRequests().empty());
    CHECK(queue.NextDueMs() == now + pause);
    CHECK(!queue.PopState(now + pause - 1));
    now += pause;
    pause = std::min(2 * pause, kSaveRetryMsMax);
  }
  queue.Add("two", {});
  CHECK(*queue.PopState(now) == "two");
  queue.HandleWritten(true, now);
  CHECK(!queue.IsFailing());
  CHECK(Ids(queue.PopRequests()) == Numbers{1});
  CHECK(queue.NextDueMs() == std::numeric_limits<int64_t>::max());
}

TEST_CASE("save queue › writes the newest state after a failure, not the one that failed") {
  SaveQueue queue;
  queue.Add("one", {});
  queue.PopState(0);
  queue.Add("two", {});
  queue.HandleWritten(false, 0);
  CHECK(*queue.PopState(kSaveRetryMsFirst) == "two");
}

TEST_CASE("save queue › drops requests that are cancelled") {
  SaveQueue queue;
  queue.Add("one", {Poll(1), Poll(2)});
  queue.Cancel(1);
  queue.Cancel(9);
  queue.PopState(0);
  queue.HandleWritten(true, 0);
  CHECK(Ids(queue.PopRequests()) == Numbers{2});
}

}  // namespace
}  // namespace sprites
