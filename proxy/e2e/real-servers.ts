// Servers that applications stand on, as they come from their makers, each with a resource below `/authed` and one
// below `/my area` that answer with a mark. They are found on the machine; which are not is for the test to say.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { freePort, until } from './waiting.js';

/** What the protected resources answer with, and nothing else does. */
export const mark = 'PROTECTED-RESOURCE';

/** A folder of node_modules with `express` (and `express4`, `fastify`): they are none of our dependencies. */
const modulesVariable = 'REAL_SERVERS_MODULES';
const modules = process.env[modulesVariable] ?? '';

export interface RealServer {
  readonly name: string;
  /** Why it cannot be started here, and what to do about it; null: it can. */
  readonly whyAbsent: string | null;
  /** Its own folder; `root` has the static files. Gives the command that stays in the foreground. */
  command(dir: string, root: string, port: number): Promise<readonly [program: string, ...parameters: string[]]>;
}

const isRunnable = (program: string, flag: string): boolean => spawnSync(program, [flag]).error === undefined;
const lacking = (isThere: boolean, what: string, how: string): string | null =>
  isThere ? null : `${what} is not on this machine: ${how}`;
const debian = (program: string, flag: string, name: string): string | null =>
  lacking(isRunnable(program, flag), program, `apt-get install ${name}`);

const tomcatHome = '/usr/share/tomcat10';
const tomcat = (name: string, connector: string): RealServer => ({
  name,
  whyAbsent:
    debian('java', '-version', 'default-jre-headless') ??
    lacking(existsSync(join(tomcatHome, 'bin/bootstrap.jar')), 'Tomcat', 'apt-get install tomcat10'),
  async command(dir, root, port) {
    for (const folder of ['conf', 'logs', 'temp', 'work']) await mkdir(join(dir, folder));
    await writeFile(
      join(dir, 'conf/server.xml'),
      `<Server port="-1"><Service name="Catalina">
         <Connector port="${port}" address="127.0.0.1" protocol="HTTP/1.1" ${connector}/>
         <Engine name="Catalina" defaultHost="localhost"><Host name="localhost" appBase="apps" autoDeploy="false">
           <Context path="" docBase="${root}"/></Host></Engine></Service></Server>`,
    );
    await writeFile(
      join(dir, 'conf/web.xml'),
      `<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0"><servlet><servlet-name>default</servlet-name>
         <servlet-class>org.apache.catalina.servlets.DefaultServlet</servlet-class></servlet>
         <servlet-mapping><servlet-name>default</servlet-name><url-pattern>/</url-pattern></servlet-mapping>
         <welcome-file-list><welcome-file>index.html</welcome-file></welcome-file-list></web-app>`,
    );
    const jars = ['bootstrap.jar', 'tomcat-juli.jar'].map((jar) => join(tomcatHome, 'bin', jar)).join(':');
    const places = [`-Dcatalina.home=${tomcatHome}`, `-Dcatalina.base=${dir}`, `-Djava.io.tmpdir=${join(dir, 'temp')}`];
    return ['java', '-Xshare:auto', ...places, '-cp', jars, 'org.apache.catalina.startup.Bootstrap', 'start'];
  },
});

const nginx = (name: string, server: (root: string) => string): RealServer => ({
  name,
  whyAbsent: debian('nginx', '-v', 'nginx-light'),
  async command(dir, root, port) {
    const kept = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((what) => `${what}_temp_path ${join(dir, what)};`)
      .join(' ');
    await writeFile(
      join(dir, 'nginx.conf'),
      `daemon off; master_process off; pid ${join(dir, 'pid')}; error_log ${join(dir, 'log')}; events {}
       http { access_log off; default_type text/plain; ${kept}
         server { listen 127.0.0.1:${port}; root ${root}; index index.html; ${server(root)} } }`,
    );
    return ['nginx', '-p', dir, '-e', join(dir, 'log'), '-c', join(dir, 'nginx.conf')];
  },
});

/** The ways in which front controllers get at their path; what none of them wants is served as a file. */
const phpRouter = `<?php
$uri = $_SERVER['REQUEST_URI'];
$path = parse_url($uri, PHP_URL_PATH);
$cut = explode('?', $uri)[0];
foreach ([$path, $cut, $_SERVER['PATH_INFO'] ?? '', $_SERVER['SCRIPT_NAME'] ?? ''] as $one)
  foreach ([$one, rawurldecode((string) $one), urldecode((string) $one), trim(urldecode((string) $one))] as $read)
    foreach (['authed', 'my area'] as $name)
      if (preg_match("#^/+$name(/|$)#D", $read) || trim($read, "/ ") === $name) { echo '${mark}'; return true; }
return false;
`;

const php = (name: string, router: string | null): RealServer => ({
  name,
  whyAbsent: debian('php', '-v', 'php-cli'),
  async command(dir, root, port) {
    const listen = ['-S', `127.0.0.1:${port}`, '-t', root] as const;
    if (router === null) return ['php', ...listen];
    await writeFile(join(dir, 'router.php'), router);
    return ['php', ...listen, join(dir, 'router.php')];
  },
});

const node = (name: string, wanted: string, code: string): RealServer => ({
  name,
  whyAbsent: lacking(
    modules !== '' && existsSync(join(modules, wanted)),
    wanted,
    `npm install ${wanted} in a folder outside this repository, and ${modulesVariable}=<its node_modules>`,
  ),
  async command(dir, root, port) {
    const script = join(dir, 'server.cjs');
    const head = `const [root, port, mark] = ${JSON.stringify([root, port, mark])};`;
    await writeFile(script, `${head} const used = require(${JSON.stringify(join(modules, wanted))});\n${code}`);
    return [process.execPath, script];
  },
});

