#include "x11/system/layer_shell.h"

#include <wayland-client.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace sprites {

bool HasLayerShell() {
  const char* wanted = std::getenv("GDK_BACKEND");
  if (std::getenv("WAYLAND_DISPLAY") == nullptr ||
      (wanted != nullptr && std::string_view(wanted) == "x11")) {
    return false;
  }
  wl_display* display = wl_display_connect(nullptr);
  if (display == nullptr) {
    return false;
  }
  bool has_layers = false;
  constexpr wl_registry_listener kListener{
      [](void* has_layers, wl_registry*, uint32_t, const char* interface, uint32_t) {
        if (std::string_view(interface) == "zwlr_layer_shell_v1") {
          *static_cast<bool*>(has_layers) = true;
        }
      },
      [](void*, wl_registry*, uint32_t) {}};
  wl_registry* registry = wl_display_get_registry(display);
  wl_registry_add_listener(registry, &kListener, &has_layers);
  wl_display_roundtrip(display);
  wl_registry_destroy(registry);
  wl_display_disconnect(display);
  return has_layers;
}

}  // namespace sprites
