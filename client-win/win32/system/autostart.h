// Whether the program starts with Windows: one value under the user's Run key. The registry is
// always read again because the installer and the Windows settings change the value too.
#ifndef CLIENT_WIN_WIN32_SYSTEM_AUTOSTART_H_
#define CLIENT_WIN_WIN32_SYSTEM_AUTOSTART_H_

namespace sprites {

bool IsAutostartOn();
void SetAutostart(bool is_on);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_AUTOSTART_H_
