// What a server asks of its own process and threads, and Node.js does not offer.
#include "native.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <unistd.h>
#if defined(__linux__)
#include <sys/resource.h>
#include <sys/syscall.h>
#endif

namespace gatehouse {
namespace {

// exitNow(code: 0…255): ends the process at once, without destructors or exit handlers of any thread. For a process
// whose orderly end would abort (threads with open uWebSockets.js sockets); everything worth keeping must be flushed
// before.
Napi::Value ExitNow(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  double code = info.Length() > 0 && info[0].IsNumber() ? info[0].As<Napi::Number>().DoubleValue() : -1;
  if (!(code >= 0 && code <= 255) || code != static_cast<int>(code))
    failType(env, "exitNow(code: a whole number from 0 to 255)");
  _exit(static_cast<int>(code));
}

// trimHeap(): gives free pages of the C heap back to the system, from all threads' arenas. Takes milliseconds, during
// which other threads may wait for memory: for quiet moments after much was freed. Does nothing where the C library
// cannot.
Napi::Value TrimHeap(const Napi::CallbackInfo& info) {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
  return info.Env().Undefined();
}

// yieldToOthers(nice: 0…19): lowers the priority of the calling thread for the rest of its life. On Linux niceness
// belongs to the thread. Does nothing elsewhere.
Napi::Value YieldToOthers(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  double nice = info.Length() > 0 && info[0].IsNumber() ? info[0].As<Napi::Number>().DoubleValue() : -1;
  if (!(nice >= 0 && nice <= 19) || nice != static_cast<int>(nice))
    failType(env, "yieldToOthers(nice: a whole number from 0 to 19)");
#if defined(__linux__)
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), static_cast<int>(nice));
#endif
  return env.Undefined();
}

}  // namespace

void InitProcess(Napi::Env env, Napi::Object exports) {
  exports.Set("exitNow", Napi::Function::New(env, ExitNow, "exitNow"));
  exports.Set("yieldToOthers", Napi::Function::New(env, YieldToOthers, "yieldToOthers"));
  exports.Set("trimHeap", Napi::Function::New(env, TrimHeap, "trimHeap"));
}

}  // namespace gatehouse
