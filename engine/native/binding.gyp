{
  'targets': [
    {
      'target_name': 'gatehouse_native',
      'sources': ['binding.cc', 'databases.cc', 'scanner.cc', 'process.cc', 'sockets.cc', 'libinjection.cc'],
      'include_dirs': ["<!@(node -p \"require('node-addon-api').include\")"],
      'cflags': ['<!@(pkg-config --cflags libhs)', '-O2', '-Wall', '-Wextra'],
      'cflags!': ['-fno-exceptions'],
      'cflags_cc': ['-std=c++17'],
      'cflags_cc!': ['-fno-exceptions', '-fno-rtti', '-std=gnu++17'],
      'defines': ['NAPI_VERSION=8', 'NAPI_CPP_EXCEPTIONS', 'NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS'],
      'libraries': ['<!@(pkg-config --libs libhs)', '-ldl'],
    },
  ],
}
