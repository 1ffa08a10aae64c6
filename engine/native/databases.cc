// The native half of the many-pattern matcher: Hyperscan in block mode, as thin as it can be.
//
// Everything that decides anything (headers of serialised databases, flags, error classes) is in hyperscan.ts; this file
// owns memory and validates every argument, because a wrong offset here would be a memory error instead of an exception.
//
// Threads: databases are immutable and shared by all environments (worker threads) of the process, counted by
// shared_ptr; the registry holds weak references only, so the last handle frees the memory. A scanner (scratch and the
// table of seen pattern ids) belongs to one environment and is never touched by another. There is no other global
// state, so any environment may come and go; the registry is leaked on purpose because a worker may still run while the
// process's static destructors do.
#include <napi.h>

#include <hs.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <unistd.h>
#if defined(__linux__)
#include <sys/resource.h>
#include <sys/syscall.h>
#endif

#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

Napi::Object InitLibinjection(Napi::Env env, Napi::Object exports);

namespace {

constexpr uint32_t kPatternIdLimit = 65536;
constexpr napi_type_tag kDatabaseTag = {0x6761746568647362ULL, 0x9d1c5b8e3f2a4701ULL};
constexpr napi_type_tag kScannerTag = {0x67617465687363ULL, 0x41b7e6d20c9f5a33ULL};

struct SharedDatabase {
  hs_database_t* database = nullptr;
  size_t bytes = 0;
  ~SharedDatabase() {
    if (database != nullptr) hs_free_database(database);
  }
};

struct Registry {
  std::mutex mutex;
  std::unordered_map<std::string, std::weak_ptr<SharedDatabase>> loaded;
};

Registry& registry() {
  static Registry* instance = new Registry();
  return *instance;
}

struct DatabaseHandle {
  std::shared_ptr<SharedDatabase> shared;
};

struct ScannerHandle {
  std::vector<std::shared_ptr<SharedDatabase>> databases;
  hs_scratch_t* scratch = nullptr;
  // seen[id] == stamp: pattern id was already reported for the current job.
  std::unique_ptr<uint32_t[]> seen;
  uint32_t stamp = 0;
  bool busy = false;

