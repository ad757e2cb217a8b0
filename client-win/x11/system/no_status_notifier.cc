// Built instead of status_notifier.cc where libsystemd is missing: there is never a bus.
#include "x11/system/status_notifier.h"

namespace sprites {

struct StatusNotifier::Bus {};

StatusNotifier::StatusNotifier(const SheetPointer&, std::function<void(Point)>) {}
StatusNotifier::~StatusNotifier() = default;
int StatusNotifier::fd() const { return -1; }
short StatusNotifier::events() const { return 0; }
void StatusNotifier::Process() {}
bool StatusNotifier::is_shown() const { return false; }
bool StatusNotifier::CanNotify() const { return false; }
void StatusNotifier::SetTooltip(const std::string&) {}
void StatusNotifier::Notify(const std::string&, const std::string&) {}

}  // namespace sprites
