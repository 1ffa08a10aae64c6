// The native addon: Hyperscan (databases.cc, scanner.cc), libinjection (libinjection.cc), and a few calls about the
// process (process.cc) and about sockets (sockets.cc). addon.ts types what is exported here.
#include "native.h"

static Napi::Object Init(Napi::Env env, Napi::Object exports) {
  gatehouse::InitDatabases(env, exports);
  gatehouse::InitScanner(env, exports);
  gatehouse::InitProcess(env, exports);
  gatehouse::InitSockets(env, exports);
  gatehouse::InitLibinjection(env, exports);
  return exports;
}

NODE_API_MODULE(gatehouse_native, Init)