  void release() {
    if (scratch != nullptr) hs_free_scratch(scratch);
    scratch = nullptr;
    databases.clear();
    seen.reset();
  }
  ~ScannerHandle() { release(); }
};

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

[[noreturn]] void fail(Napi::Env env, const std::string& message) { throw Napi::Error::New(env, message); }
[[noreturn]] void failType(Napi::Env env, const std::string& message) { throw Napi::TypeError::New(env, message); }

bool isTypedArray(const Napi::Value& value, napi_typedarray_type type) {
  return value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == type;
}

template <typename Handle>
Handle* unwrapTagged(Napi::Env env, const Napi::Value& value, const napi_type_tag& tag, const char* what) {
  bool tagged = false;
  if (!value.IsExternal() || napi_check_object_type_tag(env, value, &tag, &tagged) != napi_ok || !tagged) {
    napi_value pending;
    bool isPending = false;
    if (napi_is_exception_pending(env, &isPending) == napi_ok && isPending) napi_get_and_clear_last_exception(env, &pending);
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
  if (info.Length() < 1 || !isTypedArray(info[0], napi_uint8_array)) failType(env, "checksum(bytes): bytes must be a Uint8Array");
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
  return Napi::String::New(info.Env(), "tune" + std::to_string(platform.tune) + "-features" + std::to_string(platform.cpu_features));
}

std::vector<std::string> readPatterns(Napi::Env env, const Napi::Array& array) {
  std::vector<std::string> sources;
  sources.reserve(array.Length());
  for (uint32_t index = 0; index < array.Length(); index++) {
    Napi::Value element = array.Get(index);
    if (!element.IsString()) failType(env, "compile: pattern " + std::to_string(index) + " is not a string");
    size_t length = 0;
    if (napi_get_value_string_latin1(env, element, nullptr, 0, &length) != napi_ok) fail(env, "compile: unreadable pattern");
    std::string source(length + 1, '\0');
    if (napi_get_value_string_latin1(env, element, &source[0], length + 1, &length) != napi_ok) fail(env, "compile: unreadable pattern");
    source.resize(length);
    if (source.find('\0') != std::string::npos) failType(env, "compile: pattern " + std::to_string(index) + " holds a raw NUL byte; write \\x00");
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
  if (info.Length() < 3 || !info[0].IsArray() || !isTypedArray(info[1], napi_uint32_array) || !isTypedArray(info[2], napi_uint32_array))
    failType(env, "compile(patterns: string[], flags: Uint32Array, ids: Uint32Array)");
  auto flags = info[1].As<Napi::Uint32Array>();
  auto ids = info[2].As<Napi::Uint32Array>();
  // Copied before the patterns are read: reading an array element may run JavaScript, which may detach these buffers.
  std::vector<unsigned> flagValues(flags.Data(), flags.Data() + flags.ElementLength());
  std::vector<unsigned> idValues(ids.Data(), ids.Data() + ids.ElementLength());
  std::vector<std::string> sources = readPatterns(env, info[0].As<Napi::Array>());
  if (sources.empty()) failType(env, "compile: no patterns");
  if (flagValues.size() != sources.size() || idValues.size() != sources.size()) failType(env, "compile: patterns, flags and ids differ in length");
  std::vector<const char*> pointers;
  for (const std::string& source : sources) pointers.push_back(source.c_str());
  for (unsigned id : idValues)
    if (id >= kPatternIdLimit) failType(env, "compile: pattern id " + std::to_string(id) + " is above 65535");

  hs_database_t* database = nullptr;
  hs_compile_error_t* problem = nullptr;
  hs_error_t code = hs_compile_multi(pointers.data(), flagValues.data(), idValues.data(), static_cast<unsigned>(pointers.size()), HS_MODE_BLOCK, nullptr, &database, &problem);
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

// load(bytes: Uint8Array, key: string) → handle. The key names the bytes; equal keys share one database in the process.
Napi::Value Load(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  if (info.Length() < 2 || !isTypedArray(info[0], napi_uint8_array) || !info[1].IsString()) failType(env, "load(bytes: Uint8Array, key: string)");
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
      for (auto entry = known.loaded.begin(); entry != known.loaded.end();) entry = entry->second.expired() ? known.loaded.erase(entry) : std::next(entry);
      auto shared = std::make_shared<SharedDatabase>();
      code = bytes.ByteLength() == 0 ? HS_INVALID : hs_deserialize_database(reinterpret_cast<const char*>(bytes.Data()), bytes.ByteLength(), &shared->database);
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
  auto* handle = unwrapTagged<DatabaseHandle>(info.Env(), info[0], kDatabaseTag, "databaseBytes(database): not a database handle");
  return Napi::Number::New(info.Env(), handle->shared == nullptr ? 0 : static_cast<double>(handle->shared->bytes));
}

Napi::Value ReleaseDatabase(const Napi::CallbackInfo& info) {
  unwrapTagged<DatabaseHandle>(info.Env(), info[0], kDatabaseTag, "releaseDatabase(database): not a database handle")->shared.reset();
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

// createScanner(handles: Database[]) → handle; one scratch that serves all of them. The scanner keeps its databases alive.
Napi::Value CreateScanner(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  if (info.Length() < 1 || !info[0].IsArray()) failType(env, "createScanner(databases: handle[])");
  auto list = info[0].As<Napi::Array>();
  auto scanner = std::make_unique<ScannerHandle>();
  for (uint32_t index = 0; index < list.Length(); index++) {
    Napi::Value element = list.Get(index);
    auto* handle = unwrapTagged<DatabaseHandle>(env, element, kDatabaseTag, "createScanner: an element is not a database handle");
    if (handle->shared == nullptr) fail(env, "createScanner: database " + std::to_string(index) + " was released");
    scanner->databases.push_back(handle->shared);
    hs_error_t code = hs_alloc_scratch(handle->shared->database, &scanner->scratch);
    if (code != HS_SUCCESS) fail(env, std::string("hs_alloc_scratch: ") + describe(code));
  }
  scanner->seen = std::make_unique<uint32_t[]>(kPatternIdLimit);
  return wrapTagged(env, std::move(scanner), kScannerTag);
}

Napi::Value ReleaseScanner(const Napi::CallbackInfo& info) {
  auto* scanner = unwrapTagged<ScannerHandle>(info.Env(), info[0], kScannerTag, "releaseScanner(scanner): not a scanner handle");
  if (scanner->busy) fail(info.Env(), "releaseScanner: the scanner is scanning");
  scanner->release();
  return info.Env().Undefined();
}

struct ScanContext {
  ScannerHandle* scanner;
  int32_t* hits;
  size_t pairsMax;
  size_t pairs;
  int32_t job;
};

int onMatch(unsigned id, unsigned long long, unsigned long long, unsigned, void* opaque) {
  auto* context = static_cast<ScanContext*>(opaque);
  if (id >= kPatternIdLimit || context->scanner->seen[id] == context->scanner->stamp) return 0;
  context->scanner->seen[id] = context->scanner->stamp;
  if (context->pairs < context->pairsMax) {
    context->hits[context->pairs * 2] = context->job;
    context->hits[context->pairs * 2 + 1] = static_cast<int32_t>(id);
  }
  context->pairs++;
  return 0;
}

struct View {
  void* data = nullptr;
  size_t length = 0;
};

bool readView(napi_env env, napi_value value, napi_typedarray_type wanted, View* view) {
  bool typed = false;
  napi_typedarray_type type;
  if (napi_is_typedarray(env, value, &typed) != napi_ok || !typed) return false;
  if (napi_get_typedarray_info(env, value, &type, &view->length, &view->data, nullptr, nullptr) != napi_ok) return false;
  return type == wanted && (view->data != nullptr || view->length == 0);
}

// Checked before the first byte is scanned, so that a bad job leaves `hits` untouched.
const char* checkJobs(const ScannerHandle* scanner, const int32_t* jobs, int32_t jobCount, size_t dataBytes) {
  for (int32_t job = 0; job < jobCount; job++) {
    const int32_t* triple = jobs + static_cast<size_t>(job) * 3;
    if (triple[0] < 0 || static_cast<size_t>(triple[0]) >= scanner->databases.size()) return "scan: a job names a database that the scanner does not have";
    if (triple[1] < 0 || triple[2] < 0) return "scan: a job has a negative offset or length";
    if (static_cast<uint64_t>(triple[1]) + static_cast<uint64_t>(triple[2]) > dataBytes) return "scan: a job reaches past the end of data";
  }
  return nullptr;
}

// The hot road: plain Node-API, no C++ wrappers, no allocation.
napi_value Scan(napi_env env, napi_callback_info info) {
  napi_value arguments[5];
  size_t count = 5;
  if (napi_get_cb_info(env, info, &count, arguments, nullptr, nullptr) != napi_ok) return nullptr;
  const char* usage = "scan(scanner, data: Uint8Array, jobs: Int32Array, jobCount: number, hits: Int32Array)";
  auto failWith = [env](const char* message) -> napi_value {
    napi_throw_type_error(env, nullptr, message);
    return nullptr;
  };
  if (count < 5) return failWith(usage);
  napi_valuetype type;
  bool tagged = false;
  if (napi_typeof(env, arguments[0], &type) != napi_ok || type != napi_external) return failWith("scan: not a scanner handle");
  if (napi_check_object_type_tag(env, arguments[0], &kScannerTag, &tagged) != napi_ok || !tagged) return failWith("scan: not a scanner handle");
  void* pointer = nullptr;
  if (napi_get_value_external(env, arguments[0], &pointer) != napi_ok) return failWith("scan: not a scanner handle");
  auto* scanner = static_cast<ScannerHandle*>(pointer);
  View data, jobs, hits;
  double jobCountNumber = 0;
  if (!readView(env, arguments[1], napi_uint8_array, &data) || !readView(env, arguments[2], napi_int32_array, &jobs) || !readView(env, arguments[4], napi_int32_array, &hits)) return failWith(usage);
  if (napi_get_value_double(env, arguments[3], &jobCountNumber) != napi_ok) return failWith(usage);
  if (!(jobCountNumber >= 0) || jobCountNumber * 3 > static_cast<double>(jobs.length)) return failWith("scan: jobCount is negative or larger than jobs");
  if (scanner->seen == nullptr) return failWith("scan: the scanner was released");
  if (scanner->busy) return failWith("scan: the scanner is scanning already");
  int32_t jobCount = static_cast<int32_t>(jobCountNumber);
  const int32_t* triples = static_cast<const int32_t*>(jobs.data);
  if (const char* problem = checkJobs(scanner, triples, jobCount, data.length)) return failWith(problem);

  ScanContext context = {scanner, static_cast<int32_t*>(hits.data), hits.length / 2, 0, 0};
  scanner->busy = true;
  hs_error_t code = HS_SUCCESS;
  for (int32_t job = 0; job < jobCount && code == HS_SUCCESS; job++) {
    const int32_t* triple = triples + static_cast<size_t>(job) * 3;
    if (++scanner->stamp == 0) {
      std::memset(scanner->seen.get(), 0, kPatternIdLimit * sizeof(uint32_t));
      scanner->stamp = 1;
    }
    context.job = job;
    const char* start = triple[2] == 0 ? "" : static_cast<const char*>(data.data) + triple[1];
    code = hs_scan(scanner->databases[triple[0]]->database, start, static_cast<unsigned>(triple[2]), 0, scanner->scratch, onMatch, &context);
  }
  scanner->busy = false;
  if (code != HS_SUCCESS) {
    napi_throw_error(env, nullptr, describe(code));
    return nullptr;
  }
  double answer = static_cast<double>(context.pairs);
  if (context.pairs > context.pairsMax) answer = -1 - answer;
  napi_value result = nullptr;
  napi_create_double(env, answer, &result);
  return result;
}

// exitNow(code: 0…255): ends the process at once, without destructors or exit handlers of any thread. For a process whose
// orderly end would abort (threads with open uWebSockets.js sockets); everything worth keeping must be flushed before.
Napi::Value ExitNow(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  double code = info.Length() > 0 && info[0].IsNumber() ? info[0].As<Napi::Number>().DoubleValue() : -1;
  if (!(code >= 0 && code <= 255) || code != static_cast<int>(code)) failType(env, "exitNow(code: a whole number from 0 to 255)");
  _exit(static_cast<int>(code));
}

// trimHeap(): gives free pages of the C heap back to the system, from all threads' arenas. Takes milliseconds, during which
// other threads may wait for memory: for quiet moments after much was freed. Does nothing where the C library cannot.
Napi::Value TrimHeap(const Napi::CallbackInfo& info) {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
  return info.Env().Undefined();
}

// yieldToOthers(nice: 0…19): lowers the priority of the calling thread for the rest of its life. On Linux niceness belongs to
// the thread. Does nothing elsewhere.
Napi::Value YieldToOthers(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  double nice = info.Length() > 0 && info[0].IsNumber() ? info[0].As<Napi::Number>().DoubleValue() : -1;
  if (!(nice >= 0 && nice <= 19) || nice != static_cast<int>(nice)) failType(env, "yieldToOthers(nice: a whole number from 0 to 19)");
#if defined(__linux__)
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), static_cast<int>(nice));
#endif
  return env.Undefined();
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("version", Napi::Function::New(env, Version, "version"));
  exports.Set("platform", Napi::Function::New(env, Platform, "platform"));
  exports.Set("exitNow", Napi::Function::New(env, ExitNow, "exitNow"));
  exports.Set("yieldToOthers", Napi::Function::New(env, YieldToOthers, "yieldToOthers"));
  exports.Set("trimHeap", Napi::Function::New(env, TrimHeap, "trimHeap"));
  exports.Set("checksum", Napi::Function::New(env, Checksum, "checksum"));
  exports.Set("compile", Napi::Function::New(env, Compile, "compile"));
  exports.Set("load", Napi::Function::New(env, Load, "load"));
  exports.Set("databaseBytes", Napi::Function::New(env, DatabaseBytes, "databaseBytes"));
  exports.Set("databaseCount", Napi::Function::New(env, DatabaseCount, "databaseCount"));
  exports.Set("releaseDatabase", Napi::Function::New(env, ReleaseDatabase, "releaseDatabase"));
  exports.Set("createScanner", Napi::Function::New(env, CreateScanner, "createScanner"));
  exports.Set("releaseScanner", Napi::Function::New(env, ReleaseScanner, "releaseScanner"));
  napi_value scan = nullptr;
  if (napi_create_function(env, "scan", NAPI_AUTO_LENGTH, Scan, nullptr, &scan) != napi_ok) fail(env, "could not create scan()");
  exports.Set("scan", Napi::Value(env, scan));
  return InitLibinjection(env, exports);
}

}  // namespace

NODE_API_MODULE(gatehouse_native, Init)
