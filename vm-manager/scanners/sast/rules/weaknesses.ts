// Rules about calls and settings that are wrong by themselves.
import type { Rule } from '../../contract.js';

type Row = readonly [
  id: string,
  severity: Rule['severity'],
  cwes: readonly number[],
  title: string,
  why: string,
  fix: string,
];

const rows: readonly Row[] = [
  [
    'weak-hash',
    'medium',
    [328, 327],
    'Broken hash function',
    'MD2, MD4, MD5 and SHA-1 are broken: two texts with the same hash can be made. Signatures, ' +
      'tokens and fingerprints that rest on them can be forged.',
    'Use SHA-256 or better; for passwords a slow function with a salt (Argon2id, scrypt, bcrypt). ' +
      'Where it is no matter of security say so (usedforsecurity=False in Python) or set the finding ' +
      'aside.',
  ],
  [
    'weak-password-hash',
    'high',
    [916, 327],
    'Fast hash of a password',
    'A hash without a work factor is tried billions of times a second. Once a table of passwords is ' +
      'lost, most of them are known within a day.',
    'Use password_hash, Argon2id, scrypt or bcrypt with the work factor that their documentation names today.',
  ],
  [
    'weak-cipher',
    'high',
    [327],
    'Broken cipher or mode',
    'DES, 3DES, RC2, RC4 and Blowfish are too weak, and ECB shows which blocks are equal. Who sees ' +
      'the ciphertext learns what is in it.',
    'Use AES-GCM or ChaCha20-Poly1305 with a fresh nonce for each message.',
  ],
  [
    'weak-key',
    'high',
    [326],
    'Key that is too short',
    'RSA and DSA keys below 2048 bits and curves below 224 bits can be broken with means that can be bought.',
    'Make RSA keys of 3072 bits or more, or use Ed25519, P-256.',
  ],
  [
    'weak-random',
    'medium',
    [330, 338],
    'Random numbers that can be foretold',
    'The generator is made for games and simulations. From a few of its numbers all later ones ' +
      'follow: tokens, passwords and ids made with it can be guessed.',
    'Use the generator of the system: SecureRandom, crypto.randomBytes, secrets, random_bytes, crypto/rand.',
  ],
  [
    'cookie-without-secure',
    'medium',
    [614],
    'Cookie that goes over plain connections',
    'Without Secure the browser sends the cookie over http, too, where anyone on the way reads it.',
    'Set Secure (and SameSite) on every cookie that says who a person is.',
  ],
  [
    'cookie-without-httponly',
    'low',
    [1004],
    'Cookie that scripts can read',
    'Without HttpOnly a script in the page reads the cookie: one hole for scripts then gives the session away.',
    'Set HttpOnly on cookies of sessions.',
  ],
  [
    'tls-not-verified',
    'high',
    [295],
    'Certificates are not verified',
    "The check of the other side's certificate or name is switched off. Anyone on the way can " +
      'answer in its place and read and change what is sent.',
    'Leave the check on. For an authority of your own add its certificate to the trusted ones (ca, ' +
      'verify="file", RootCAs).',
  ],
  [
    'old-tls',
    'medium',
    [327, 326],
    'Version of TLS that is given up',
    'SSL 2 and 3, TLS 1.0 and 1.1 have known attacks, and are switched off by browsers.',
    'Allow TLS 1.2 and 1.3 only.',
  ],
  [
    'ssh-host-not-verified',
    'high',
    [322, 295],
    'Keys of SSH hosts are not verified',
    'Any host is taken for the one that was meant. Who answers in its place gets passwords and commands.',
    'Compare with known hosts (knownhosts.New, RejectPolicy), and add keys by a way that can be trusted.',
  ],
  [
    'jwt-not-verified',
    'high',
    [347],
    'Token whose signature is not verified',
    'The claims of the token are read without proof of who has written them, or "none" is an allowed ' +
      'algorithm. Anyone can make a token that names an administrator.',
    'Verify with a fixed list of algorithms and the key of the issuer before a claim is used.',
  ],
  [
    'csrf-off',
    'medium',
    [352],
    'Protection against forged requests is off',
    'A page of anyone can send requests with the cookies of the person who looks at it.',
    'Leave the protection on; where only tokens in headers are accepted, and no cookie, set the ' +
      'finding aside with this reason.',
  ],
  [
    'debug-on',
    'medium',
    [489],
    'Debugging is on',
    'Error pages show code, variables and settings, and some frameworks run code that is typed into them.',
    'Switch it by the environment, and leave it off by default.',
  ],
  [
    'hardcoded-password',
    'medium',
    [798, 259],
    'Password in the source',
    'Everybody who reads the source, or a copy of it, knows the password, and it cannot be changed ' +
      'without a release.',
    'Read it from the environment or a store of secrets, and change the one that was in the source.',
  ],
  [
    'listens-everywhere',
    'low',
    [605],
    'Service listens on all addresses',
    'The service can be reached from every network that the machine is in.',
    'Bind to the address that is meant, 127.0.0.1 where only this machine asks.',
  ],
  [
    'loose-permissions',
    'medium',
    [732, 276],
    'File or folder that others may write or read',
    'Other users of the machine can read it or change it, and with it what the service does.',
    'Use 0600 for files and 0750 or less for folders.',
  ],
  [
    'predictable-temporary-file',
    'medium',
    [377],
    'Temporary file with a name that is known',
    'Another user can put a link in its place before, and the program writes where the link leads.',
    'Let the system make the name (mkstemp, os.CreateTemp, fs.mkdtemp).',
  ],
  [
    'escaping-off',
    'medium',
    [79, 116],
    'Escaping of templates is off',
    'Text goes into pages as it is: every value that a client sent before can be a script.',
    'Leave automatic escaping on, and mark only constant text as safe.',
  ],
  [
    'plain-protocol',
    'medium',
    [319],
    'Protocol without encryption',
    'Passwords and data go over the network as they are (FTP, Telnet), and can be read and changed on the way.',
    'Use SFTP, SSH, HTTPS.',
  ],
  [
    'unsafe-parser',
    'medium',
    [611, 20],
    'XML parser that resolves entities',
    'The parser resolves entities and document types: a document from outside can read local files ' +
      'or take all memory.',
    'Use defusedxml, or switch entities and document types off.',
  ],
  [
    'unsafe-loader',
    'medium',
    [502],
    'Loader that makes any object',
    'pickle, marshal, shelve and yaml.load make objects of any class out of what they read. Where ' +
      'the bytes come from elsewhere, they run code.',
    'Use yaml.safe_load or JSON; sign what has to be pickled.',
  ],
  [
    'no-timeouts',
    'low',
    [400],
    'Server without time limits',
    'A client that sends one byte a minute keeps its connection for ever; some thousand of them stop the service.',
    'Set ReadHeaderTimeout, ReadTimeout, WriteTimeout and IdleTimeout, or the corresponding limits of the framework.',
  ],
  [
    'folder-exposed',
    'medium',
    [552, 548],
    'The whole disk is served',
    'The file server begins at the root: every file that the process may read can be fetched.',
    'Serve a folder that holds nothing but what is meant to be public.',
  ],
  [
    'unsafe-memory',
    'low',
    [242],
    'Memory without checks',
    'The package unsafe passes by the checks of the language: a mistake reads or writes memory of others.',
    'Use the types of the language; keep what needs it small, and say why.',
  ],
];

export const weaknesses: readonly Rule[] = rows.map(([id, severity, cwes, title, description, remediation]) => ({
  id,
  version: 1,
  title,
  severity,
  cwes,
  description,
  remediation,
}));
