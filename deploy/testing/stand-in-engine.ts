// A container engine for tests of the installer: it knows the services of the Compose file that it is given, as Compose
// does, keeps the volume of the control plane as a directory, serves in place of what runs, and writes down each call.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const program = (state: string): string => `#!${process.execPath}
const fs = require('node:fs');
const { spawn } = require('node:child_process');
const state = ${JSON.stringify(state)};
const args = process.argv.slice(2);
const version = process.env.GATEHOUSE_VERSION;
fs.appendFileSync(state + '/calls', [version, ...args].join(' ') + '\\n');
const die = (text) => { console.error(text); process.exit(1); };
const inVolume = (path) => state + '/volume' + path.replace('/var/lib/gatehouse', '');
const database = () => state + '/volume/database';
fs.mkdirSync(state + '/volume/backups', { recursive: true });
if (args[0] === 'load') process.exit(0);
if (args[0] === 'cp') { fs.copyFileSync(inVolume(args[1].split(':')[1]), args[2]); process.exit(0); }
if (args[0] !== 'compose') process.exit(2);
if (args[1] === 'version') process.exit(0);
const option = (name) => args[args.indexOf(name) + 1];
if (option('-p') !== 'gatehouse') die('another project');
const text = fs.readFileSync(option('-f'), 'utf8');
const profile = option('--profile');
const rest = args.slice(args.lastIndexOf('--profile') + 2);
const known = (name) => {
  const at = text.indexOf('\\n  ' + name + ':\\n');
  if (at < 0 || !text.slice(at).match(/profiles: (.*)/)[1].includes(JSON.stringify(profile))) die('no such service: ' + name);
};
const settings = fs.readFileSync(option('--env-file'), 'utf8');
const pidFile = state + '/pid';
const running = () => fs.existsSync(pidFile);
const stop = () => { if (running()) { try { process.kill(Number(fs.readFileSync(pidFile, 'utf8'))); } catch {} fs.rmSync(pidFile); } };
const isBroken = fs.existsSync(state + '/broken-' + version);
const [command, ...more] = rest;
const words = more.filter((one) => !one.startsWith('-'));
if (command === 'up') {
  fs.writeFileSync(state + '/profile', profile);
  stop();
  fs.appendFileSync(database(), version + '\\n');
  const ports = ['WAF_PORT', 'UI_PORT', 'API_PORT'].map((name) => Number(new RegExp('^' + name + '=(.*)$', 'm').exec(settings)[1]));
  const server = 'for (const p of ' + JSON.stringify(ports) + ') require("node:http").createServer((q, r) => { r.statusCode = ' +
    (isBroken ? '503' : 'q.url.includes("OR") ? 403 : 200') + '; r.setHeader("x-release", "' + version + '"); r.end(); }).listen(p, "127.0.0.1")';
  const child = spawn(process.execPath, ['-e', server], { detached: true, stdio: 'ignore' });
  fs.writeFileSync(pidFile, String(child.pid));
  child.unref();
} else if (command === 'stop') { words.forEach(known); stop(); }
else if (command === 'down') stop();
else if (command === 'ps') { known(words[0]); if (running()) console.log('c0ffee'); }
else if (command === 'exec') {
  known(words[0]);
  if (!running()) die('service is not running');
  if (more.includes('-e')) fs.rmSync(inVolume(more.at(-1)), { force: true });
  else if (more.includes('backup')) {
    const to = inVolume(more[more.indexOf('--to') + 1]);
    if (fs.existsSync(to)) die('is there already');
    fs.copyFileSync(database(), to);
  } else if (more.includes('traffic') && isBroken) die('answers 503');
} else if (command === 'run') {
  known(words[0]);
  if (running()) die('the embedded database is in use');
  if (more.includes('restore')) fs.copyFileSync(inVolume(words[2]), database());
} else die('unknown: ' + command);
`;

/** Writes the program `docker` into a directory; what it remembers lies in `state`. */
export function makeEngine(directory: string, state: string): void {
  writeFileSync(join(directory, 'docker'), program(state), { mode: 0o755 });
}
