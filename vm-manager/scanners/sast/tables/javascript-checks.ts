// Calls and settings of JavaScript that are wrong by themselves.
import type { Check } from './table.js';

export const javascriptChecks: readonly Check[] = [
  {
    rule: 'weak-hash',
    call: 'crypto.createHash crypto.createHmac',
    arg: 0,
    is: /^(?:md[245]|sha-?1|ripemd160|rsa-md5|rsa-sha1)$/i,
  },
  {
    rule: 'weak-cipher',
    call: 'crypto.createCipheriv crypto.createCipher crypto.createDecipheriv crypto.createDecipher',
    arg: 0,
    is: /^(?:des|rc2|rc4|bf|blowfish|idea|seed)|-ecb$/i,
  },
  { rule: 'weak-cipher', call: 'crypto.createCipher crypto.createDecipher' },
  { rule: 'weak-random', call: 'crypto.pseudoRandomBytes' },
  { rule: 'tls-not-verified', entry: 'rejectUnauthorized strictSSL', is: /^false$/ },
  { rule: 'tls-not-verified', entry: 'NODE_TLS_REJECT_UNAUTHORIZED', is: /^0$/ },
  { rule: 'old-tls', entry: 'secureProtocol', is: /^(?:SSLv[23]|TLSv1(?:_1)?)_/ },
  { rule: 'old-tls', entry: 'minVersion', is: /^(?:SSLv3|TLSv1|TLSv1\.1)$/ },
  { rule: 'jwt-not-verified', call: 'jsonwebtoken.verify jwt.verify', arg: 1, is: /^(?:null|)$/ },
  { rule: 'jwt-not-verified', entry: 'algorithms', is: /^none$/i },
  { rule: 'jwt-not-verified', entry: 'algorithm', is: /^none$/i, within: /jwt|jsonwebtoken|^$/ },
  { rule: 'cookie-without-secure', call: 'res.cookie reply.setCookie', arg: 'secure', is: /^false$/ },
  { rule: 'cookie-without-httponly', call: 'res.cookie reply.setCookie', arg: 'httpOnly', is: /^false$/ },
  { rule: 'weak-key', entry: 'modulusLength', is: /^(?:512|768|1024)$/ },
  { rule: 'escaping-off', entry: 'autoescape', is: /^false$/ },
  {
    rule: 'hardcoded-password',
    call: 'jsonwebtoken.sign jwt.sign jsonwebtoken.verify jwt.verify',
    arg: 1,
    is: /^[\x21-\x7e]{4,60}$/,
    isConstant: true,
  },
];
