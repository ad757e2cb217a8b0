#include "core/words/diagnostics.h"

#include <algorithm>
#include <cmath>

#include "core/desktop/version.h"

namespace sprites {

namespace {

const char* NameOfLink(Link link) {
  return link == Link::kConnected ? "connected" : link == Link::kJoining ? "joining" : "broken";
}

std::string MonitorText(const Monitor& monitor) {
  const auto number = [](double value) { return std::to_string(std::lround(value)); };
  return number(monitor.bounds.Width()) + " x " + number(monitor.bounds.Height()) + " at " +
         number(monitor.bounds.left) + "," + number(monitor.bounds.top) + ", " +
         number(monitor.scale * 100) + " %" + (monitor.is_primary ? ", primary" : "");
}

std::string SwitchesText(const Settings& settings) {
  std::string text;
  for (const auto& [name, member] : kSwitchFields) {
    text += settings.*member ? (text.empty() ? "" : " ") + std::string(name) : "";
  }
  return text;
}

}  // namespace

std::string Diagnostics(const Desktop& desktop, const Machine& machine) {
  std::string text = "Sprites " SPRITES_VERSION_WORDS "\n";
  const auto add = [&text](const char* name, const std::string& value) {
    text += std::string(name) + ": " + value + "\n";
  };
  const Settings& settings = desktop.settings();
  const auto& sprites = desktop.simulation().sprites();
  const auto own = std::ranges::count_if(sprites, [](const Sprite& one) { return one.from_shelf; });
  add("System", machine.system);
  add("Running", std::to_string(machine.running_ms / 1000) + " s");
  add("Memory", std::to_string(machine.memory_bytes >> 20) + " MiB");
  add("GDI handles", std::to_string(machine.gdi_handles));
  if (!machine.calls.empty()) {
    add("Calls", machine.calls);
  }
  add("Portable", machine.is_portable ? "yes" : "no");
  add("Sound device", machine.has_sound ? "yes" : "no");
  for (const Monitor& monitor : desktop.simulation().screen().monitors()) {
    add("Monitor", MonitorText(monitor));
  }
  add("Relay", settings.relay.empty() ? "none" : settings.relay);
  add("Link", NameOfLink(desktop.relay().link()));
  add("Unreachable", desktop.relay().IsUnreachable() ? "yes" : "no");
  add("Last refusal", desktop.relay().refusal.empty() ? "none" : desktop.relay().refusal);
  add("World", settings.world.empty() || settings.world == kCommons ? "commons" : "another one");
  add("Sprites", std::to_string(sprites.size()) + ", own " + std::to_string(own) + ", limit " +
                     std::to_string(settings.sprite_limit));
  add("On the way", std::to_string(desktop.traffic().on_the_way()));
  add("Waiting", std::to_string(desktop.traffic().waiting()));
  add("Muted", std::to_string(settings.muted.size()));
  add("Hidden pictures", std::to_string(settings.hidden.size()));
  add("Settings", SwitchesText(settings));
  return text;
}

}  // namespace sprites
