// libinjection as Debian's libmodsecurity.so.3 exports it. Opened at run time, so that a machine without that library
// still has Hyperscan; the functions then throw an error that says which package brings it.
#include "native.h"

#include <dlfcn.h>

#include <cstring>
#include <mutex>
#include <string>
#include <vector>

namespace gatehouse {
namespace {

// From libinjection's public interface (BSD-3-Clause): both return non-zero for "is an attack".
using SqliFunction = int (*)(const char*, size_t, char*);
using XssFunction = int (*)(const char*, size_t);

struct Library {
  SqliFunction sqli = nullptr;
  XssFunction xss = nullptr;
  std::string problem;
};

const Library& library() {
  static const Library* loaded = [] {
    auto* result = new Library();
    void* handle = dlopen("libmodsecurity.so.3", RTLD_LAZY | RTLD_LOCAL);
    if (handle != nullptr) {
      result->sqli = reinterpret_cast<SqliFunction>(dlsym(handle, "libinjection_sqli"));
      result->xss = reinterpret_cast<XssFunction>(dlsym(handle, "libinjection_xss"));
    }
    if (result->sqli == nullptr || result->xss == nullptr) {
      const char* reason = dlerror();
      result->problem =
          std::string("libinjection is missing: install the package libmodsecurity3 (Debian, Ubuntu: "
                      "apt-get install libmodsecurity3); ") +
          (reason != nullptr ? reason : "its functions are not exported");
    }
    return result;
  }();
  return *loaded;
}

// The value's bytes with a NUL behind them: libinjection's tokenizers were written for C strings and this costs
// nothing.
class Bytes {
 public:
  bool read(napi_env env, napi_value value) {
    napi_valuetype type;
    if (napi_typeof(env, value, &type) != napi_ok) return false;
    if (type == napi_string) {
      if (napi_get_value_string_latin1(env, value, small_, sizeof small_, &length_) != napi_ok) return false;
      data_ = small_;
      if (length_ < sizeof small_ - 1) return true;
      if (napi_get_value_string_latin1(env, value, nullptr, 0, &length_) != napi_ok) return false;
      large_.resize(length_ + 1);
      data_ = large_.data();
      return napi_get_value_string_latin1(env, value, large_.data(), large_.size(), &length_) == napi_ok;
    }
    bool typed = false;
    if (napi_is_typedarray(env, value, &typed) != napi_ok || !typed) return false;
    napi_typedarray_type elements;
    void* bytes = nullptr;
    if (napi_get_typedarray_info(env, value, &elements, &length_, &bytes, nullptr, nullptr) != napi_ok ||
        elements != napi_uint8_array)
      return false;
    large_.resize(length_ + 1);
    if (length_ > 0) std::memcpy(large_.data(), bytes, length_);
    large_[length_] = '\0';
    data_ = large_.data();
    return true;
  }
  const char* data() const { return data_; }
  size_t length() const { return length_; }

 private:
  char small_[2048];
  std::vector<char> large_;
  const char* data_ = small_;
  size_t length_ = 0;
};

bool prepare(napi_env env, napi_callback_info info, Bytes* bytes, const char* usage) {
  napi_value argument = nullptr;
  size_t count = 1;
  if (napi_get_cb_info(env, info, &count, &argument, nullptr, nullptr) != napi_ok) return false;
  if (!library().problem.empty()) {
    napi_throw_error(env, "LIBINJECTION_MISSING", library().problem.c_str());
    return false;
  }
  if (count < 1 || !bytes->read(env, argument)) {
    napi_throw_type_error(env, nullptr, usage);
    return false;
  }
  return true;
}

// sqli(value: string | Uint8Array) → fingerprint, '' when it is not SQL injection
napi_value Sqli(napi_env env, napi_callback_info info) {
  Bytes bytes;
  if (!prepare(env, info, &bytes, "sqli(value: latin1 string | Uint8Array)")) return nullptr;
  char fingerprint[16] = {0};
  int found = library().sqli(bytes.data(), bytes.length(), fingerprint);
  napi_value result = nullptr;
  napi_create_string_latin1(env, fingerprint, found != 0 ? strnlen(fingerprint, 8) : 0, &result);
  return result;
}

// xss(value: string | Uint8Array) → boolean
napi_value Xss(napi_env env, napi_callback_info info) {
  Bytes bytes;
  if (!prepare(env, info, &bytes, "xss(value: latin1 string | Uint8Array)")) return nullptr;
  napi_value result = nullptr;
  napi_get_boolean(env, library().xss(bytes.data(), bytes.length()) != 0, &result);
  return result;
}

}  // namespace

void InitLibinjection(Napi::Env env, Napi::Object exports) {
  define(env, exports, "sqli", Sqli);
  define(env, exports, "xss", Xss);
}

}  // namespace gatehouse
