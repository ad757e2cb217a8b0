#include "x11/system/speaker.h"

#include <alsa/asoundlib.h>

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "core/desktop/tones.h"

namespace sprites {

namespace {

constexpr unsigned kBufferUs = 300'000;  // µs: a whole tone fits, so nothing waits for the device
constexpr int kTailMs = 100;             // ms: from the samples to the loudspeaker
constexpr int kStuckMs = 1'000;          // ms: a device that takes no samples for so long is broken

using Clock = std::chrono::steady_clock;

struct DeviceClosed {
  void operator()(snd_pcm_t* device) const { snd_pcm_close(device); }
};
using Device = std::unique_ptr<snd_pcm_t, DeviceClosed>;

// The library would print its errors.
void Ignore(const char*, int, const char*, int, const char*, ...) {}

// Null when there is no device, or when another program has it.
Device OpenDevice() {
  snd_pcm_t* opened = nullptr;
  if (snd_pcm_open(&opened, "default", SND_PCM_STREAM_PLAYBACK, SND_PCM_NONBLOCK) < 0) {
    return nullptr;
  }
  Device device(opened);
  const bool is_set = snd_pcm_set_params(opened, SND_PCM_FORMAT_S16, SND_PCM_ACCESS_RW_INTERLEAVED,
                                         1, kSamplesPerSecond, 1, kBufferUs) == 0;
  return is_set ? std::move(device) : nullptr;
}

// Hands the samples to the device, which plays them until it is closed.
void Begin(snd_pcm_t* device, std::span<const int16_t> samples,
           const std::function<bool()>& is_cut_off) {
  while (!samples.empty() && !is_cut_off()) {
    const snd_pcm_sframes_t written = snd_pcm_writei(device, samples.data(), samples.size());
    const bool is_full = written == -EAGAIN && snd_pcm_wait(device, kStuckMs) > 0;
    if (written <= 0 && !is_full) {
      return;  // it was unplugged, say
    }
    samples = samples.subspan(written > 0 ? static_cast<size_t>(written) : 0);
  }
  if (snd_pcm_state(device) == SND_PCM_STATE_PREPARED) {
    snd_pcm_start(device);
  }
}

}  // namespace

Speaker::Speaker() : thread_([this] { Run(); }) { snd_lib_error_set_handler(&Ignore); }

Speaker::~Speaker() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
  snd_config_update_free_global();
}

void Speaker::Play(std::vector<int16_t> samples) {
  {
    const std::lock_guard lock(mutex_);
    waiting_ = std::move(samples);
  }
  changed_.notify_all();
}

// Whether the program ends, or the next sound waits.
bool Speaker::IsCutOff() {
  const std::lock_guard lock(mutex_);
  return is_ending_ || !waiting_.empty();
}

void Speaker::Run() {
  Clock::time_point silent_until{};
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
    if (is_ending_) {
      return;
    }
    const std::vector<int16_t> samples = std::exchange(waiting_, {});
    if (is_silent_ && Clock::now() < silent_until) {
      continue;
    }
    lock.unlock();
    Device device = OpenDevice();
    is_silent_ = device == nullptr;
    if (is_silent_) {
      silent_until = Clock::now() + std::chrono::milliseconds(kSilentMs);
      lock.lock();
      continue;
    }
    const Clock::time_point begun = Clock::now();
    Begin(device.get(), samples, [this] { return IsCutOff(); });
    const std::chrono::milliseconds length(samples.size() * 1'000 / kSamplesPerSecond + kTailMs);
    lock.lock();
    changed_.wait_until(lock, begun + length, [this] { return is_ending_ || !waiting_.empty(); });
    lock.unlock();
    device.reset();
    lock.lock();
  }
}

}  // namespace sprites
