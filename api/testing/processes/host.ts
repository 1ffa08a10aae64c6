// A host as a runbook has it: the commands of its pages run in a shell as they stand there, with the real
// command line and services as processes of their own. What only a whole machine has is stood in for: systemctl starts
// and stops those processes, sudo does nothing, and the absolute paths and ports of a page are those of the test.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { copyMigratedTemplate } from '../database-templates.js';
import { startUpstream } from '../data-plane.js';
import { writeRuleSet } from '../rule-set.js';
import { freePort } from '../free-port.js';
import { bareEnvironment, makeDirectory } from '../temporary.js';
import { freePorts, root, type PortName } from './up.js';

const stateOf = '/var/lib/gatehouse';
const services = ['data-plane', 'control-plane', 'console'] as const;
const commandMsMax = 300_000;

/** Starts, stops and asks the services of the host; units and verbs are those that the pages use. */
const systemctl = (run: string): string => `#!/bin/sh
set -eu
verb=$1
shift
stop() {
  [ -f "${run}/$1.pid" ] || return 0
  kill -TERM "$(cat "${run}/$1.pid")" 2>/dev/null || true
  while kill -0 "$(cat "${run}/$1.pid")" 2>/dev/null; do sleep 0.1; done
  rm -f "${run}/$1.pid"
}
active() { [ -f "${run}/$1.pid" ] && kill -0 "$(cat "${run}/$1.pid")" && echo active; }
start() {
  if [ -f "${run}/$1.pid" ] && kill -0 "$(cat "${run}/$1.pid")" 2>/dev/null; then return 0; fi
  setsid gatehouse "$1" </dev/null >>"${run}/$1.log" 2>&1 &
  echo $! >"${run}/$1.pid"
}
ready() {
  tries=0
  until curl -sf -o /dev/null -m 5 "$(sed -n "s/^$1 //p" "${run}/asked")"; do
    kill -0 "$(cat "${run}/$1.pid")" 2>/dev/null || { tail -n 20 "${run}/$1.log" >&2; exit 1; }
    tries=$((tries + 1)); [ $tries -lt 500 ] || { echo "$1 is not ready" >&2; exit 1; }
    sleep 0.2
  done
}
each() {
  for unit in $units; do "$1" "\${unit#gatehouse-}"; done
}
units=
for unit in "$@"; do case $unit in gatehouse-*) units="$units $unit" ;; esac; done
case $verb in
start) each start; each ready ;;
stop) each stop ;;
restart) each stop; each start; each ready ;;
is-active) each active ;;
*) echo "systemctl $verb is not stood in for" >&2; exit 1 ;;
esac
`;

/** Why a host cannot be stood in for here, for `skip`; `more`: programs that the test needs besides. */
export function withoutHost(...more: readonly string[]): string | false {
  const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
  const absent = ['curl', 'setsid', ...more].filter((program) => !has(program));
  return absent.length === 0 ? false : `needs ${absent.join(', ')}`;
}

export interface Ran {
  readonly code: number | null;
  readonly output: string;
  readonly ms: number;
}

export interface RunbookHost {
  readonly home: string;
  readonly ports: Readonly<Record<PortName, string>>;
  /** Where nodes of other machines enrol. */
  readonly nodesUrl: string;
  /** The directory that stands for the absolute path of a page. */
  at(path: string): string;
  /** Runs the commands of a page, which end at the first that fails; `given` are the variables that the page names. */
  run(page: string, given?: Readonly<Record<string, string>>): Promise<Ran>;
  /** Runs one line as it would be typed. */
  sh(line: string, given?: Readonly<Record<string, string>>): Promise<Ran>;
  /** The status that a protected site answers; 0: none. */
  statusOf(path: string): Promise<number>;
}

