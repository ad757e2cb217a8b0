#include "win32/picture_importer.h"

#include <objbase.h>

#include <exception>
#include <filesystem>
#include <new>
#include <utility>

#include "core/picture/orientation.h"
#include "core/picture/picture.h"
#include "core/picture/png.h"
#include "win32/data_folder.h"
#include "win32/text16.h"
#include "win32/wic_picture.h"

namespace sprites {

namespace {

// Converts a file to .spr: with the core's decoders, or with those of Windows if the core does not
// know the format.
Bytes SprOf(std::span<const uint8_t> bytes, const std::string& name) {
  try {
    return SprOfFile(bytes, name);
  } catch (const PictureUnknown&) {
    return SprOfPicture(Upright(DecodeByWindows(bytes), OrientationOf(bytes)), name);
  }
}

ImportResult ImportFile(const std::filesystem::path& path, FileCache* cache) {
  ImportResult result;
  result.name = Narrow(path.filename().wstring());
  try {
    const auto text = ReadWholeFile(path, kPictureBytesMax);
    if (!text) {
      result.error = "The file can't be read, or is larger than " +
                     std::to_string(kPictureBytesMax >> 20) + " MiB.";
      return result;
    }
    result.sheet = StoreOwn(cache, SprOf(AsBytes(*text), result.name));
  } catch (const std::bad_alloc&) {
    result.error = "There is not enough memory to convert the picture.";
  } catch (const std::exception& refused) {
    result.error = refused.what();
  }
  return result;
}

}  // namespace

PictureImporter::PictureImporter(FileCache* cache, std::function<void()> wake)
    : cache_(cache), wake_(std::move(wake)), thread_([this] { Run(); }) {}

PictureImporter::~PictureImporter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void PictureImporter::Import(std::vector<std::wstring> paths) {
  {
    const std::lock_guard lock(mutex_);
    for (std::wstring& path : paths) {
      paths_.push_back(std::move(path));
    }
  }
  changed_.notify_all();
}

std::vector<ImportResult> PictureImporter::PopResults() {
  const std::lock_guard lock(mutex_);
  return std::exchange(results_, {});
}

void PictureImporter::Run() {
  const HRESULT com = CoInitializeEx(nullptr, COINIT_MULTITHREADED);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !paths_.empty(); });
    if (stopping_) {
      break;
    }
    const std::wstring path = std::move(paths_.front());
    paths_.pop_front();
    lock.unlock();
    ImportResult result = ImportFile(path, cache_);
    lock.lock();
    results_.push_back(std::move(result));
    lock.unlock();
    wake_();
    lock.lock();
  }
  if (SUCCEEDED(com)) {
    CoUninitialize();
  }
}

}  // namespace sprites
