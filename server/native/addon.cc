// The border to JavaScript: the only file that uses Node-API.
//
// It exports `writeAt` and `mapFile`, with which the journal writes, `openListener`, and two classes.
// `NativeFront`, whose methods native.ts calls: records cross in two
// ArrayBuffers that JavaScript owns and this object keeps referenced. One call of `deliver(bytes)`
// a pass announces the inbound records. Answers are in the outbound buffer when send() is called,
// with a word 0 after the last. (deliver() calls send() before it returns, since the tasks that run
// after it would overwrite its answers.)
// `Ring`, whose methods frame_ring.ts calls, is one end of a link to another process:
// `receive(bytes)` announces what has arrived in its inbound buffer.
#include <fcntl.h>
#include <napi.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "io/native_front.h"
#include "mapped_file.h"
#include "node_wait.h"
#include "ring/ring_link.h"
#include "ring_set.h"

namespace sprites {
namespace {

struct Environment {
  NodeWait::Siblings waits;
  std::shared_ptr<RingSet> rings;
};

uint32_t Number(const Napi::Object& object, const char* name) {
  return object.Get(name).ToNumber().Uint32Value();
}

Napi::Error SystemError(Napi::Env env, const char* call, int error) {
  const std::string code = uv_err_name(-error);
  Napi::Error thrown =
      Napi::Error::New(env, std::string(call) + " " + code + ": " + uv_strerror(-error));
  thrown.Set("code", Napi::String::New(env, code));
  thrown.Set("syscall", Napi::String::New(env, call));
  thrown.Set("errno", Napi::Number::New(env, -error));
  return thrown;
}

// Calls JavaScript as a separate task. An exception is an uncaught exception, as in any other
// callback. This uses plain Node-API: while a worker thread is being terminated, every call may
// fail, which is a fatal error to the C++ wrapper.
void CallJavaScript(napi_env env, napi_async_context context, napi_value receiver,
                    const Napi::FunctionReference& function, size_t count,
                    const napi_value* values) {
  if (napi_make_callback(env, context, receiver, function.Value(), count, values, nullptr) ==
      napi_ok) {
    return;
  }
  bool is_pending = false;
  napi_value thrown = nullptr;
  if (napi_is_exception_pending(env, &is_pending) == napi_ok && is_pending &&
      napi_get_and_clear_last_exception(env, &thrown) == napi_ok) {
    napi_fatal_exception(env, thrown);
  }
}

class FrontObject : public Napi::ObjectWrap<FrontObject> {
 public:
  static Napi::Function Define(Napi::Env env) {
    return DefineClass(env, "NativeFront",
                       {InstanceMethod("listen", &FrontObject::Listen),
                        InstanceMethod("setOutbound", &FrontObject::SetOutbound),
                        InstanceMethod("send", &FrontObject::Send),
                        InstanceMethod("released", &FrontObject::Released),
                        InstanceMethod("gauges", &FrontObject::Gauges),
                        InstanceMethod("drain", &FrontObject::Drain),
                        InstanceMethod("close", &FrontObject::Close)});
  }

