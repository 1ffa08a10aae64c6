// A container engine for tests of the installer, as a program: STATE VERSION and the arguments of `docker`. It knows
// the services of the Compose file that it is given, as Compose does, keeps the volume of the control plane as a
// directory, serves in place of what runs, and writes down each call.
import { spawn } from 'node:child_process';
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [state = '', version = '', ...args] = process.argv.slice(2);
const pidFile = join(state, 'pid');
const database = join(state, 'volume/database');
const inVolume = (path: string): string => join(state, 'volume', path.replace('/var/lib/gatehouse', ''));
const isBroken = existsSync(join(state, `broken-${version}`));

function fail(text: string): never {
  console.error(text);
  process.exit(1);
}

const option = (name: string): string => args[args.indexOf(name) + 1] ?? '';
const profile = args[args.lastIndexOf('--profile') + 1] ?? '';

/** Ends the program where the file has no such service in this profile. */
function needService(name = ''): void {
  const text = readFileSync(option('-f'), 'utf8');
  const at = text.indexOf(`\n  ${name}:\n`);
  const profiles = at < 0 ? '' : (/profiles: (.*)/.exec(text.slice(at))?.[1] ?? '');
  if (!profiles.includes(JSON.stringify(profile))) fail(`no such service: ${name}`);
}

function settingOf(name: string): string {
  if (!args.includes('--env-file')) return '';
  return new RegExp(`^${name}=(.*)$`, 'm').exec(readFileSync(option('--env-file'), 'utf8'))?.[1] ?? '';
}

/** What serves on the ports of .env, until it is stopped. */
function serve(): void {
  const settings = readFileSync(option('--env-file'), 'utf8');
  const ports = ['WAF_PORT', 'UI_PORT', 'API_PORT'].map((name) =>
    Number(new RegExp(`^${name}=(.*)$`, 'm').exec(settings)?.[1]),
  );
  const status = isBroken ? '503' : 'q.url.includes("OR") ? 403 : 200';
  const admin = settingOf('ADMIN_BIND') || '127.0.0.1';
  const places = ports.map((port, index) => [port, index === 0 ? '127.0.0.1' : admin]);
  const server =
    `for (const [port, host] of ${JSON.stringify(places)}) require("node:http").createServer((q, r) => {` +
    ` r.statusCode = ${status}; r.setHeader("x-release", "${version}"); r.end(); }).listen(port, host)`;
  const child = spawn(process.execPath, ['-e', server], { detached: true, stdio: 'ignore' });
  writeFileSync(pidFile, String(child.pid));
  child.unref();
}

function stop(): void {
  if (!existsSync(pidFile)) return;
  process.kill(Number(readFileSync(pidFile, 'utf8')));
  rmSync(pidFile);
}

function execute(service: string | undefined, words: readonly string[]): void {
  needService(service);
  if (!existsSync(pidFile)) fail('the service does not run');
  if (words.includes('-e')) rmSync(inVolume(words.at(-1) ?? ''), { force: true });
  else if (words.includes('backup')) {
    const to = inVolume(words[words.indexOf('--to') + 1] ?? '');
    if (existsSync(to)) fail('is there already');
    copyFileSync(database, to);
  } else if (words.includes('traffic') && isBroken) fail('answers 503');
}

function compose(): void {
  if (option('-p') !== 'gatehouse') fail('another project');
  const [command, ...words] = args.slice(args.lastIndexOf('--profile') + 2);
  const names = words.filter((word) => !word.startsWith('-'));
  switch (command) {
    case 'up':
      writeFileSync(join(state, 'profile'), profile);
      stop();
      appendFileSync(database, `${version}\n`);
      return serve();
    case 'stop':
      for (const name of names) needService(name);
      return stop();
    case 'down':
      return stop();
    case 'ps':
      needService(names[0]);
      return existsSync(pidFile) ? console.log('c0ffee') : undefined;
    case 'exec':
      return execute(names[0], words);
    case 'run':
      needService(names[0]);
      if (existsSync(pidFile)) fail('the embedded database is in use');
      if (words.includes('restore')) copyFileSync(inVolume(names[2] ?? ''), database);
      return undefined;
    default:
      return fail(`unknown: ${command ?? 'nothing'}`);
  }
}

appendFileSync(join(state, 'calls'), `${[version, ...args].join(' ')}\n`);
// what it would publish: an IPv6 address has to stand in brackets there
if (args[0] === 'compose' && /^[^[]*:.*:/.test(process.env['ADMIN_BIND'] ?? settingOf('ADMIN_BIND')))
  fail('invalid IP address');
mkdirSync(join(state, 'volume/backups'), { recursive: true });
if (args[0] === 'cp') copyFileSync(inVolume(args[1]?.split(':')[1] ?? ''), args[2] ?? '');
else if (args[0] === 'compose' && args[1] !== 'version') compose();
