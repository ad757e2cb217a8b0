// What a desktop asks its shell to do: plain values, no callbacks.
#ifndef CLIENT_WIN_CORE_DESKTOP_OUTBOX_H_
#define CLIENT_WIN_CORE_DESKTOP_OUTBOX_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/relay/request.h"

namespace sprites {

enum class ToastKind : uint8_t {
  kArrived,  // a sprite from a neighbour who has not sent one before
  kReturned,
  kNotice,
};

struct Toast {
  ToastKind kind = ToastKind::kNotice;
  std::string title;  // UTF-8, one line
  std::string text;
  std::filesystem::path opens{};  // at a click
};

// The answer of the relay about newer versions of this program.
struct UpdateNews {
  bool was_asked = false;  // by the person
  bool has_answer = false;
  bool is_later = false;  // Desktop::update() is later than this version
};

enum class Sound : uint8_t { kThrow, kArrive, kLand, kReturn };

// The shell handles the members in this order.
struct Outbox {
  // What to write to the file that Desktop::Restore reads at the next start; empty when nothing has
  // changed. It must be on disk before the first of `requests` is made: the next poll acknowledges
  // to the relay what is in it.
  std::string saved_state;
  bool settings_changed = false;  // write them to their file
  std::vector<Request> requests;
  std::vector<RequestId> cancelled;  // no longer wanted; their responses may still come
  std::vector<Toast> toasts;
  std::vector<Sound> sounds;
  std::optional<UpdateNews> update;
  std::optional<std::string>
      installer;  // the checked bytes of Desktop::update(), or "" if it failed
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_OUTBOX_H_
