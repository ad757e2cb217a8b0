// What the core and a shell say to each other: plain values, no calls back.
//
// The shell tells the core what happened (desktop.h has a method for each) and what time it is; the
// core answers with a Scene to show and an Outbox of things to do. A shell has one thread for all
// calls of a Desktop; requests are carried out on threads of their own (carrier.h).
#ifndef CLIENT_WIN_CORE_SEAMS_H_
#define CLIENT_WIN_CORE_SEAMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/picture/sheet.h"
#include "core/screen/geometry.h"

namespace sprites {

class FileCache;

// How a request travels: each lane is a connection of its own, so a held poll blocks nothing.
enum class Lane : uint8_t {
  kPoll,   // the long-poll: one at a time, held for minutes
  kShort,  // join, crossings, look, leave: several at a time
  kFile,   // sprite files, up and down
};

enum class Method : uint8_t { kGet, kPost, kPut, kDelete };

using RequestId = uint64_t;

// An HTTP request for the shell to make. Redirects are not followed; the answer is read up to its
// limit and no further. Each is answered once, by its timeout at the latest. Never log `token`.
struct Request {
  RequestId id = 0;
  Lane lane = Lane::kShort;
  Method method = Method::kGet;
  std::string url;
  std::string token;         // empty, or for `Authorization: Bearer …`
  std::string content_type;  // empty without a body
  std::string body;
  std::string file;         // hash: what a GET must bring; whose bytes a PUT sends, from the cache
  uint32_t timeout_ms = 0;  // from the start to the last byte
  size_t answer_bytes_max = 0;
};

// What came of it. Status 0: no answer — no connection, a timeout, a broken or too long answer.
struct Answer {
  RequestId id = 0;
  int status = 0;
  std::string body;
  int retry_after_s = 0;  // of the header; 0 for none
  SheetPointer sheet;     // of a GET of a file that brought the right one
};

// HTTP exchanges that block until they are over. Called on several threads at once; defined by the
// shell.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Answer Exchange(const Request& request) = 0;
  // Ends an exchange soon, or one that is just about to begin: it answers status 0.
  virtual void Cancel(RequestId id) = 0;
};

// Makes a request whole: files come from the cache when they are there, are checked, decoded and
// cached when they are not, and uploads take their bytes from it. Blocks; on any thread; all that
// costs time with a file happens here. Never throws.
Answer Carry(const Request& request, Transport& transport, FileCache& cache);

// A sprite as it is to be drawn, lowest first.
struct DrawnSprite {
  SpriteId id = kNobody;
  SheetPointer sheet;  // never null: a parcel where the picture is not here
  int cell = 0;        // of its grid, row by row from 0
  int x = 0;           // px of the virtual screen: the frame's left top corner
  int y = 0;
  int width = 0;  // px: the frame scaled; at least 1
  int height = 0;
  bool mirrored = false;  // sheets look to the right
  bool visible = true;    // false behind a full-screen program

  bool operator==(const DrawnSprite&) const = default;
};

struct Scene {
  std::vector<DrawnSprite> sprites;
  // Nothing moves, so the next frame may wait: until an event, or for so long at the most.
  double idle_ms = 0;
};

enum class ToastKind : uint8_t {
  kArrived,  // from a neighbour who was not seen before
  kReturned,
  kNotice,
};

struct Toast {
  ToastKind kind = ToastKind::kNotice;
  std::string title;  // UTF-8, one line
  std::string text;
};

enum class Sound : uint8_t { kThrow, kArrive, kLand, kReturn };

// Things for the shell to do, in this order.
struct Outbox {
  // First: write this where Desktop::Restore finds it next time. It must be on disk before any
  // request below is made, for the next poll says that it is. Empty: nothing new.
  std::string keep;
  std::vector<Request> requests;
  std::vector<RequestId> cancelled;  // their answers are not wanted any more; they may still come
  std::vector<Toast> toasts;
  std::vector<Sound> sounds;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_SEAMS_H_
