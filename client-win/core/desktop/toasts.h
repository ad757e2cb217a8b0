// The toasts of a desktop: at most one of a kind every kToastMsMin, however much happens.
#ifndef CLIENT_WIN_CORE_DESKTOP_TOASTS_H_
#define CLIENT_WIN_CORE_DESKTOP_TOASTS_H_

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/desktop/outbox.h"
#include "core/text/texts.h"

namespace sprites {

constexpr int64_t kToastMsMin = 4'000;        // ms between two toasts of one kind
constexpr size_t kKnownNeighboursMax = 1024;  // neighbours remembered

class Toasts {
 public:
  void SetEnabled(bool is_enabled) { is_enabled_ = is_enabled; }
  void Add(ToastKind kind, const std::string& title, const std::string& text, int64_t now_ms);
  // A sprite arrived. Adds a toast when it is the first one from this neighbour; `from` may be
  // empty.
  void AddArrival(Language language, const std::string& sprite, const std::string& from,
                  int64_t now_ms);
  std::vector<Toast> Pop();

 private:
  bool is_enabled_ = true;
  std::array<int64_t, 3> shown_ms_{};  // when the last toast of each kind was added; 0 for never
  std::set<std::string> known_;        // neighbours that sprites came from
  std::vector<Toast> toasts_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_TOASTS_H_
