// What a server asks of its own process and threads, and Node.js does not offer.
#include "native.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
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

// mapFile(path, bytes: 1…16 MiB) → ArrayBuffer over a new file that nobody else may read: what is written into it is in
// the file at once and stays there when the process is killed. The blocks are taken before it is mapped, because a
// store into a file for which the disk has no room ends the process. For file systems in memory: on others a store may
// wait for the disk. Throws an Error with `code` where there is such a file, no room, or no such system.
Napi::Value MapFile(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  constexpr double most = 16 * 1024 * 1024;
  const double wanted = info.Length() > 1 && info[1].IsNumber() ? info[1].As<Napi::Number>().DoubleValue() : 0;
  if (info.Length() < 2 || !info[0].IsString() || !(wanted >= 1 && wanted <= most) ||
      wanted != static_cast<size_t>(wanted))
    failType(env, "mapFile(path: string, bytes: a whole number from 1 to 16777216)");
  const std::string path = info[0].As<Napi::String>();
  const size_t bytes = static_cast<size_t>(wanted);
  int problem = ENOTSUP;
  void* memory = MAP_FAILED;
#if defined(__linux__)
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0) {
    problem = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
    if (problem == 0) memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (problem == 0 && memory == MAP_FAILED) problem = errno;
    close(fd);
    if (memory == MAP_FAILED) unlink(path.c_str());
  } else {
    problem = errno;
  }
#endif
  if (memory == MAP_FAILED) {
    Napi::Error error = Napi::Error::New(env, "cannot map " + path + ": " + std::strerror(problem));
    error.Set("code", Napi::String::New(env, problem == EEXIST   ? "EEXIST"
                                             : problem == ENOENT ? "ENOENT"
                                             : problem == ENOSPC ? "ENOSPC"
                                                                 : "EMAP"));
    throw error;
  }
  return Napi::ArrayBuffer::New(env, memory, bytes, [bytes](Napi::Env, void* data) { munmap(data, bytes); });
}

}  // namespace

void InitProcess(Napi::Env env, Napi::Object exports) {
  exports.Set("exitNow", Napi::Function::New(env, ExitNow, "exitNow"));
  exports.Set("yieldToOthers", Napi::Function::New(env, YieldToOthers, "yieldToOthers"));
  exports.Set("mapFile", Napi::Function::New(env, MapFile, "mapFile"));
  exports.Set("trimHeap", Napi::Function::New(env, TrimHeap, "trimHeap"));
}

}  // namespace gatehouse
