// Whether the program starts with Windows: one value under the user's Run key, unless the person
// has turned it off in the Task Manager or the settings of Windows, which write another value. The
// registry is always read again because these and the installer change it too.
#ifndef CLIENT_WIN_WIN32_SYSTEM_AUTOSTART_H_
#define CLIENT_WIN_WIN32_SYSTEM_AUTOSTART_H_

namespace sprites {

bool IsAutostartOn();
void SetAutostart(bool is_on);

}  // namespace sprites

#endif  // CLIENT_WIN_WIN32_SYSTEM_AUTOSTART_H_
