// Prints what the transport asks WinHTTP for, and what it makes of a certificate that WinHTTP
// refuses. A WinHTTP that only writes the calls down stands in for that of the system.
//   session OPTION BYTES          of the options that are set, in hexadecimal
//   request OPTION BYTES
//   certificate FLAGS FAULT       a CertificateFault
#include <windows.h>
// After windows.h.
#include <winhttp.h>

#include <cstdio>

namespace {

const auto kSession = reinterpret_cast<HINTERNET>(1);
const auto kHost = reinterpret_cast<HINTERNET>(2);
const auto kRequest = reinterpret_cast<HINTERNET>(3);

WINHTTP_STATUS_CALLBACK on_status = nullptr;
DWORD_PTR context = 0;
DWORD refused_for = 0;  // flags of a certificate

HINTERNET FakeOpen(LPCWSTR, DWORD, LPCWSTR, LPCWSTR, DWORD) { return kSession; }
HINTERNET FakeConnect(HINTERNET, LPCWSTR, INTERNET_PORT, DWORD) { return kHost; }
HINTERNET FakeOpenRequest(HINTERNET, LPCWSTR, LPCWSTR, LPCWSTR, LPCWSTR, LPCWSTR*, DWORD) {
  return kRequest;
}
WINHTTP_STATUS_CALLBACK FakeSetStatusCallback(HINTERNET, WINHTTP_STATUS_CALLBACK callback, DWORD,
                                              DWORD_PTR) {
  on_status = callback;
  return nullptr;
}
BOOL FakeSetTimeouts(HINTERNET, int, int, int, int) { return TRUE; }

BOOL FakeSetOption(HINTERNET handle, DWORD option, void* value, DWORD size) {
  if (option == WINHTTP_OPTION_CONTEXT_VALUE) {
    context = *static_cast<DWORD_PTR*>(value);
    return TRUE;
  }
  if (refused_for == 0) {
    printf("%s %lu ", handle == kSession ? "session" : "request", option);
    for (DWORD i = 0; i < size; i++) {
      printf("%02x", static_cast<const unsigned char*>(value)[i]);
    }
    printf("\n");
  }
  return TRUE;
}

BOOL FakeSendRequest(HINTERNET handle, LPCWSTR, DWORD, void*, DWORD, DWORD, DWORD_PTR) {
  if (refused_for != 0) {
    on_status(handle, context, WINHTTP_CALLBACK_STATUS_SECURE_FAILURE, &refused_for,
              sizeof refused_for);
  }
  on_status(handle, context, WINHTTP_CALLBACK_STATUS_REQUEST_ERROR, nullptr, 0);
  return TRUE;
}

BOOL FakeReceiveResponse(HINTERNET, void*) { return FALSE; }
BOOL FakeReadData(HINTERNET, void*, DWORD, DWORD*) { return FALSE; }
BOOL FakeQueryHeaders(HINTERNET, DWORD, LPCWSTR, void*, DWORD*, DWORD*) { return FALSE; }

}  // namespace

// Part of a type of the transport.
BOOL FakeCloseHandle(HINTERNET handle) {
  if (handle == kRequest) {
    on_status(handle, context, WINHTTP_CALLBACK_STATUS_HANDLE_CLOSING, nullptr, 0);
  }
  return TRUE;
}

#define WinHttpOpen FakeOpen
#define WinHttpConnect FakeConnect
#define WinHttpOpenRequest FakeOpenRequest
#define WinHttpSetStatusCallback FakeSetStatusCallback
#define WinHttpSetTimeouts FakeSetTimeouts
#define WinHttpSetOption FakeSetOption
#define WinHttpSendRequest FakeSendRequest
#define WinHttpReceiveResponse FakeReceiveResponse
#define WinHttpReadData FakeReadData
#define WinHttpQueryHeaders FakeQueryHeaders
#define WinHttpCloseHandle FakeCloseHandle
// With the calls above.
#include "win32/system/text16.cc"
#include "win32/system/winhttp_transport.cc"

int wmain() {
  sprites::WinHttpTransport transport;
  sprites::Request request;
  request.url = "https://relay.example/v1/desktops";
  request.timeout_ms = 1'000;
  transport.Exchange(request);
  constexpr DWORD kFlags[] = {
      WINHTTP_CALLBACK_STATUS_FLAG_CERT_CN_INVALID, WINHTTP_CALLBACK_STATUS_FLAG_CERT_DATE_INVALID,
      WINHTTP_CALLBACK_STATUS_FLAG_INVALID_CA, WINHTTP_CALLBACK_STATUS_FLAG_CERT_REVOKED,
      WINHTTP_CALLBACK_STATUS_FLAG_SECURITY_CHANNEL_ERROR};
  for (const DWORD flags : kFlags) {
    refused_for = flags;
    printf("certificate %lx %d\n", flags,
           static_cast<int>(transport.Exchange(request).certificate));
  }
  return 0;
}
