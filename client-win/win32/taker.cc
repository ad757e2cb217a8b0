#include "win32/taker.h"

#include <objbase.h>

#include <exception>
#include <filesystem>
#include <new>
#include <utility>

#include "core/picture/orientation.h"
#include "core/picture/picture.h"
#include "core/picture/png.h"
#include "win32/folder.h"
#include "win32/text16.h"
#include "win32/wic_picture.h"

namespace sprites {

namespace {

// A picture the core knows; else one that Windows does.
Bytes SprOf(std::span<const uint8_t> bytes, const std::string& name) {
  try {
    return SprOfFile(bytes, name);
  } catch (const PictureUnknown&) {
    return SprOfPicture(Upright(DecodeByWindows(bytes), OrientationOf(bytes)), name);
  }
}

Taken TakeIn(const std::filesystem::path& path, FileCache* cache) {
  Taken taken;
  taken.name = Narrow(path.filename().wstring());
  try {
    const auto text = ReadWhole(path, kPictureBytesMax);
    if (!text) {
      taken.why =
          "It can't be read, or has more than " + std::to_string(kPictureBytesMax >> 20) + " MiB.";
      return taken;
    }
    taken.sheet = StoreOwn(cache, SprOf(AsBytes(*text), taken.name));
  } catch (const std::bad_alloc&) {
    taken.why = "There is not enough memory to make a sprite of it.";
  } catch (const std::exception& refused) {
    taken.why = refused.what();
  }
  return taken;
}

}  // namespace

Taker::Taker(FileCache* cache, std::function<void()> wake)
    : cache_(cache), wake_(std::move(wake)), thread_([this] { Work(); }) {}

Taker::~Taker() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Taker::Give(std::vector<std::wstring> paths) {
  {
    const std::lock_guard lock(mutex_);
    for (std::wstring& path : paths) {
      paths_.push_back(std::move(path));
    }
  }
  changed_.notify_all();
}

std::vector<Taken> Taker::TakeTaken() {
  const std::lock_guard lock(mutex_);
  return std::exchange(taken_, {});
}

void Taker::Work() {
  const HRESULT com = CoInitializeEx(nullptr, COINIT_MULTITHREADED);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ends_ || !paths_.empty(); });
    if (ends_) {
      break;
    }
    const std::wstring path = std::move(paths_.front());
    paths_.pop_front();
    lock.unlock();
    Taken taken = TakeIn(path, cache_);
    lock.lock();
    taken_.push_back(std::move(taken));
    lock.unlock();
    wake_();
    lock.lock();
  }
  if (SUCCEEDED(com)) {
    CoUninitialize();
  }
}

}  // namespace sprites
