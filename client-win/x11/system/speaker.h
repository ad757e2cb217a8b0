// Plays the sounds of the program by ALSA, which PipeWire and PulseAudio serve too.
//
// The device is open only while a sound plays, so it can sleep in between.
// Invariant: without a device nothing happens but that IsSilent() becomes true. Memory: one sound
// waits at most, the newest. Threads: has a thread of its own, because a device takes as long as it
// likes; all calls on one other.
#ifndef CLIENT_WIN_X11_SYSTEM_SPEAKER_H_
#define CLIENT_WIN_X11_SYSTEM_SPEAKER_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace sprites {

constexpr int64_t kSilentMs = 10'000;  // after a device could not be opened, until the next attempt

class Speaker {
 public:
  Speaker();
  // A sound that is playing is cut off.
  ~Speaker();
  Speaker(const Speaker&) = delete;
  Speaker& operator=(const Speaker&) = delete;

  // Plays samples (core/desktop/tones.h). Those that are playing are cut off.
  void Play(std::vector<int16_t> samples);
  // Whether the last sound could not be played because there is no device.
  bool IsSilent() const { return is_silent_; }

 private:
  void Run();
  bool IsCutOff();

  std::atomic<bool> is_silent_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;  // something waits, or this ends
  std::vector<int16_t> waiting_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SYSTEM_SPEAKER_H_
