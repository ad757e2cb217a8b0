// Starting with Windows: one value under the person's own Run key. The key is what counts, for the
// installer and Windows' own settings change it too.
#ifndef CLIENT_WIN_WIN32_AUTOSTART_H_
#define CLIENT_WIN_WIN32_AUTOSTART_H_

namespace sprites {

bool IsAutostartOn();
void SetAutostart(bool starts);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_AUTOSTART_H_
