// A scanner: the native half of the many-pattern matcher, as thin as it can be. Hyperscan in block mode; a scanner
// (scratch and the table of seen pattern ids) belongs to one environment.
#include "native.h"

#include <cstring>
#include <vector>

namespace gatehouse {
namespace {

constexpr napi_type_tag kScannerTag = {0x67617465687363ULL, 0x41b7e6d20c9f5a33ULL};

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

// createScanner(handles: Database[]) → handle; one scratch that serves all of them. The scanner keeps its databases
// alive.
Napi::Value CreateScanner(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  if (info.Length() < 1 || !info[0].IsArray()) failType(env, "createScanner(databases: handle[])");
  auto list = info[0].As<Napi::Array>();
  auto scanner = std::make_unique<ScannerHandle>();
  for (uint32_t index = 0; index < list.Length(); index++) {
    Napi::Value element = list.Get(index);
    const char* what = "createScanner: an element is not a database handle";
    auto* handle = unwrapTagged<DatabaseHandle>(env, element, kDatabaseTag, what);
    if (handle->shared == nullptr) fail(env, "createScanner: database " + std::to_string(index) + " was released");
    scanner->databases.push_back(handle->shared);
    hs_error_t code = hs_alloc_scratch(handle->shared->database, &scanner->scratch);
    if (code != HS_SUCCESS) fail(env, std::string("hs_alloc_scratch: ") + describe(code));
  }
  scanner->seen = std::make_unique<uint32_t[]>(kPatternIdLimit);
  return wrapTagged(env, std::move(scanner), kScannerTag);
}

Napi::Value ReleaseScanner(const Napi::CallbackInfo& info) {
  const char* what = "releaseScanner(scanner): not a scanner handle";
  auto* scanner = unwrapTagged<ScannerHandle>(info.Env(), info[0], kScannerTag, what);
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
  if (napi_get_typedarray_info(env, value, &type, &view->length, &view->data, nullptr, nullptr) != napi_ok)
    return false;
  return type == wanted && (view->data != nullptr || view->length == 0);
}

// Checked before the first byte is scanned, so that a bad job leaves `hits` untouched.
const char* checkJobs(const ScannerHandle* scanner, const int32_t* jobs, int32_t jobCount, size_t dataBytes) {
  for (int32_t job = 0; job < jobCount; job++) {
    const int32_t* triple = jobs + static_cast<size_t>(job) * 3;
    if (triple[0] < 0 || static_cast<size_t>(triple[0]) >= scanner->databases.size())
      return "scan: a job names a database that the scanner does not have";
    if (triple[1] < 0 || triple[2] < 0) return "scan: a job has a negative offset or length";
    if (static_cast<uint64_t>(triple[1]) + static_cast<uint64_t>(triple[2]) > dataBytes)
      return "scan: a job reaches past the end of data";
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
  const char* noScanner = "scan: not a scanner handle";
  if (napi_typeof(env, arguments[0], &type) != napi_ok || type != napi_external) return failWith(noScanner);
  if (napi_check_object_type_tag(env, arguments[0], &kScannerTag, &tagged) != napi_ok || !tagged)
    return failWith(noScanner);
  void* pointer = nullptr;
  if (napi_get_value_external(env, arguments[0], &pointer) != napi_ok) return failWith(noScanner);
  auto* scanner = static_cast<ScannerHandle*>(pointer);
  View data, jobs, hits;
  double jobCountNumber = 0;
  if (!readView(env, arguments[1], napi_uint8_array, &data) ||
      !readView(env, arguments[2], napi_int32_array, &jobs) ||
      !readView(env, arguments[4], napi_int32_array, &hits))
    return failWith(usage);
  if (napi_get_value_double(env, arguments[3], &jobCountNumber) != napi_ok) return failWith(usage);
  if (!(jobCountNumber >= 0) || jobCountNumber * 3 > static_cast<double>(jobs.length))
    return failWith("scan: jobCount is negative or larger than jobs");
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
    const hs_database_t* database = scanner->databases[triple[0]]->database;
    code = hs_scan(database, start, static_cast<unsigned>(triple[2]), 0, scanner->scratch, onMatch, &context);
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

}  // namespace

void InitScanner(Napi::Env env, Napi::Object exports) {
  exports.Set("createScanner", Napi::Function::New(env, CreateScanner, "createScanner"));
  exports.Set("releaseScanner", Napi::Function::New(env, ReleaseScanner, "releaseScanner"));
  define(env, exports, "scan", Scan);
}

}  // namespace gatehouse
