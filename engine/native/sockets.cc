// Listening sockets that several threads share (Node.js can open them itself since 22.12; before, this does), sockets
// handed to a service manager and taken back, and text written to a connected socket by one call.
#include "native.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace gatehouse {
namespace {

[[noreturn]] void failListening(Napi::Env env, const std::string& where, const char* code, const std::string& reason) {
  Napi::Error error = Napi::Error::New(env, "cannot listen on " + where + ": " + reason);
  error.Set("code", Napi::String::New(env, code));
  throw error;
}

const char* nameOf(int code) {
  switch (code) {
    case EADDRINUSE: return "EADDRINUSE";
    case EACCES: return "EACCES";
    case EADDRNOTAVAIL: return "EADDRNOTAVAIL";
    default: return "ELISTEN";
  }
}

// 0, or the number of what failed.
int beginListening(int fd, const addrinfo& address, int backlog) {
  const int on = 1;
  const int off = 0;
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) return errno;
#if defined(SO_REUSEPORT)
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0) return errno;
#else
  return ENOTSUP;
#endif
  if (address.ai_family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0) return errno;
  if (bind(fd, address.ai_addr, address.ai_addrlen) != 0) return errno;
  return listen(fd, backlog) == 0 ? 0 : errno;
}

// openSharedSocket(host, port: 0…65535, backlog) → number of a listening TCP socket with SO_REUSEPORT, non-blocking,
// closed on exec. The caller owns it. Looks a name up and waits for the answer: for the start of a listener. Throws an
// Error with `code`.
Napi::Value OpenSharedSocket(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  const char* usage = "openSharedSocket(host: string, port: a whole number from 0 to 65535, backlog: above 0)";
  if (info.Length() < 3 || !info[0].IsString() || !info[1].IsNumber() || !info[2].IsNumber()) failType(env, usage);
  const std::string host = info[0].As<Napi::String>();
  const double port = info[1].As<Napi::Number>().DoubleValue();
  const int backlog = info[2].As<Napi::Number>().Int32Value();
  if (!(port >= 0 && port <= 65535) || port != static_cast<int>(port) || backlog <= 0) failType(env, usage);
  const std::string service = std::to_string(static_cast<int>(port));
  const std::string where = host + ":" + service;

  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int problem = getaddrinfo(host.empty() ? nullptr : host.c_str(), service.c_str(), &hints, &found);
  if (problem != 0) failListening(env, where, "ENOTFOUND", gai_strerror(problem));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);

  int code = EADDRNOTAVAIL;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    const int fd = socket(address->ai_family, address->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
      code = errno;
      continue;
    }
    code = beginListening(fd, *address, backlog);
    if (code == 0) return Napi::Number::New(env, fd);
    close(fd);
  }
  failListening(env, where, nameOf(code), std::strerror(code));
}

// duplicateSocket(fd) → another number of the same open socket, closed on exec. The caller owns it. Throws an Error
// with `code`.
Napi::Value DuplicateSocket(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  if (info.Length() < 1 || !info[0].IsNumber()) failType(env, "duplicateSocket(fd: number)");
  const int fd = fcntl(info[0].As<Napi::Number>().Int32Value(), F_DUPFD_CLOEXEC, 0);
  if (fd >= 0) return Napi::Number::New(env, fd);
  Napi::Error error = Napi::Error::New(env, std::string("the socket cannot be duplicated: ") + std::strerror(errno));
  error.Set("code", Napi::String::New(env, errno == EBADF ? "EBADF" : "EMFILE"));
  throw error;
}

// What sd_notify(3) does: one datagram to a socket of the file system, or of the abstract namespace ("@name"), with
// open files beside it (SCM_RIGHTS).
constexpr size_t kHandedMax = 250;  // the kernel takes 253 with one message

// tellServiceManager(path, text, fds: numbers) → whether the datagram was taken. Never waits.
Napi::Value TellServiceManager(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  if (info.Length() < 3 || !info[0].IsString() || !info[1].IsString() || !info[2].IsArray())
    failType(env, "tellServiceManager(path: string, text: string, fds: number[])");
  const std::string path = info[0].As<Napi::String>();
  std::string text = info[1].As<Napi::String>();
  const Napi::Array given = info[2].As<Napi::Array>();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() < 2 || path.size() >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@') ||
      given.Length() > kHandedMax)
    return Napi::Boolean::New(env, false);
  std::memcpy(address.sun_path, path.data(), path.size());
  if (path[0] == '@') address.sun_path[0] = '\0';

  std::vector<int> fds;
  for (uint32_t at = 0; at < given.Length(); at += 1) {
    const Napi::Value fd = given[at];
    if (!fd.IsNumber()) failType(env, "tellServiceManager: fds are numbers");
    fds.push_back(fd.As<Napi::Number>().Int32Value());
  }
  iovec part{text.data(), text.size()};
  msghdr message{};
  message.msg_name = &address;
  message.msg_namelen = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  std::vector<char> control;
  if (!fds.empty()) {
    control.resize(CMSG_SPACE(fds.size() * sizeof(int)));
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(head), fds.data(), fds.size() * sizeof(int));
  }
  int type = SOCK_DGRAM;
#if defined(SOCK_CLOEXEC)
  type |= SOCK_CLOEXEC;
#endif
  const int socketOut = socket(AF_UNIX, type, 0);
  if (socketOut < 0) return Napi::Boolean::New(env, false);
  ssize_t sent = 0;
  do sent = sendmsg(socketOut, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  close(socketOut);
  return Napi::Boolean::New(env, sent == static_cast<ssize_t>(text.size()));
}

// Text up to here is written; longer text is the socket's own to send.
constexpr size_t kSendBytesMax = 32 * 1024;

// sendText(fd, text) → how many bytes the system took at once; 0 = none, whatever the reason. latin1. On plain
// Node-API: this is done for every request and every answer, and copying the text is most of it.
napi_value SendText(napi_env env, napi_callback_info info) {
  static thread_local char bytes[kSendBytesMax + 1];
  size_t count = 2;
  napi_value values[2];
  int32_t fd = -1;
  size_t length = 0;
  if (napi_get_cb_info(env, info, &count, values, nullptr, nullptr) != napi_ok || count < 2 ||
      napi_get_value_int32(env, values[0], &fd) != napi_ok ||
      napi_get_value_string_latin1(env, values[1], bytes, sizeof bytes, &length) != napi_ok) {
    napi_throw_type_error(env, nullptr, "sendText(fd: number, text: string)");
    return nullptr;
  }
  ssize_t taken = 0;
  // A text that fills all there is may have been cut.
  if (fd >= 0 && length > 0 && length < kSendBytesMax) {
    do taken = send(fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (taken < 0 && errno == EINTR);
  }
  napi_value result = nullptr;
  napi_create_uint32(env, taken > 0 ? static_cast<uint32_t>(taken) : 0, &result);
  return result;
}

}  // namespace

void InitSockets(Napi::Env env, Napi::Object exports) {
  exports.Set("openSharedSocket", Napi::Function::New(env, OpenSharedSocket, "openSharedSocket"));
  exports.Set("duplicateSocket", Napi::Function::New(env, DuplicateSocket, "duplicateSocket"));
  exports.Set("tellServiceManager", Napi::Function::New(env, TellServiceManager, "tellServiceManager"));
  define(env, exports, "sendText", SendText);
}

}  // namespace gatehouse
