// For each rule that Go has: a text that breaks it, and a twin that does not.
import type { Case } from './case.js';

const handler = (imports: string, body: string): string => `package main

import (
	"net/http"
${imports
  .split(' ')
  .filter((one) => one !== '')
  .map((one) => `	"${one}"`)
  .join('\n')}
)

func handle(w http.ResponseWriter, r *http.Request) {
	p := r.URL.Query().Get("p")
	${body}
}
`;

export const goCases: readonly Case[] = [
  [
    'sql-injection',
    handler('database/sql fmt', 'q := fmt.Sprintf("select * from a where b = \'%s\'", p)\n\tdb.Query(q)'),
    handler('database/sql', 'db.Query("select * from a where b = $1", p)'),
  ],
  [
    'sql-injection',
    handler('database/sql', 'db.QueryRowContext(ctx, "select a from b order by " + p)'),
    handler(
      'database/sql strconv',
      'n, err := strconv.Atoi(p)\n\tdb.QueryRowContext(ctx, "select a from b limit " + n)',
    ),
  ],
  [
    'command-injection',
    handler('os/exec', 'exec.Command("sh", "-c", "ls " + p).Run()'),
    handler('os/exec', 'exec.Command("ls", "-l").Run()'),
  ],
  [
    'path-traversal',
    handler('os path/filepath', 'os.Open(filepath.Join("/data", p))'),
    handler('os path/filepath', 'os.Open(filepath.Join("/data", filepath.Base(p)))'),
  ],
  [
    'path-traversal',
    handler('os', 'os.ReadFile("/data/" + p)'),
    handler('os', 'if !allowed[p] {\n\t\treturn\n\t}\n\tos.ReadFile("/data/" + p)'),
  ],
  ['server-side-request-forgery', handler('', 'http.Get(p)'), handler('', 'http.Get("https://api.example.test/" + p)')],
  ['open-redirect', handler('', 'http.Redirect(w, r, p, 302)'), handler('', 'http.Redirect(w, r, "/a?b="+p, 302)')],
  [
    'cross-site-scripting',
    handler('fmt', 'fmt.Fprintf(w, "<p>%s</p>", p)'),
    handler('fmt html', 'fmt.Fprintf(w, "<p>%s</p>", html.EscapeString(p))'),
  ],
  ['unsafe-deserialization', handler('encoding/gob', 'gob.NewDecoder(r.Body)'), handler('', 'decode(r.Body)')],
  ['weak-hash', handler('crypto/md5', 'md5.Sum(x)'), handler('crypto/sha256', 'sha256.Sum256(x)')],
  ['weak-cipher', handler('crypto/des', 'des.NewCipher(x)'), handler('crypto/aes', 'aes.NewCipher(x)')],
  ['weak-random', handler('math/rand', 'rand.Intn(3)'), handler('crypto/rand', 'rand.Int(rand.Reader, x)')],
  ['weak-key', handler('crypto/rsa', 'rsa.GenerateKey(x, 1024)'), handler('crypto/rsa', 'rsa.GenerateKey(x, 3072)')],
  [
    'tls-not-verified',
    handler('crypto/tls', 'use(&tls.Config{InsecureSkipVerify: true})'),
    handler('crypto/tls', 'use(&tls.Config{InsecureSkipVerify: false})'),
  ],
  [
    'old-tls',
    handler('crypto/tls', 'use(&tls.Config{MinVersion: tls.VersionTLS10})'),
    handler('crypto/tls', 'use(&tls.Config{MinVersion: tls.VersionTLS12})'),
  ],
  [
    'ssh-host-not-verified',
    handler('golang.org/x/crypto/ssh', 'use(ssh.InsecureIgnoreHostKey())'),
    handler('golang.org/x/crypto/ssh', 'use(ssh.FixedHostKey(k))'),
  ],
  [
    'listens-everywhere',
    handler('net', 'net.Listen("tcp", "0.0.0.0:80")'),
    handler('net', 'net.Listen("tcp", "127.0.0.1:80")'),
  ],
  [
    'no-timeouts',
    handler('', 'http.ListenAndServe("a:1", nil)'),
    handler('', 's := &http.Server{ReadHeaderTimeout: 5}\n\ts.ListenAndServe()'),
  ],
  ['loose-permissions', handler('os', 'os.Mkdir("a", 0777)'), handler('os', 'os.Mkdir("a", 0700)')],
  ['predictable-temporary-file', handler('os', 'os.Create("/var/tmp/a")'), handler('os', 'os.CreateTemp("", "a")')],
  ['folder-exposed', handler('', 'http.Dir("/")'), handler('', 'http.Dir("public")')],
  ['unsafe-memory', handler('unsafe', 'use(unsafe.Pointer(x))'), handler('', 'use(x)')],
  [
    'cookie-without-secure',
    handler('', 'use(&http.Cookie{Name: "a", Secure: false})'),
    handler('', 'use(&http.Cookie{Name: "a", Secure: true})'),
  ],
];
