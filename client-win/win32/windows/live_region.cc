#include "win32/windows/live_region.h"

namespace sprites {

namespace {

// LiveSetting_Property_GUID of UI Automation, which older headers lack.
constexpr GUID kLiveSetting = {
    0xC12BCD8E, 0x2A8E, 0x4950, {0x8A, 0xE7, 0x36, 0x25, 0x11, 0x1D, 0x58, 0xEB}};
constexpr LONG kPolite = 1;  // LiveSetting::Polite: after what is being read

}  // namespace

LiveRegions::LiveRegions() {
  IAccPropServices* annotations = nullptr;
  if (SUCCEEDED(CoCreateInstance(CLSID_AccPropServices, nullptr, CLSCTX_INPROC_SERVER,
                                 IID_IAccPropServices, reinterpret_cast<void**>(&annotations)))) {
    annotations_.reset(annotations);
  }
}

void LiveRegions::Mark(HWND window) {
  if (annotations_ != nullptr) {
    VARIANT polite{};
    polite.vt = VT_I4;
    polite.lVal = kPolite;
    annotations_->SetHwndProp(window, static_cast<DWORD>(OBJID_CLIENT), CHILDID_SELF, kLiveSetting,
                              polite);
  }
}

void LiveRegions::Unmark(HWND window) {
  if (annotations_ != nullptr) {
    annotations_->ClearHwndProps(window, static_cast<DWORD>(OBJID_CLIENT), CHILDID_SELF,
                                 &kLiveSetting, 1);
  }
}

void LiveRegions::Announce(HWND window) const {
  NotifyWinEvent(EVENT_OBJECT_LIVEREGIONCHANGED, window, OBJID_CLIENT, CHILDID_SELF);
}

}  // namespace sprites
