#include "core/picture/importer.h"

#include <exception>
#include <fstream>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

namespace sprites {

namespace {

// The bytes of a file; nothing when it can't be read, or is longer than a picture may be.
std::optional<Bytes> ReadPicture(const std::filesystem::path& path) {
  std::error_code failed;
  const bool is_file = std::filesystem::is_regular_file(path, failed);
  const uintmax_t size = is_file ? std::filesystem::file_size(path, failed) : 0;
  if (!is_file || failed || size > kPictureBytesMax) {
    return std::nullopt;
  }
  std::ifstream file(path, std::ios::binary);
  Bytes bytes(static_cast<size_t>(size));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return file ? std::optional(std::move(bytes)) : std::nullopt;
}

std::string NameOf(const std::filesystem::path& path) {
  const std::u8string name = path.filename().u8string();
  return {name.begin(), name.end()};
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
    const auto bytes = ReadPicture(path);
    if (!bytes) {
      result.error = Reason{Text::kImportUnreadable, {std::to_string(kPictureBytesMax >> 20)}};
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