  explicit FrontObject(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<FrontObject>(info), context_(info.Env(), "SpritesFront") {
    const Napi::Object options = info[0].As<Napi::Object>();
    FrontOptions front_options;
    front_options.threads = std::min(Number(options, "threads"), kThreadsMax);
    const Napi::Array listeners = options.Get("listeners").As<Napi::Array>();
    for (uint32_t i = 0; i < listeners.Length(); ++i) {
      const Napi::Object from = listeners.Get(i).As<Napi::Object>();
      ListenerOptions listener;
      listener.host = from.Get("host").ToString().Utf8Value();
      listener.port = static_cast<uint16_t>(Number(from, "port"));
      listener.shared = from.Get("shared").ToBoolean();
      listener.descriptor = from.Get("descriptor").ToNumber().Int32Value();
      listener.route = from.Get("routes").ToString().Utf8Value() == "events" ? Route::kEvents
                                                                             : Route::kCrossings;
      listener.hands_over = from.Get("handsOver").ToBoolean();
      front_options.listeners.push_back(std::move(listener));
    }
    auto shared = std::make_unique<SharedState>();
    shared->connections_max = Number(options, "connectionsMax");
    shared->connections_per_address_max = Number(options, "connectionsPerAddressMax");
    shared->buffer_bytes_max = Number(options, "bufferBytesMax") / (front_options.threads + 1);
    shared->timeouts = {Number(options, "requestMs"), Number(options, "idleMs"),
                        Number(options, "writeMs"), Number(options, "lingerMs")};
    const Napi::Array problems = options.Get("problems").As<Napi::Array>();
    for (uint32_t i = 0; i < shared->problems.size(); ++i) {
      const Napi::Object from = problems.Get(i).As<Napi::Object>();
      shared->problems[i] = {Number(from, "status"), Number(from, "retryAfterSeconds"),
                             from.Get("body").ToString().Utf8Value()};
    }
    Napi::ArrayBuffer inbound = options.Get("inbound").As<Napi::ArrayBuffer>();
    inbound_ = Napi::Persistent(inbound.As<Napi::Object>());
    deliver_ = Napi::Persistent(options.Get("deliver").As<Napi::Function>());
    front_ = std::make_unique<NativeFront>(
        std::move(front_options), std::move(shared), static_cast<uint8_t*>(inbound.Data()),
        static_cast<uint32_t>(inbound.ByteLength()), [this](uint32_t bytes) { Deliver(bytes); });
  }

 private:
  Napi::Value Listen(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    std::vector<uint16_t> ports;
    if (const int error = front_->Listen(&ports); error != 0) {
      front_ = nullptr;
      SystemError(env, "listen", error).ThrowAsJavaScriptException();
      return env.Undefined();
    }
    uv_loop_t* loop = nullptr;
    napi_get_uv_event_loop(env, &loop);
    Environment* const environment = env.GetInstanceData<Environment>();
    wait_ = std::make_unique<NodeWait>(loop, front_.get(), &environment->waits,
                                       environment->rings.get());
    Ref();  // until Ended()
    if (const int error = wait_->Start(); error != 0) {
      // libuv holds the handles until they are closed, so `wait_` must live until then.
      front_->Stop();
      front_->Join();
      wait_->End([this] { Ended(); });
      SystemError(env, "poll", -error).ThrowAsJavaScriptException();
      return env.Undefined();
    }
    napi_add_async_cleanup_hook(env, OnCleanup, this, &cleanup_);
    const Napi::Array result = Napi::Array::New(env, ports.size());
    for (uint32_t i = 0; i < ports.size(); ++i) {
      result.Set(i, ports[i]);
    }
    return result;
  }

  void SetOutbound(const Napi::CallbackInfo& info) {
    Napi::ArrayBuffer outbound = info[0].As<Napi::ArrayBuffer>();
    outbound_ = Napi::Persistent(outbound.As<Napi::Object>());
    outbound_memory_ = static_cast<uint8_t*>(outbound.Data());
    outbound_bytes_ = static_cast<uint32_t>(outbound.ByteLength());
  }

  void Send(const Napi::CallbackInfo& /*info*/) {
    if (!front_) {
      return;
    }
    front_->Send(outbound_memory_, outbound_bytes_);
    if (wait_) {
      wait_->SchedulePass();
    }
  }

  // released(blockLow, blockHigh): the numbers are those of the record that handed the connection
  // over.
  void Released(const Napi::CallbackInfo& info) {
    if (front_) {
      const uint64_t low = info[0].ToNumber().Uint32Value();
      const uint64_t high = info[1].ToNumber().Uint32Value();
      front_->Released(high << 32 | low);
    }
  }

  Napi::Value Gauges(const Napi::CallbackInfo& info) {
    const FrontGauges gauges = front_ ? front_->Gauges() : FrontGauges{};
    const Napi::Object result = Napi::Object::New(info.Env());
    result.Set("connections", gauges.connections);
    result.Set("waiting", gauges.waiting);
    result.Set("refused", gauges.refused);
    result.Set("stalled", gauges.stalled);
    return result;
  }

  void Drain(const Napi::CallbackInfo& /*info*/) {
    if (front_) {
      front_->Drain();
    }
  }

  // close(callback): closes everything at once and calls back when the threads have ended.
  void Close(const Napi::CallbackInfo& info) {
    closed_ = Napi::Persistent(info[0].As<Napi::Function>());
    if (!wait_) {
      front_ = nullptr;
      CallClosed();
      return;
    }
    front_->Stop();
    wait_->End([this] { Ended(); });
  }

  // The environment ends (a worker thread stops): JavaScript must not be called any more.
  static void OnCleanup(napi_async_cleanup_hook_handle /*handle*/, void* object) {
    FrontObject* const self = static_cast<FrontObject*>(object);
    self->is_environment_ending_ = true;
    self->front_->Stop();
    self->front_->Join();
    self->wait_->End([self] { self->Ended(); });
  }

  void Ended() {
    wait_ = nullptr;
    front_ = nullptr;
    inbound_.Reset();
    outbound_.Reset();
    if (!is_environment_ending_ && !closed_.IsEmpty()) {
      CallClosed();
    }
    const napi_async_cleanup_hook_handle cleanup = std::exchange(cleanup_, nullptr);
    if (!is_environment_ending_) {
      Unref();
    }
    if (cleanup != nullptr) {
      napi_remove_async_cleanup_hook(cleanup);
    }
  }

  void CallClosed() {
    const Napi::HandleScope scope(Env());
    const Napi::FunctionReference closed = std::move(closed_);
    Call(closed, 0, nullptr);
  }

  void Deliver(uint32_t bytes) {
    if (is_environment_ending_) {
      return;
    }
    const Napi::HandleScope scope(Env());
    napi_value count = nullptr;
    if (napi_create_uint32(Env(), bytes, &count) != napi_ok) {
      return;
    }
    Call(deliver_, 1, &count);
  }

  void Call(const Napi::FunctionReference& function, size_t count, const napi_value* values) {
    CallJavaScript(Env(), context_, Value(), function, count, values);
  }

  std::unique_ptr<NativeFront> front_;
  std::unique_ptr<NodeWait> wait_;
  Napi::AsyncContext context_;
  Napi::ObjectReference inbound_;
  Napi::ObjectReference outbound_;
  Napi::FunctionReference deliver_;
  Napi::FunctionReference closed_;
  uint8_t* outbound_memory_ = nullptr;
  uint32_t outbound_bytes_ = 0;
  napi_async_cleanup_hook_handle cleanup_ = nullptr;
  bool is_environment_ending_ = false;
};

class RingObject : public Napi::ObjectWrap<RingObject>, private RingEnd {
 public:
  static Napi::Function Define(Napi::Env env) {
    return DefineClass(
        env, "Ring",
        {InstanceMethod("write", &RingObject::Write), InstanceMethod("close", &RingObject::Close),
         InstanceAccessor("descriptors", &RingObject::Descriptors, nullptr),
         InstanceMethod("passedOn", &RingObject::PassedOn)});
  }

