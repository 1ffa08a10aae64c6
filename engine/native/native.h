// What the parts of the native addon share: checked arguments, tagged handles, and the database that scanners use.
//
// Threads: databases are immutable and shared by all environments (worker threads) of the process, counted by
// shared_ptr. Everything else belongs to one environment and is never touched by another.
#ifndef GATEHOUSE_NATIVE_H
#define GATEHOUSE_NATIVE_H

#include <napi.h>

#include <hs.h>

#include <cstdint>
#include <memory>
#include <string>

namespace gatehouse {

constexpr uint32_t kPatternIdLimit = 65536;
constexpr napi_type_tag kDatabaseTag = {0x6761746568647362ULL, 0x9d1c5b8e3f2a4701ULL};

// One compiled database; the last handle or scanner that holds it frees the memory.
struct SharedDatabase {
  hs_database_t* database = nullptr;
  size_t bytes = 0;
  ~SharedDatabase() {
    if (database != nullptr) hs_free_database(database);
  }
};

struct DatabaseHandle {
  std::shared_ptr<SharedDatabase> shared;
};

// What Hyperscan means by an error code.
const char* describe(hs_error_t code);

[[noreturn]] inline void fail(Napi::Env env, const std::string& message) {
  throw Napi::Error::New(env, message);
}

[[noreturn]] inline void failType(Napi::Env env, const std::string& message) {
  throw Napi::TypeError::New(env, message);
}

inline bool isTypedArray(const Napi::Value& value, napi_typedarray_type type) {
  return value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == type;
}

template <typename Handle>
Handle* unwrapTagged(Napi::Env env, const Napi::Value& value, const napi_type_tag& tag, const char* what) {
  bool tagged = false;
  if (!value.IsExternal() || napi_check_object_type_tag(env, value, &tag, &tagged) != napi_ok || !tagged) {
    napi_value pending;
    bool isPending = false;
    if (napi_is_exception_pending(env, &isPending) == napi_ok && isPending)
      napi_get_and_clear_last_exception(env, &pending);
    failType(env, what);
  }
  return value.As<Napi::External<Handle>>().Data();
}

template <typename Handle>
Napi::Value wrapTagged(Napi::Env env, std::unique_ptr<Handle> handle, const napi_type_tag& tag) {
  auto external = Napi::External<Handle>::New(env, handle.get(), [](Napi::Env, Handle* data) { delete data; });
  handle.release();
  if (napi_type_tag_object(env, external, &tag) != napi_ok) fail(env, "could not tag a native handle");
  return external;
}

// A function on plain Node-API, without the C++ wrappers.
inline void define(Napi::Env env, Napi::Object exports, const char* name, napi_callback callback) {
  napi_value function = nullptr;
  if (napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, nullptr, &function) != napi_ok)
    fail(env, "could not create a native function");
  exports.Set(name, Napi::Value(env, function));
}

// Each file of the addon puts its functions into the exports.
void InitDatabases(Napi::Env env, Napi::Object exports);
void InitScanner(Napi::Env env, Napi::Object exports);
void InitProcess(Napi::Env env, Napi::Object exports);
void InitSockets(Napi::Env env, Napi::Object exports);
void InitLibinjection(Napi::Env env, Napi::Object exports);

}  // namespace gatehouse

#endif
