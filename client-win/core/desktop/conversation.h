// What is said around this desktop: the bubbles that are shown now, and the last lines of all.
//
// Invariant: at most kBubblesMax bubbles, kBubblesPerSpeakerMax of one desktop, and kHistoryMax
// lines; of too many, the oldest go. Units: ms of the desktop's clock. Cost: O(bubbles) a call.
// Source: BEHAVIOUR.md, "Bubbles".
#ifndef CLIENT_WIN_CORE_DESKTOP_CONVERSATION_H_
#define CLIENT_WIN_CORE_DESKTOP_CONVERSATION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "core/relay/batch.h"

namespace sprites {

constexpr int64_t kBubbleMsMin = 3'000;      // every bubble is shown for so long
constexpr int64_t kBubbleMsPerByte = 60;     // and longer: 16 letters a second are read easily
constexpr size_t kBubblesMax = 8;            // more hide the sprites
constexpr size_t kBubblesPerSpeakerMax = 3;  // so one desktop does not crowd out the others
constexpr size_t kHistoryMax = 50;           // lines: some minutes of a lively conversation

// How long a bubble with this text is shown.
int64_t BubbleMs(const std::string& text);

// A line of the history.
struct HeardLine {
  uint64_t id = 0;  // rises with each line, from 1
  Saying saying;
  uint64_t missed = 0;  // not 0: so many sayings were lost here, and `saying` is empty
  bool is_own = false;  // said by this desktop
  int64_t heard_ms = 0;
};

struct HeardBubble {
  uint64_t id = 0;  // rises with each bubble, from 1
  Saying saying;
  bool is_own = false;
  int64_t end_ms = 0;
};

class Conversation {
 public:
  void Hear(const Saying& saying, bool is_own, int64_t now_ms);
  // So many sayings were lost; a number after another is added to it.
  void Miss(uint64_t count, int64_t now_ms);
  // Removes the bubbles of a desktop that is muted now.
  void Silence(const Neighbour& speaker);
  // Removes the bubbles whose time is over.
  void Expire(int64_t now_ms);

  const std::deque<HeardBubble>& bubbles() const { return bubbles_; }  // oldest first
  const std::deque<HeardLine>& history() const { return history_; }    // likewise
  // Rises with each change of the history.
  uint64_t history_version() const { return history_version_; }
  // When the next bubble ends; the largest value for never.
  int64_t NextEndMs() const;

 private:
  void AddLine(HeardLine line);

  std::deque<HeardBubble> bubbles_;
  std::deque<HeardLine> history_;
  uint64_t history_version_ = 0;
  uint64_t last_line_ = 0;
  uint64_t last_bubble_ = 0;
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_CONVERSATION_H_
