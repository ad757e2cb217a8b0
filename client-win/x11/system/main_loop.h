// GTK's main loop, and what the program waits for beside GTK.
//
// GTK has a connection of its own to the display. When an X server ends, GTK only stops to draw:
// the program learns of the end from its own connection. When a compositor ends, GTK ends the
// program. Threads: all calls on one.
#ifndef CLIENT_WIN_X11_SYSTEM_MAIN_LOOP_H_
#define CLIENT_WIN_X11_SYSTEM_MAIN_LOOP_H_

namespace sprites {

// Starts GTK, once in a process: for Wayland where the compositor has layers, otherwise for X.
// Returns whether it has. Throws std::runtime_error when there is no display.
bool StartGtk();

// From now on GTK's main loop sets *is_ready when the file can be read, or has failed. Both live as
// long as the loop is used. -1 is no file.
void Watch(int fd, bool* is_ready);

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SYSTEM_MAIN_LOOP_H_
