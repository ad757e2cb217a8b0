// Whether this session is one of Wayland whose compositor has layers (wlr-layer-shell): then
// sprites are shown there, else on X.
#ifndef CLIENT_WIN_X11_SYSTEM_LAYER_SHELL_H_
#define CLIENT_WIN_X11_SYSTEM_LAYER_SHELL_H_

namespace sprites {

// False too when GDK_BACKEND asks for X. Cost: a connection and a round trip. Call it before GTK
// starts, which can't change its mind.
bool HasLayerShell();

}  // namespace sprites

#endif  // CLIENT_WIN_X11_SYSTEM_LAYER_SHELL_H_
