// Calls and settings of Python that are wrong by themselves.
import type { Check } from './table.js';

const hashes =
  'hashlib.md5 hashlib.sha1 hashlib.md4 Crypto.Hash.MD5.new Crypto.Hash.MD4.new ' +
  'Crypto.Hash.MD2.new Crypto.Hash.SHA.new Cryptodome.Hash.MD5.new Cryptodome.Hash.MD4.new ' +
  'Cryptodome.Hash.MD2.new Cryptodome.Hash.SHA.new cryptography.hazmat.primitives.hashes.MD5 ' +
  'cryptography.hazmat.primitives.hashes.SHA1';

export const pythonChecks: readonly Check[] = [
  { rule: 'weak-hash', call: hashes, unless: { arg: 'usedforsecurity', is: /^false$/i } },
  {
    rule: 'weak-hash',
    call: 'hashlib.new',
    arg: 0,
    is: /^(?:md[245]|sha-?1)$/i,
    unless: { arg: 'usedforsecurity', is: /^false$/i },
  },
  {
    rule: 'weak-hash',
    call: 'hashlib.new',
    arg: 'name',
    is: /^(?:md[245]|sha-?1)$/i,
    unless: { arg: 'usedforsecurity', is: /^false$/i },
  },
  { rule: 'weak-hash', call: 'crypt.crypt', arg: 1, is: /METHOD_(?:CRYPT|MD5|BLOWFISH)$/ },
  { rule: 'weak-hash', call: 'crypt.mksalt', arg: 0, is: /METHOD_(?:CRYPT|MD5|BLOWFISH)$/ },
  {
    rule: 'weak-cipher',
    call:
      'Crypto.Cipher.DES.new Crypto.Cipher.DES3.new Crypto.Cipher.ARC4.new Crypto.Cipher.ARC2.new ' +
      'Crypto.Cipher.Blowfish.new Crypto.Cipher.XOR.new Cryptodome.Cipher.DES.new ' +
      'Cryptodome.Cipher.ARC4.new Cryptodome.Cipher.ARC2.new Cryptodome.Cipher.Blowfish.new ' +
      'Cryptodome.Cipher.XOR.new cryptography.hazmat.primitives.ciphers.algorithms.ARC4 ' +
      'cryptography.hazmat.primitives.ciphers.algorithms.Blowfish ' +
      'cryptography.hazmat.primitives.ciphers.algorithms.IDEA ' +
      'cryptography.hazmat.primitives.ciphers.algorithms.TripleDES ' +
      'cryptography.hazmat.primitives.ciphers.algorithms.CAST5 ' +
      'cryptography.hazmat.primitives.ciphers.algorithms.SEED',
  },
  { rule: 'weak-cipher', call: 'cryptography.hazmat.primitives.ciphers.modes.ECB' },
  { rule: 'weak-cipher', call: 'Crypto.Cipher.AES.new Cryptodome.Cipher.AES.new', arg: 1, is: /MODE_ECB$/ },
  {
    rule: 'weak-random',
    call:
      'random.random random.randint random.randrange random.choice random.choices random.uniform ' +
      'random.triangular random.randbytes random.sample random.getrandbits random.Random random.seed',
  },
  {
    rule: 'weak-key',
    call:
      'Crypto.PublicKey.RSA.generate Crypto.PublicKey.DSA.generate Cryptodome.PublicKey.RSA.generate ' +
      'Cryptodome.PublicKey.DSA.generate',
    arg: 0,
    is: /^(?:512|768|1024)$/,
  },
  { rule: 'weak-key', entry: 'key_size bits', is: /^(?:512|768|1024)$/, within: /rsa|dsa|RSA|DSA/ },
  {
    rule: 'weak-key',
    call: 'cryptography.hazmat.primitives.asymmetric.rsa.generate_private_key',
    arg: 1,
    is: /^(?:512|768|1024)$/,
  },
  {
    rule: 'weak-key',
    call: 'cryptography.hazmat.primitives.asymmetric.dsa.generate_private_key',
    arg: 0,
    is: /^(?:512|768|1024)$/,
  },
  {
    rule: 'weak-key',
    call: 'cryptography.hazmat.primitives.asymmetric.ec.generate_private_key',
    arg: 0,
    is: /SECT163|SECP192|SECT1\d\d/,
  },
  {
    rule: 'tls-not-verified',
    entry: 'verify',
    is: /^(?:false|0)$/i,
    within: /requests|httpx|aiohttp|urllib3|session/i,
  },
  { rule: 'tls-not-verified', entry: 'verify_ssl', is: /^false$/i },
  { rule: 'tls-not-verified', call: 'ssl._create_unverified_context' },
  { rule: 'tls-not-verified', entry: '_create_default_https_context', is: /unverified/ },
  { rule: 'tls-not-verified', entry: 'check_hostname', is: /^false$/i },
  { rule: 'tls-not-verified', entry: 'verify_mode cert_reqs', is: /CERT_NONE$/ },
  {
    rule: 'old-tls',
    entry: 'ssl_version method',
    is: /PROTOCOL_(?:SSLv[23]|TLSv1|TLSv1_1)$|SSLv[23]_METHOD|TLSv1(?:_1)?_METHOD/,
  },
  { rule: 'old-tls', call: 'ssl.wrap_socket', arg: 'ssl_version', isMissing: true },
  {
    rule: 'old-tls',
    call: 'ssl.SSLContext OpenSSL.SSL.Context SSL.Context',
    arg: 0,
    is: /PROTOCOL_(?:SSLv[23]|TLSv1|TLSv1_1)$|SSLv[23]_METHOD|TLSv1(?:_1)?_METHOD/,
  },
  { rule: 'ssh-host-not-verified', call: '*.set_missing_host_key_policy', arg: 0, is: /AutoAddPolicy|WarningPolicy/ },
  { rule: 'jwt-not-verified', call: 'jwt.decode jose.jwt.decode', arg: 'verify', is: /^false$/i },
  { rule: 'jwt-not-verified', entry: 'verify_signature', is: /^false$/i },
  { rule: 'jwt-not-verified', call: 'jwt.decode', arg: 'algorithms', is: /none/i },
  { rule: 'debug-on', call: 'app.run flask.Flask().run *.app.run', arg: 'debug', is: /^true$/i },
  { rule: 'debug-on', entry: 'DEBUG', is: /^true$/i },
  { rule: 'cookie-without-secure', call: '*.set_cookie', arg: 'secure', is: /^false$/i },
  { rule: 'cookie-without-httponly', call: '*.set_cookie', arg: 'httponly', is: /^false$/i },
  { rule: 'escaping-off', call: 'jinja2.Environment', arg: 'autoescape', isMissing: true },
  { rule: 'escaping-off', call: 'jinja2.Environment', arg: 'autoescape', is: /^false$/i },
  { rule: 'unsafe-loader', call: 'yaml.load', args: 1, arg: 'Loader', isMissing: true },
  {
    rule: 'unsafe-loader',
    call: 'yaml.load',
    arg: 'Loader',
    is: /(?:Unsafe|Full|\.)Loader$/,
    unless: { arg: 'Loader', is: /Safe/ },
  },
  { rule: 'unsafe-loader', call: 'yaml.unsafe_load' },
  { rule: 'predictable-temporary-file', call: 'tempfile.mktemp os.tempnam os.tmpnam' },
  {
    rule: 'loose-permissions',
    call: 'os.chmod os.fchmod os.lchmod *.chmod',
    arg: 1,
    is: /^(?:511|438|509|508|493\d|4\d\d\d)$/,
  },
  { rule: 'plain-protocol', call: 'ftplib.FTP telnetlib.Telnet' },
  { rule: 'listens-everywhere', call: '*.bind', arg: 0, is: /^0\.0\.0\.0$/ },
  { rule: 'weak-password-hash', call: 'hashlib.pbkdf2_hmac', arg: 3, is: /^\d{1,4}$/ },
];
