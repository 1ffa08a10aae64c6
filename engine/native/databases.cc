// Hyperscan databases of the process: compiled, serialised, loaded once and shared.
//
// Everything that decides anything (headers of serialised databases, flags, error classes) is in hyperscan.ts; this
// file owns memory and validates every argument, because a wrong offset here would be a memory error instead of an
// exception.
//
// The registry holds weak references only, so any environment may come and go. It is leaked on purpose because a worker
// may still run while the process's static destructors do. There is no other global state.
#include "native.h"

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace gatehouse {

const char* describe(hs_error_t code) {
  switch (code) {
    case HS_INVALID: return "invalid argument or damaged data (HS_INVALID)";
    case HS_NOMEM: return "out of memory (HS_NOMEM)";
    case HS_DB_VERSION_ERROR: return "built by another Hyperscan version (HS_DB_VERSION_ERROR)";
    case HS_DB_PLATFORM_ERROR: return "built for another CPU (HS_DB_PLATFORM_ERROR)";
    case HS_DB_MODE_ERROR: return "built for another mode (HS_DB_MODE_ERROR)";
    case HS_BAD_ALIGN: return "bad alignment (HS_BAD_ALIGN)";
    case HS_SCRATCH_IN_USE: return "scratch space in use (HS_SCRATCH_IN_USE)";
    case HS_ARCH_ERROR: return "this CPU lacks SSSE3, which Hyperscan needs (HS_ARCH_ERROR)";
    default: return "unexpected Hyperscan error";
  }
}

namespace {

struct Registry {
  std::mutex mutex;
  std::unordered_map<std::string, std::weak_ptr<SharedDatabase>> loaded;
};

Registry& registry() {
  static Registry* instance = new Registry();
  return *instance;
}

// A 64-bit checksum for damage, not for malice. Every step is a bijection of the state, so a change confined to one
// 8-byte word always changes the sum.
uint64_t checksumOf(const uint8_t* data, size_t length) {
  uint64_t state = 0x9e3779b97f4a7c15ULL ^ (static_cast<uint64_t>(length) * 0xff51afd7ed558ccdULL);
  size_t at = 0;
  for (; at + 8 <= length; at += 8) {
    uint64_t word;
    std::memcpy(&word, data + at, 8);
    state = (state ^ word) * 0xc4ceb9fe1a85ec53ULL;
    state ^= state >> 29;
  }
  uint64_t tail = 0;
  std::memcpy(&tail, data + at, length - at);
  state = (state ^ tail) * 0xc4ceb9fe1a85ec53ULL;
  return state ^ (state >> 32);
}

Napi::Value Checksum(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  if (info.Length() < 1 || !isTypedArray(info[0], napi_uint8_array))
    failType(env, "checksum(bytes): bytes must be a Uint8Array");
  auto bytes = info[0].As<Napi::Uint8Array>();
  return Napi::BigInt::New(env, checksumOf(bytes.Data(), bytes.ByteLength()));
}

Napi::Value Version(const Napi::CallbackInfo& info) { return Napi::String::New(info.Env(), hs_version()); }

// The CPU features that a database compiled here needs, as text: part of the cache key of compiled databases.
Napi::Value Platform(const Napi::CallbackInfo& info) {
  hs_platform_info_t platform;
  std::memset(&platform, 0, sizeof platform);
  hs_error_t code = hs_populate_platform(&platform);
  if (code != HS_SUCCESS) fail(info.Env(), std::string("hs_populate_platform: ") + describe(code));
  const std::string name =
      "tune" + std::to_string(platform.tune) + "-features" + std::to_string(platform.cpu_features);
  return Napi::String::New(info.Env(), name);
}

std::vector<std::string> readPatterns(Napi::Env env, const Napi::Array& array) {
  std::vector<std::string> sources;
  sources.reserve(array.Length());
  for (uint32_t index = 0; index < array.Length(); index++) {
    Napi::Value element = array.Get(index);
    if (!element.IsString()) failType(env, "compile: pattern " + std::to_string(index) + " is not a string");
    size_t length = 0;
    if (napi_get_value_string_latin1(env, element, nullptr, 0, &length) != napi_ok)
      fail(env, "compile: unreadable pattern");
    std::string source(length + 1, '\0');
    if (napi_get_value_string_latin1(env, element, &source[0], length + 1, &length) != napi_ok)
      fail(env, "compile: unreadable pattern");
    source.resize(length);
    if (source.find('\0') != std::string::npos)
      failType(env, "compile: pattern " + std::to_string(index) + " holds a raw NUL byte; write \\x00");
    sources.push_back(std::move(source));
  }
  return sources;
}

[[noreturn]] void failCompile(Napi::Env env, hs_error_t code, hs_compile_error_t* problem) {
  int index = problem != nullptr ? problem->expression : -1;
  std::string message = problem != nullptr && problem->message != nullptr ? problem->message : describe(code);
  if (problem != nullptr) hs_free_compile_error(problem);
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("patternIndex", Napi::Number::New(env, index));
  throw error;
}

// compile(patterns: string[], flags: Uint32Array, ids: Uint32Array) → Uint8Array (hs_serialize_database)
Napi::Value Compile(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  if (info.Length() < 3 || !info[0].IsArray() || !isTypedArray(info[1], napi_uint32_array) ||
      !isTypedArray(info[2], napi_uint32_array))
    failType(env, "compile(patterns: string[], flags: Uint32Array, ids: Uint32Array)");
  auto flags = info[1].As<Napi::Uint32Array>();
  auto ids = info[2].As<Napi::Uint32Array>();
  // Copied before the patterns are read: reading an array element may run JavaScript, which may detach these buffers.
  std::vector<unsigned> flagValues(flags.Data(), flags.Data() + flags.ElementLength());
  std::vector<unsigned> idValues(ids.Data(), ids.Data() + ids.ElementLength());
  std::vector<std::string> sources = readPatterns(env, info[0].As<Napi::Array>());
  if (sources.empty()) failType(env, "compile: no patterns");
  if (flagValues.size() != sources.size() || idValues.size() != sources.size())
    failType(env, "compile: patterns, flags and ids differ in length");
  std::vector<const char*> pointers;
  for (const std::string& source : sources) pointers.push_back(source.c_str());
  for (unsigned id : idValues)
    if (id >= kPatternIdLimit) failType(env, "compile: pattern id " + std::to_string(id) + " is above 65535");

  hs_database_t* database = nullptr;
  hs_compile_error_t* problem = nullptr;
  const auto count = static_cast<unsigned>(pointers.size());
  hs_error_t code = hs_compile_multi(pointers.data(), flagValues.data(), idValues.data(), count, HS_MODE_BLOCK, nullptr,
                                     &database, &problem);
  if (code != HS_SUCCESS) failCompile(env, code, problem);
  SharedDatabase owner;
  owner.database = database;
  char* bytes = nullptr;
  size_t length = 0;
  code = hs_serialize_database(database, &bytes, &length);
  if (code != HS_SUCCESS) fail(env, std::string("hs_serialize_database: ") + describe(code));
  std::unique_ptr<char, decltype(&free)> freeBytes(bytes, &free);
  return Napi::Buffer<uint8_t>::Copy(env, reinterpret_cast<uint8_t*>(bytes), length);
}

// load(bytes: Uint8Array, key: string) → handle. The key names the bytes; equal keys share one database in the
// process.
Napi::Value Load(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  if (info.Length() < 2 || !isTypedArray(info[0], napi_uint8_array) || !info[1].IsString())
    failType(env, "load(bytes: Uint8Array, key: string)");
  auto bytes = info[0].As<Napi::Uint8Array>();
  std::string key = info[1].As<Napi::String>().Utf8Value();
  auto handle = std::make_unique<DatabaseHandle>();
  hs_error_t code = HS_SUCCESS;
  {
    Registry& known = registry();
    std::lock_guard<std::mutex> lock(known.mutex);
    auto found = known.loaded.find(key);
    if (found != known.loaded.end()) handle->shared = found->second.lock();
    if (handle->shared == nullptr) {
      for (auto entry = known.loaded.begin(); entry != known.loaded.end();)
        entry = entry->second.expired() ? known.loaded.erase(entry) : std::next(entry);
      auto shared = std::make_shared<SharedDatabase>();
      const char* serialised = reinterpret_cast<const char*>(bytes.Data());
      code = bytes.ByteLength() == 0
                 ? HS_INVALID
                 : hs_deserialize_database(serialised, bytes.ByteLength(), &shared->database);
      if (code == HS_SUCCESS) code = hs_database_size(shared->database, &shared->bytes);
      if (code == HS_SUCCESS) {
        known.loaded[key] = shared;
        handle->shared = std::move(shared);
      }
    }
  }
  if (code != HS_SUCCESS) fail(env, std::string("the database was refused: ") + describe(code));
  return wrapTagged(env, std::move(handle), kDatabaseTag);
}

Napi::Value DatabaseBytes(const Napi::CallbackInfo& info) {
  const char* what = "databaseBytes(database): not a database handle";
  auto* handle = unwrapTagged<DatabaseHandle>(info.Env(), info[0], kDatabaseTag, what);
  return Napi::Number::New(info.Env(), handle->shared == nullptr ? 0 : static_cast<double>(handle->shared->bytes));
}

Napi::Value ReleaseDatabase(const Napi::CallbackInfo& info) {
  const char* what = "releaseDatabase(database): not a database handle";
  unwrapTagged<DatabaseHandle>(info.Env(), info[0], kDatabaseTag, what)->shared.reset();
  return info.Env().Undefined();
}

// How many databases live in this process: for tests and metrics.
Napi::Value DatabaseCount(const Napi::CallbackInfo& info) {
  Registry& known = registry();
  std::lock_guard<std::mutex> lock(known.mutex);
  uint32_t count = 0;
  for (const auto& entry : known.loaded) count += entry.second.expired() ? 0 : 1;
  return Napi::Number::New(info.Env(), count);
}

}  // namespace

void InitDatabases(Napi::Env env, Napi::Object exports) {
  exports.Set("version", Napi::Function::New(env, Version, "version"));
  exports.Set("platform", Napi::Function::New(env, Platform, "platform"));
  exports.Set("checksum", Napi::Function::New(env, Checksum, "checksum"));
  exports.Set("compile", Napi::Function::New(env, Compile, "compile"));
  exports.Set("load", Napi::Function::New(env, Load, "load"));
  exports.Set("databaseBytes", Napi::Function::New(env, DatabaseBytes, "databaseBytes"));
  exports.Set("databaseCount", Napi::Function::New(env, DatabaseCount, "databaseCount"));
  exports.Set("releaseDatabase", Napi::Function::New(env, ReleaseDatabase, "releaseDatabase"));
}

}  // namespace gatehouse
