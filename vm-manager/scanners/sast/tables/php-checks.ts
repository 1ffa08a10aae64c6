// Calls and settings of PHP that are wrong by themselves.
import type { Check } from './table.js';

export const phpChecks: readonly Check[] = [
  { rule: 'weak-hash', call: 'md5 sha1 md5_file sha1_file' },
  { rule: 'weak-hash', call: 'hash hash_hmac hash_init', arg: 0, is: /^(?:md[245]|sha1|ripemd128)$/i },
  { rule: 'weak-password-hash', call: 'crypt', arg: 1, is: /^(?:\$1\$|[^$]|$)/, isConstant: true },
  { rule: 'weak-password-hash', call: 'crypt', arg: 1, isMissing: true },
  {
    rule: 'weak-cipher',
    call: 'openssl_encrypt openssl_decrypt',
    arg: 1,
    is: /^(?:des|rc2|rc4|bf|blowfish|seed|cast)|-ecb$/i,
  },
  { rule: 'weak-cipher', call: 'mcrypt_encrypt mcrypt_decrypt', arg: 0, is: /DES|RC2|ARCFOUR|BLOWFISH|^des/i },
  { rule: 'weak-cipher', call: 'mcrypt_encrypt mcrypt_decrypt', arg: 3, is: /ecb/i },
  { rule: 'weak-random', call: 'rand mt_rand lcg_value shuffle array_rand str_shuffle uniqid srand mt_srand' },
  {
    rule: 'tls-not-verified',
    call: 'curl_setopt',
    arg: 2,
    is: /^(?:false|0)$/i,
    and: { arg: 1, is: /CURLOPT_SSL_VERIFY(?:PEER|HOST)/ },
  },
  { rule: 'tls-not-verified', entry: 'verify_peer verify_peer_name', is: /^(?:false|0)$/i },
  { rule: 'tls-not-verified', entry: 'allow_self_signed', is: /^(?:true|1)$/i },
  { rule: 'debug-on', call: 'phpinfo' },
  {
    rule: 'debug-on',
    call: 'ini_set',
    arg: 1,
    is: /^(?:1|true|on)$/i,
    and: { arg: 0, is: /^display_(?:startup_)?errors$/ },
  },
  { rule: 'cookie-without-secure', call: 'setcookie setrawcookie', arg: 5, is: /^(?:false|0)$/i },
  { rule: 'cookie-without-httponly', call: 'setcookie setrawcookie', arg: 6, is: /^(?:false|0)$/i },
  { rule: 'loose-permissions', call: 'chmod mkdir', arg: 1, is: /^511$/ },
  { rule: 'unsafe-parser', call: 'libxml_disable_entity_loader', arg: 0, is: /^false$/i },
  {
    rule: 'hardcoded-password',
    call: 'mysqli_connect mysql_connect new mysqli mysql_pconnect new PDO',
    arg: 2,
    is: /^(?=.*[^\s]).{4,}$/,
    isConstant: true,
  },
];
