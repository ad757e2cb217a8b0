#include "win32/wic_picture.h"

#include <windows.h>
// After windows.h.
#include <wincodec.h>

#include "win32/owned.h"

namespace sprites {

namespace {

[[noreturn]] void Refuse(const char* why) { throw PictureRefused(why); }

void Check(HRESULT result) {
  if (FAILED(result)) {
    Refuse("Windows has no codec that reads this file as a picture.");
  }
}

// Calls a COM function that hands out an object by its last argument.
template <typename T, typename Make>
OwnedCom<T> Made(Make make) {
  T* made = nullptr;
  Check(make(&made));
  return OwnedCom<T>(made);
}

}  // namespace

Picture DecodeByWindows(std::span<const uint8_t> bytes) {
  const auto factory = Made<IWICImagingFactory>([](IWICImagingFactory** made) {
    return CoCreateInstance(CLSID_WICImagingFactory, nullptr, CLSCTX_INPROC_SERVER,
                            IID_IWICImagingFactory, reinterpret_cast<void**>(made));
  });
  const auto stream =
      Made<IWICStream>([&](IWICStream** made) { return factory->CreateStream(made); });
  Check(stream->InitializeFromMemory(const_cast<BYTE*>(bytes.data()),
                                     static_cast<DWORD>(bytes.size())));
  const auto decoder = Made<IWICBitmapDecoder>([&](IWICBitmapDecoder** made) {
    return factory->CreateDecoderFromStream(stream.get(), nullptr, WICDecodeMetadataCacheOnDemand,
                                            made);
  });
  const auto frame = Made<IWICBitmapFrameDecode>(
      [&](IWICBitmapFrameDecode** made) { return decoder->GetFrame(0, made); });
  UINT width = 0;
  UINT height = 0;
  Check(frame->GetSize(&width, &height));
  const bool fits = width >= 1 && height >= 1 && width <= kPictureSidePixelsMax &&
                    height <= kPictureSidePixelsMax && size_t{width} * height <= kPicturePixelsMax;
  if (!fits) {
    Refuse("The picture has more pixels than this program takes.");
  }
  const auto converter = Made<IWICFormatConverter>(
      [&](IWICFormatConverter** made) { return factory->CreateFormatConverter(made); });
  Check(converter->Initialize(frame.get(), GUID_WICPixelFormat32bppRGBA, WICBitmapDitherTypeNone,
                              nullptr, 0, WICBitmapPaletteTypeCustom));
  Bytes rgba(size_t{4} * width * height);
  Check(converter->CopyPixels(nullptr, 4 * width, static_cast<UINT>(rgba.size()), rgba.data()));
  Picture picture{static_cast<int>(width), static_cast<int>(height), {}};
  picture.frames.push_back({std::move(rgba), 0});
  return picture;
}

}  // namespace sprites
