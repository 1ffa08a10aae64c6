// Calls and settings of Go that are wrong by themselves.
import type { Check } from './table.js';

export const goChecks: readonly Check[] = [
  { rule: 'weak-hash', call: 'crypto/md5.New crypto/md5.Sum crypto/sha1.New crypto/sha1.Sum' },
  { rule: 'weak-hash', call: 'golang.org/x/crypto/md4.New golang.org/x/crypto/ripemd160.New' },
  { rule: 'weak-cipher', call: 'crypto/des.NewCipher crypto/des.NewTripleDESCipher crypto/rc4.NewCipher' },
  {
    rule: 'weak-random',
    call:
      'math/rand.Int math/rand.Intn math/rand.Int31 math/rand.Int31n math/rand.Int63 math/rand.Int63n ' +
      'math/rand.Read ' +
      'math/rand.Uint32 math/rand.Uint64 math/rand.Float32 math/rand.Float64 math/rand.Perm math/rand.New ' +
      'math/rand.IntN math/rand.N math/rand.Int32N math/rand.Int64N',
  },
  { rule: 'weak-key', call: 'crypto/rsa.GenerateKey', arg: 1, is: /^(?:512|768|1024|1536|20(?:[0-3]\d|4[0-7]))$/ },
  { rule: 'tls-not-verified', entry: 'InsecureSkipVerify', is: /^true$/ },
  { rule: 'old-tls', entry: 'MinVersion', is: /^(?:0|769|770|768)$|Version(?:SSL30|TLS10|TLS11)$/ },
  { rule: 'old-tls', entry: 'MaxVersion', is: /Version(?:SSL30|TLS10|TLS11)$/ },
  { rule: 'ssh-host-not-verified', call: 'golang.org/x/crypto/ssh.InsecureIgnoreHostKey' },
  {
    rule: 'listens-everywhere',
    call: 'net.Listen crypto/tls.Listen',
    arg: 1,
    is: /^(?:0\.0\.0\.0|\[::\])?:\d+$/,
    isConstant: true,
  },
  { rule: 'no-timeouts', call: 'net/http.ListenAndServe net/http.ListenAndServeTLS net/http.Serve net/http.ServeTLS' },
  { rule: 'loose-permissions', call: 'os.Mkdir os.MkdirAll', arg: 1, is: /^(?:48[89]|49\d|50\d|51[01])$/ },
  {
    rule: 'loose-permissions',
    call: 'os.OpenFile os.WriteFile io/ioutil.WriteFile',
    arg: 2,
    is: /^(?:38[5-9]|39\d|4\d\d|50\d|51[01])$/,
  },
  { rule: 'loose-permissions', call: 'os.Chmod', arg: 1, is: /^(?:38[5-9]|39\d|4\d\d|50\d|51[01])$/ },
  {
    rule: 'predictable-temporary-file',
    call: 'os.Create os.WriteFile io/ioutil.WriteFile os.OpenFile',
    arg: 0,
    is: /^(?:\/var)?\/tmp\//,
    isConstant: true,
  },
  { rule: 'folder-exposed', call: 'net/http.Dir', arg: 0, is: /^\/$/ },
  { rule: 'unsafe-memory', call: 'unsafe.Pointer unsafe.String unsafe.StringData unsafe.Slice unsafe.SliceData' },
  { rule: 'cookie-without-secure', entry: 'Secure', is: /^false$/, within: /Cookie/ },
  { rule: 'cookie-without-httponly', entry: 'HttpOnly', is: /^false$/, within: /Cookie/ },
];