/** Blocks of shell of a page, in order, also those of its lists. What is not run here is in blocks of another kind. */
export function commandsOf(page: string): string {
  const text = readFileSync(join(root, page), 'utf8');
  const blocks = [...text.matchAll(/^( *)```sh\n([^]*?)^ *```$/gm)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
  if (blocks.length === 0) throw new Error(`${page} has no commands`);
  return blocks.join('\n');
}

async function writePrograms(programs: string, run: string): Promise<void> {
  const lines = {
    gatehouse: `exec '${process.execPath}' '${join(root, 'bin/gatehouse')}' "$@"`,
    sudo: 'while [ "${1#-}" != "$1" ]; do shift; done; exec "$@"',
    chown: 'exit 0',
    systemctl: systemctl(run).replace('#!/bin/sh\n', ''),
  };
  for (const [name, text] of Object.entries(lines)) {
    await writeFile(join(programs, name), `#!/bin/sh\n${text}\n`);
    await chmod(join(programs, name), 0o755);
  }
}

async function writeAddresses(run: string, ports: Readonly<Record<PortName, string>>): Promise<void> {
  const asked = {
    'data-plane': `${ports.GATEHOUSE_ADMIN_PORT}/readyz`,
    'control-plane': `${ports.API_PORT}/api/live`,
    console: `${ports.UI_PORT}/`,
  };
  const addresses = Object.entries(asked).map(([name, where]) => `${name} http://127.0.0.1:${where}\n`);
  await writeFile(join(run, 'asked'), addresses.join(''));
}

/** What a page says → what it is here. */
function movesOf(home: string, ports: Readonly<Record<PortName, string>>): readonly (readonly [RegExp, string])[] {
  return [
    [/(?<![\w.])\/(?=(?:etc|var\/lib|var\/log|var\/backups|opt|usr\/lib)\/gatehouse|mnt\/|root\/)/g, `${home}/`],
    [/\b127\.0\.0\.1:8095\b/g, `127.0.0.1:${ports.API_PORT}`],
    [/\b127\.0\.0\.1:8080\b/g, `127.0.0.1:${ports.WAF_PORT}`],
    [/\b127\.0\.0\.1:8443\b/g, `127.0.0.1:${ports.JA3_PORT}`],
    [/\b127\.0\.0\.1:2019\b/g, `127.0.0.1:${ports.GATEHOUSE_ADMIN_PORT}`],
  ];
}

/** `.env` with these, and with fresh secrets as the installer makes them. */
async function writeSettings(t: Test, home: string, envFile: string, own: Readonly<Record<string, string>>) {
  const given = {
    ...{ WAF_BIND: '127.0.0.1', DATA_WORKERS: '1', BREACHED_PASSWORDS_URL: 'http://127.0.0.1:1/' },
    CRS_DIR: await writeRuleSet(t),
    UPSTREAM_CUSTOMER: await startUpstream(t, 'an application of my own'),
    GATEHOUSE_CONTROL_URL: `http://127.0.0.1:${own['API_PORT']}`,
    ...own,
  };
  await writeFile(
    envFile,
    Object.entries(given)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  const prepared = spawnSync('sh', [join(root, 'deploy/native/prepare-host.sh'), root], {
    env: { ...process.env, GATEHOUSE_ROOT: home },
    encoding: 'utf8',
  });
  if (prepared.status !== 0) throw new Error(prepared.stderr);
}

/** An installation, all services started. `password`: the first one; `more`: variables of its `.env`. */
export async function startHost(
  t: Test,
  password: string,
  more: Readonly<Record<string, string>> = {},
): Promise<RunbookHost> {
  const home = await makeDirectory(t, 'runbooks');
  const at = (path: string): string => join(home, path);
  for (const path of ['/etc/gatehouse', stateOf, '/mnt/copies', '/run/gatehouse', '/programs', '/root'])
    await mkdir(at(path), { recursive: true });
  await rename(await copyMigratedTemplate(t), join(at(stateOf), 'db'));
  const ports = await freePorts();
  const nodesPort = String(await freePort());
  const envFile = at('/etc/gatehouse/.env');
  const nodesUrl = `https://127.0.0.1:${nodesPort}`;
  const own = { ...ports, NODES_PORT: nodesPort, NODES_URLS: nodesUrl, ADMIN_INITIAL_PASSWORD: password, ...more };
  await writeSettings(t, home, envFile, own);
  const run = at('/run/gatehouse');
  await writeAddresses(run, ports);
  await writePrograms(at('/programs'), run);

  const moved = movesOf(home, ports);
  const env = {
    ...bareEnvironment(),
    PATH: `${at('/programs')}:${process.env['PATH'] ?? ''}`,
    HOME: at('/root'),
    GATEHOUSE_ENV_FILE: envFile,
    GATEHOUSE_DATA: at(stateOf),
  };
  const sh = async (line: string, more: Readonly<Record<string, string>> = {}): Promise<Ran> => {
    const text = moved.reduce((whole, [from, to]) => whole.replace(from, to), line);
    const sinceMs = performance.now();
    const log = join(run, `shell-${Math.random()}.log`);
    const child = spawn('sh', ['-c', 'exec >"$1" 2>&1; cd "$2"; shift 2; eval "set -eu; $1"', 'sh', log, home, text], {
      env: { ...env, ...more },
      stdio: 'ignore',
      timeout: commandMsMax,
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    return { code, output: await readFile(log, 'utf8'), ms: performance.now() - sinceMs };
  };
  t.teardown(async () => {
    await sh('systemctl stop gatehouse-console gatehouse-data-plane gatehouse-control-plane');
  });
  const started = await sh(`systemctl start ${services.map((name) => `gatehouse-${name}`).join(' ')}`);
  if (started.code !== 0) {
    const logs = services.map((name) => join(run, `${name}.log`)).filter((path) => existsSync(path));
    throw new Error([started.output, ...logs.map((path) => readFileSync(path, 'utf8').slice(-2000))].join('\n'));
  }
  return {
    ...{ home, ports, at, sh, nodesUrl },
    run: (page, more = {}) => sh(commandsOf(page), more),
    statusOf: (path) =>
      fetch(`http://127.0.0.1:${ports.WAF_PORT}${path}`, { headers: { connection: 'close' } }).then(
        async (reply) => {
          await reply.arrayBuffer();
          return reply.status;
        },
        () => 0,
      ),
  };
}