  // new Ring({inbound, receive(bytes), room(), broken(), descriptors?}): the end of the process
  // that makes the link; with the descriptors that the other process was given, its end. Throws the
  // system's error.
  explicit RingObject(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<RingObject>(info),
        context_(info.Env(), "SpritesRing"),
        rings_(info.Env().GetInstanceData<Environment>()->rings) {
    const Napi::Object options = info[0].As<Napi::Object>();
    Napi::ArrayBuffer inbound = options.Get("inbound").As<Napi::ArrayBuffer>();
    inbound_ = Napi::Persistent(inbound.As<Napi::Object>());
    inbound_memory_ = static_cast<uint8_t*>(inbound.Data());
    inbound_bytes_ = static_cast<uint32_t>(inbound.ByteLength());
    receive_ = Napi::Persistent(options.Get("receive").As<Napi::Function>());
    room_ = Napi::Persistent(options.Get("room").As<Napi::Function>());
    broken_ = Napi::Persistent(options.Get("broken").As<Napi::Function>());
    const Napi::Value given = options.Get("descriptors");
    const int error = given.IsArray() ? OpenLink(given.As<Napi::Array>()) : MakeLink();
    if (error != 0) {
      SystemError(info.Env(), "ring", error).ThrowAsJavaScriptException();
      return;
    }
    rings_->Add(this);
  }

  ~RingObject() override { End(); }

 private:
  // Each returns 0 or an errno.
  int MakeLink() {
    if (const int error = rings_->Open(); error != 0) {
      return error;
    }
    peer_doorbell_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (peer_doorbell_ < 0) {
      return errno;
    }
    link_ = RingLink::Make(peer_doorbell_, &memory_);
    if (link_) {
      return 0;
    }
    const int error = errno;
    close(peer_doorbell_);
    return error;
  }

  // Owns the descriptors from now on, and closes them if there is no link.
  int OpenLink(const Napi::Array& descriptors) {
    const auto at = [&](uint32_t i) { return descriptors.Get(i).ToNumber().Int32Value(); };
    const int memory = at(0);
    const int own_doorbell = at(1);
    const int peer_doorbell = at(2);
    link_ = RingLink::Open(peer_doorbell, memory);
    const int error = link_ ? 0 : errno;
    close(memory);
    if (error != 0) {
      close(own_doorbell);
      close(peer_doorbell);
      return error;
    }
    for (const int descriptor : {own_doorbell, peer_doorbell}) {
      fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    }
    return rings_->Open(own_doorbell);
  }

  // write(bytes, from): how many of the bytes, from `from` on, there was room for.
  Napi::Value Write(const Napi::CallbackInfo& info) {
    const Napi::Uint8Array bytes = info[0].As<Napi::Uint8Array>();
    const uint32_t from = info[1].As<Napi::Number>().Uint32Value();
    const size_t size = bytes.ByteLength();
    const uint32_t written =
        link_ && from < size ? link_->Write(bytes.Data() + from, static_cast<uint32_t>(size) - from)
                             : 0;
    return Napi::Number::New(info.Env(), written);
  }

  // The descriptors for the other process: the memory, its doorbell, the doorbell of this process.
  Napi::Value Descriptors(const Napi::CallbackInfo& info) {
    const Napi::Array descriptors = Napi::Array::New(info.Env(), 3);
    descriptors.Set(0u, memory_);
    descriptors.Set(1u, peer_doorbell_);
    descriptors.Set(2u, rings_->doorbell());
    return descriptors;
  }

  // The other process has the descriptors: this one needs that of the memory no longer.
  void PassedOn(const Napi::CallbackInfo& /*info*/) { CloseMemory(); }

  void Close(const Napi::CallbackInfo& /*info*/) { End(); }

  void End() {
    rings_->Remove(this);
    link_ = nullptr;
    CloseMemory();
  }

  void CloseMemory() {
    if (memory_ >= 0) {
      close(std::exchange(memory_, -1));
    }
  }

  bool Sleep() override { return !link_ || link_->Sleep(); }

  void Receive() override {
    if (link_ && link_->HasRoomAgain()) {
      Call(room_, 0);
    }
    if (!link_) {
      return;
    }
    const uint32_t bytes = link_->Read(inbound_memory_, inbound_bytes_);
    if (link_->is_broken()) {
      End();
      Call(broken_, 0);
    } else if (bytes > 0) {
      Call(receive_, bytes);
    }
  }

  void Call(const Napi::FunctionReference& function, uint32_t bytes) {
    const Napi::HandleScope scope(Env());
    napi_value count = nullptr;
    if (napi_create_uint32(Env(), bytes, &count) == napi_ok) {
      CallJavaScript(Env(), context_, Value(), function, 1, &count);
    }
  }

  Napi::AsyncContext context_;
  const std::shared_ptr<RingSet> rings_;
  std::unique_ptr<RingLink> link_;
  int memory_ = -1;
  int peer_doorbell_ = -1;  // the link owns it
  Napi::ObjectReference inbound_;
  Napi::FunctionReference receive_;
  Napi::FunctionReference room_;
  Napi::FunctionReference broken_;
  uint8_t* inbound_memory_ = nullptr;
  uint32_t inbound_bytes_ = 0;
};

// writeAt(descriptor, bytes, length, at): writes bytes[0, length) to a file at an offset. Returns
// how many bytes were written, 0 when none could be. The journal calls it once a turn, so it has no
// wrapper: Node's writeSync makes an object for each call.
napi_value WriteAt(napi_env env, napi_callback_info info) {
  napi_value arguments[4] = {};
  size_t count = std::size(arguments);
  int32_t descriptor = -1;
  void* bytes = nullptr;
  size_t size = 0;
  uint32_t length = 0;
  int64_t at = 0;
  ssize_t written = 0;
  if (napi_get_cb_info(env, info, &count, arguments, nullptr, nullptr) == napi_ok &&
      napi_get_value_int32(env, arguments[0], &descriptor) == napi_ok &&
      napi_get_buffer_info(env, arguments[1], &bytes, &size) == napi_ok &&
      napi_get_value_uint32(env, arguments[2], &length) == napi_ok &&
      napi_get_value_int64(env, arguments[3], &at) == napi_ok && length <= size) {
    written = std::max<ssize_t>(0, pwrite(descriptor, bytes, length, at));
  }
  napi_value result = nullptr;
  napi_create_uint32(env, static_cast<uint32_t>(written), &result);
  return result;
}

// mapFile(descriptor, bytes): the first bytes of a file as a Buffer. What is stored in it is in the
// file at once. Throws the system's error.
Napi::Value MapFile(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  std::unique_ptr<MappedFile> mapped =
      MappedFile::Map(info[0].ToNumber().Int32Value(), info[1].ToNumber().Uint32Value());
  if (!mapped) {
    SystemError(env, "mmap", errno).ThrowAsJavaScriptException();
    return env.Undefined();
  }
  MappedFile* const file = mapped.release();
  return Napi::Buffer<uint8_t>::New(
      env, file->data(), file->size(), [](Napi::Env, uint8_t*, MappedFile* gone) { delete gone; },
      file);
}

// openListener(host, port): the descriptor of a socket that listens there, beside others that share
// the port. Clients that connect wait until a front has it. Throws the system's error.
Napi::Value OpenListenerAt(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  ListenerOptions options;
  options.host = info[0].ToString().Utf8Value();
  options.port = static_cast<uint16_t>(info[1].ToNumber().Uint32Value());
  const int descriptor = OpenListener(options, true);
  if (descriptor < 0) {
    SystemError(env, "listen", -descriptor).ThrowAsJavaScriptException();
    return env.Undefined();
  }
  return Napi::Number::New(env, descriptor);
}

Napi::Object Initialize(Napi::Env env, Napi::Object exports) {
  uv_loop_t* loop = nullptr;
  napi_get_uv_event_loop(env, &loop);
  env.SetInstanceData(new Environment{{}, std::make_shared<RingSet>(loop)});
  exports.Set("NativeFront", FrontObject::Define(env));
  exports.Set("Ring", RingObject::Define(env));
  napi_value write_at = nullptr;
  napi_create_function(env, "writeAt", NAPI_AUTO_LENGTH, WriteAt, nullptr, &write_at);
  exports.Set("writeAt", write_at);
  exports.Set("mapFile", Napi::Function::New(env, MapFile));
  exports.Set("openListener", Napi::Function::New(env, OpenListenerAt));
  // The layout of records, which native.ts compares with its own.
  exports.Set("inboundHeadBytes", kInboundHeadBytes);
  exports.Set("outboundHeadBytes", kOutboundHeadBytes);
  exports.Set("threadsMax", kThreadsMax);
  exports.Set("libuv", std::to_string(UV_VERSION_MAJOR) + "." + std::to_string(UV_VERSION_MINOR));
  exports.Set("problems", static_cast<uint32_t>(Problem::kCount));
  return exports;
}

}  // namespace

NODE_API_MODULE(front, Initialize)

}  // namespace sprites
