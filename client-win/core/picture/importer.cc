#include "core/picture/importer.h"

#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include "core/picture/packs/pack.h"

namespace sprites {

namespace {

std::string NameOf(const std::filesystem::path& path) {
  // A folder may be named with a slash at its end.
  const std::u8string name =
      (path.has_filename() ? path : path.parent_path()).filename().u8string();
  return {name.begin(), name.end()};
}

void AddPack(const PackFiles& files, ImportResult* result) {
  PackSprite pack = ReadPack(files);
  result->made.spr = SprOfPack(pack, result->name);
  result->left_out = std::move(pack.left_out);
}

}  // namespace

Importer::Importer(FileCache* cache, DecodeOther decode, std::function<void()> wake)
    : cache_(cache),
      decode_(std::move(decode)),
      wake_(std::move(wake)),
      thread_([this] { Run(); }) {}

Importer::~Importer() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Importer::Import(std::vector<std::filesystem::path> paths) {
  {
    const std::lock_guard lock(mutex_);
    for (std::filesystem::path& path : paths) {
      if (paths_.size() < kImportsMax) {
        paths_.push_back(std::move(path));
      } else {
        results_.push_back({nullptr, NameOf(path), Reason{Text::kImportTooMany}});
      }
    }
  }
  changed_.notify_all();
}

std::vector<ImportResult> Importer::PopResults() {
  const std::lock_guard lock(mutex_);
  return std::exchange(results_, {});
}

void Importer::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_stopping_ || !paths_.empty(); });
    if (is_stopping_) {
      return;
    }
    const std::filesystem::path path = std::move(paths_.front());
    paths_.pop_front();
    lock.unlock();
    ImportResult result = ImportFile(path);
    lock.lock();
    results_.push_back(std::move(result));
    lock.unlock();
    wake_();
    lock.lock();
  }
}

ImportResult Importer::ImportFile(const std::filesystem::path& path) const {
  ImportResult result;
  try {
    result.name = NameOf(path);
    if (std::error_code failed; std::filesystem::is_directory(path, failed)) {
      AddPack(FilesOfFolder(path), &result);
      return result;
    }
    const auto bytes = ReadBytes(path, kPictureBytesMax);
    if (!bytes) {
      result.error = Reason{Text::kImportUnreadable, {std::to_string(kPictureBytesMax >> 20)}};
      return result;
    }
    if (IsZip(*bytes)) {
      AddPack(FilesOfZip(*bytes), &result);
      return result;
    }
    result.made = SprOfFile(*bytes, result.name, decode_);
    result.sheet = StoreOwn(cache_, result.made.spr);
  } catch (const std::bad_alloc&) {
    result.error = Reason{Text::kImportNoMemory};
  } catch (const Refused& refused) {
    result.error = refused.reason();
  } catch (const std::exception&) {
    result.error = Reason{Text::kImportFailed};  // for example, a name that is not Unicode
  }
  return result;
}

}  // namespace sprites
