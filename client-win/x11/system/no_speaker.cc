// Built instead of speaker.cc where ALSA's library is missing: nothing is ever played.
#include "x11/system/speaker.h"

namespace sprites {

Speaker::Speaker() : is_silent_(true) {}
Speaker::~Speaker() = default;
void Speaker::Play(std::vector<int16_t>) {}

}  // namespace sprites
