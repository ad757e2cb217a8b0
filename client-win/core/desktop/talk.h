// What the desktop says and hears: the line that the person types, and the bubbles of the scene.
#ifndef CLIENT_WIN_CORE_DESKTOP_TALK_H_
#define CLIENT_WIN_CORE_DESKTOP_TALK_H_

#include <optional>
#include <string>

#include "core/desktop/context.h"
#include "core/desktop/conversation.h"
#include "core/desktop/crowd.h"
#include "core/desktop/files/saved_state.h"
#include "core/desktop/guests.h"
#include "core/relay/sayings.h"
#include "core/scene/scene.h"

namespace sprites {

// What became of the line that the person wants to say.
struct Speech {
  bool is_pending = false;  // the relay has not answered
  std::string unsaid;       // the line, while it is not accepted
  std::string note;         // a sentence about the last line; empty for none
  uint64_t accepted = 0;    // lines, since the program started

  // Whether `note` says why the line was not accepted.
  bool IsRefused() const { return !unsaid.empty() && !is_pending; }
  bool operator==(const Speech&) const = default;
};

class Talk {
 public:
  Talk(Context* context, Simulation* simulation, const Crowd* crowd, const Guests* guests)
      : context_(*context), simulation_(*simulation), crowd_(*crowd), guests_(*guests) {}

  // Says a line to those around; speech() tells what becomes of it. Nothing happens while one is
  // pending.
  void Speak(const std::string& text);
  // Says a reaction of rules::kReactions, which does not wait: nothing happens while something is
  // pending, without a connection, or too soon after the last one.
  void React(size_t reaction);
  // Clears the note about a line that was accepted: the person opens the window to type another.
  void ClearNote();
  const Speech& speech() const { return speech_; }
  const Conversation& conversation() const { return conversation_; }

  // -- For the other parts of the desktop.
  void Restore(SavedState* state);
  void SaveTo(SavedState* state) const;
  void Send();  // REQUIRES: connected
  // The seat has ended, and with it the relay's memory of what was said from it.
  void GiveUp();
  void HandleSayings(const Batch& batch);
  void Silence(const Neighbour& speaker) { conversation_.Silence(speaker); }
  void DrawBubbles(Scene* scene);
  // When something is due, in the time of the context.
  int64_t NextDueMs() const { return sayings_.NextDueMs(); }
  int64_t NextEndMs() const { return conversation_.NextEndMs(); }

 private:
  void HandleVerdict(const SayingVerdict& verdict);
  void DrawBubble(DrawnBubble drawn, const Sprite* sprite, Edge edge, bool has_tail,
                  Scene* scene) const;
  const Sprite* SpeakingSprite(const HeardBubble& bubble) const;
  std::optional<Edge> SpeakersEdge(const HeardBubble& bubble) const;

  Context& context_;
  Simulation& simulation_;
  const Crowd& crowd_;
  const Guests& guests_;
  Sayings sayings_;
  Speech speech_;
  Conversation conversation_;
  int64_t reaction_ms_ = -rules::kReactionGapMs;  // when the last one was said
};

}  // namespace sprites

#endif  // CLIENT_WIN_CORE_DESKTOP_TALK_H_
