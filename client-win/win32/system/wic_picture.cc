#include "win32/system/wic_picture.h"

#include <windows.h>
// After windows.h.
#include <wincodec.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "core/picture/orientation.h"
#include "core/picture/png.h"
#include "win32/system/owned.h"

namespace sprites {

namespace {

// COM on this thread, as long as it lives.
class ComScope {
 public:
  ComScope() : begun_(CoInitializeEx(nullptr, COINIT_MULTITHREADED)) {}
  ~ComScope() {
    if (SUCCEEDED(begun_)) {
      CoUninitialize();
    }
  }
  ComScope(const ComScope&) = delete;
  ComScope& operator=(const ComScope&) = delete;

 private:
  HRESULT begun_;
};

// A format that needs an optional codec: how its files are recognised, and what the codec is
// called.
struct Format {
  size_t offset;
  std::string_view signature;  // at `offset`
  const char* name;
  const char* codec;  // in the Microsoft Store
};
constexpr Format kFormats[] = {{8, "WEBP", "WebP", "WebP Image Extensions"},
                               {4, "ftypavif", "AVIF", "AV1 Video Extension"},
                               {4, "ftyphei", "HEIF", "HEIF Image Extensions"},
                               {4, "ftypmif1", "HEIF", "HEIF Image Extensions"}};

[[noreturn]] void RefuseUnknown(std::span<const uint8_t> bytes) {
  const std::string_view text = AsText(bytes);
  for (const Format& format : kFormats) {
    if (text.size() > format.offset && text.substr(format.offset).starts_with(format.signature)) {
      throw PictureUnknown(Text::kPictureNoCodec, {format.name, format.codec});
    }
  }
  throw PictureUnknown(Text::kPictureKindWindows);
}

void Check(HRESULT result) {
  if (FAILED(result)) {
    throw PictureRefused(Text::kPictureDamaged);
  }
}

// Calls a COM function that returns an object through its last argument. Null if it fails.
template <typename T, typename Make>
OwnedCom<T> TryMake(Make make) {
  T* made = nullptr;
  const HRESULT result = make(&made);
  return OwnedCom<T>(SUCCEEDED(result) ? made : nullptr);
}

template <typename T, typename Make>
OwnedCom<T> MustMake(Make make) {
  OwnedCom<T> made = TryMake<T>(make);
  Check(made == nullptr ? E_FAIL : S_OK);
  return made;
}

struct SizedFrame {
  OwnedCom<IWICBitmapFrameDecode> frame;
  UINT width = 0;
  UINT height = 0;
};

// Returns the largest frame: an icon has one for each size, a photograph may have a small preview.
SizedFrame LargestFrame(IWICBitmapDecoder* decoder) {
  UINT frames = 0;
  Check(decoder->GetFrameCount(&frames));
  SizedFrame largest;
  for (UINT i = 0; i < std::min<UINT>(frames, kPictureFramesMax); i++) {
    SizedFrame one{TryMake<IWICBitmapFrameDecode>(
        [&](IWICBitmapFrameDecode** made) { return decoder->GetFrame(i, made); })};
    if (one.frame != nullptr && SUCCEEDED(one.frame->GetSize(&one.width, &one.height)) &&
        (largest.frame == nullptr || one.width > largest.width)) {
      largest = std::move(one);
    }
  }
  Check(largest.frame == nullptr ? E_FAIL : S_OK);
  return largest;
}

}  // namespace

Picture DecodeByWindows(std::span<const uint8_t> bytes) {
  const auto factory = MustMake<IWICImagingFactory>([](IWICImagingFactory** made) {
    return CoCreateInstance(CLSID_WICImagingFactory, nullptr, CLSCTX_INPROC_SERVER,
                            IID_IWICImagingFactory, reinterpret_cast<void**>(made));
  });
  const auto stream =
      MustMake<IWICStream>([&](IWICStream** made) { return factory->CreateStream(made); });
  Check(stream->InitializeFromMemory(const_cast<BYTE*>(bytes.data()),
                                     static_cast<DWORD>(bytes.size())));
  const auto decoder = TryMake<IWICBitmapDecoder>([&](IWICBitmapDecoder** made) {
    return factory->CreateDecoderFromStream(stream.get(), nullptr, WICDecodeMetadataCacheOnDemand,
                                            made);
  });
  if (decoder == nullptr) {
    RefuseUnknown(bytes);
  }
  const SizedFrame largest = LargestFrame(decoder.get());
  const UINT width = largest.width;
  const UINT height = largest.height;
  CheckPictureSize(width, height, 1, kPicturePixelsMax);
  const auto converter = MustMake<IWICFormatConverter>(
      [&](IWICFormatConverter** made) { return factory->CreateFormatConverter(made); });
  Check(converter->Initialize(largest.frame.get(), GUID_WICPixelFormat32bppRGBA,
                              WICBitmapDitherTypeNone, nullptr, 0, WICBitmapPaletteTypeCustom));
  Bytes rgba(size_t{4} * width * height);
  Check(converter->CopyPixels(nullptr, 4 * width, static_cast<UINT>(rgba.size()), rgba.data()));
  Picture picture{static_cast<int>(width), static_cast<int>(height), {}};
  picture.frames.push_back({std::move(rgba), 0});
  return picture;
}

Picture DecodeUprightByWindows(std::span<const uint8_t> bytes) {
  const ComScope com;
  return Upright(DecodeByWindows(bytes), OrientationOf(bytes));
}

}  // namespace sprites