const express = `const app = used();
const open = (request, response) => response.send(mark);
app.use('/authed', open);
app.use('/my%20area', open);
const isClosed = (name) => /^(?:authed|my area)$/.test(name);
app.get('/:name', ({ params }, response, next) => isClosed(params.name) ? open(null, response) : next());
app.use(used.static(root));
app.listen(port, '127.0.0.1');`;

const fastify = `const app = used({
  ignoreDuplicateSlashes: true, ignoreTrailingSlash: true, caseSensitive: false, useSemicolonDelimiter: true });
const open = async () => mark;
for (const path of ['/authed', '/authed/*', '/my area', '/my area/*']) app.all(path, open);
app.get('/open.txt', async () => 'open');
app.listen({ port, host: '127.0.0.1' });`;

const apacheModules = '/usr/lib/apache2/modules';

export const realServers: readonly RealServer[] = [
  tomcat('Tomcat 10.1', ''),
  tomcat(
    'Tomcat 10.1 that takes what it can',
    `relaxedPathChars='"&lt;&gt;[\\]^\`{|}' encodedSolidusHandling="decode" allowBackslash="true"`,
  ),
  nginx('nginx', () => `location = /authed { return 200 "${mark}"; } location /authed/ { return 200 "${mark}"; }`),
  nginx(
    'nginx with rewrites',
    () => `location ~* "^/+authed(/|$)" { return 200 "${mark}"; } location /app/ { rewrite ^/app(/.*)$ $1 last; }`,
  ),
  nginx('nginx that keeps slashes', () => 'merge_slashes off;'),
  php("PHP's own server", null),
  php('front controllers of PHP', phpRouter),
  node('Express 5', 'express', express),
  node('Express 4', 'express4', express),
  node('Fastify', 'fastify', fastify),
  {
    name: 'Apache httpd',
    whyAbsent: debian('apache2', '-v', 'apache2-bin'),
    async command(dir, root, port) {
      const loaded = ['mpm_event', 'authz_core', 'mime', 'dir', 'alias', 'negotiation']
        .map((name) => `LoadModule ${name}_module ${join(apacheModules, `mod_${name}.so`)}\n`)
        .join('');
      await writeFile(
        join(dir, 'httpd.conf'),
        `${loaded}User nobody\nGroup nogroup\nServerRoot ${dir}
ServerName localhost\nListen 127.0.0.1:${port}\nPidFile ${join(dir, 'pid')}
DefaultRuntimeDir ${dir}\nErrorLog ${join(dir, 'log')}\nDocumentRoot ${root}\nAllowEncodedSlashes On\nMergeSlashes On
TypesConfig /dev/null\nAddType text/html .html\nAddType text/plain .txt\nAcceptPathInfo On
<Directory ${root}>\nOptions +MultiViews\nDirectoryIndex index.html\n</Directory>\n`,
      );
      return ['apache2', '-X', '-f', join(dir, 'httpd.conf')]; // one process: none is left when it is ended
    },
  },
  {
    name: 'lighttpd',
    whyAbsent: debian('lighttpd', '-v', 'lighttpd'),
    async command(dir, root, port) {
      await writeFile(
        join(dir, 'lighttpd.conf'),
        `server.bind = "127.0.0.1"\nserver.port = ${port}\nserver.document-root = "${root}"
index-file.names = ("index.html")\nserver.errorlog = "${join(dir, 'log')}"\n`,
      );
      return ['lighttpd', '-D', '-f', join(dir, 'lighttpd.conf')];
    },
  },
  {
    name: "Python's own server",
    whyAbsent: debian('python3', '--version', 'python3'),
    command: async (_dir, root, port) =>
      ['python3', '-m', 'http.server', String(port), '--bind', '127.0.0.1', '--directory', root] as const,
  },
];

/** Files for those that serve files: `/open.txt` for everybody, the rest is to be protected. */
async function makeRoot(dir: string): Promise<string> {
  const root = join(dir, 'root');
  for (const folder of ['authed', 'my area', 'app', 'x']) await mkdir(join(root, folder), { recursive: true });
  for (const folder of ['authed', 'my area'])
    for (const name of ['index.html', 'index.php', 'x', 'y', 'x.css', 'x.txt'])
      await writeFile(join(root, folder, name), mark);
  await writeFile(join(root, 'open.txt'), 'open');
  return root;
}

/** Started on a free port of the loopback, and ended with the test. Fails when it does not come up. */
export async function startRealServer(t: Test, server: RealServer): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'gatehouse-real-'));
  await chmod(dir, 0o755); // Apache's workers run as another user when root starts it
  let child: ChildProcess | null = null;
  t.teardown(async () => {
    if (child !== null && child.exitCode === null && child.signalCode === null) {
      // its streams may be held by processes of its own
      const ended = new Promise((resolve) => child?.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
      for (const stream of [child.stdout, child.stderr]) stream?.destroy();
    }
    await rm(dir, { recursive: true, force: true });
  });
  const port = await freePort();
  const [program, ...parameters] = await server.command(dir, await makeRoot(dir), port);
  child = spawn(program, parameters, { stdio: ['ignore', 'pipe', 'pipe'], cwd: dir });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4000);
    });
  const isUp = await until(async () => {
    if (child?.exitCode !== null) {
      const log = await readFile(join(dir, 'log'), 'utf8').catch(() => ''); // most write there what is wrong
      throw new Error(`${server.name} ended: ${output}${log}`);
    }
    const answer = await fetch(`http://127.0.0.1:${port}/open.txt`, { headers: { connection: 'close' } }).catch(
      () => null, // it does not listen yet
    );
    return (await answer?.text()) === 'open';
  });
  if (!isUp) throw new Error(`${server.name} did not come up: ${output}`);
  return port;
}
