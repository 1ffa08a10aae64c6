// /usr/bin/gatehouse over stand-ins for systemd and for the program: a restore by root stops the control plane, and
// whatever becomes of it the control plane comes back.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { until } from '#api/testing/waiting';

const script = resolve(import.meta.dirname, '../../../deploy/native/gatehouse.sh');
const skip = process.getuid?.() === 0 ? false : 'needs root';

function stage(t: Test) {
  const at = mkdtempSync(join(tmpdir(), 'gatehouse-wrapper-'));
  const [programs, runtime, run] = [join(at, 'programs'), join(at, 'lib/gatehouse/runtime'), join(at, 'run')];
  for (const path of [programs, runtime, join(at, 'bin'), join(run, 'systemd/system')])
    mkdirSync(path, { recursive: true });
  copyFileSync(script, join(at, 'bin/gatehouse'));
  chmodSync(join(at, 'bin/gatehouse'), 0o755);
  writeFileSync(join(at, 'active'), '');
  const say = (path: string, text: string): void => writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  say(
    join(programs, 'systemctl'),
    `echo "$1" >>"${at}/calls"
     case $1 in stop) rm -f "${at}/active" ;; start) : >"${at}/active" ;; is-active) test -e "${at}/active" ;; esac`,
  );
  say(
    join(runtime, 'node'),
    `: >"${at}/begun"; while [ -e "${at}/waits" ]; do sleep 0.05; done; exit "$(cat ${at}/code)"`,
  );
  writeFileSync(join(at, 'code'), '0');
  const env = { PATH: `${programs}:/usr/bin:/bin`, GATEHOUSE_RUN: run, GATEHOUSE_USER: '' };
  const start = (): ChildProcess =>
    spawn('sh', [join(at, 'bin/gatehouse'), 'restore', 'FILE', '-y'], { env, stdio: 'ignore' });
  t.teardown(() => rmSync(at, { recursive: true, force: true }));
  return {
    start,
    set: (name: string, text: string) => writeFileSync(join(at, name), text),
    remove: (name: string) => rmSync(join(at, name), { force: true }),
    has: (name: string) => existsSync(join(at, name)),
    calls: () => readFileSync(join(at, 'calls'), 'utf8').trim().split('\n').join(' '),
  };
}

for (const [code, calls] of [
  ['0', 'is-active stop try-restart start'],
  ['1', 'is-active stop start'],
] as const)
  t.test(`a restore that ends with ${code}`, { skip }, async (t) => {
    const at = stage(t);
    at.set('code', code);
    t.strictSame(await once(at.start(), 'exit'), [Number(code), null]);
    t.equal(at.calls(), calls);
    t.ok(at.has('active'));
    t.notOk(at.has('run/gatehouse-restoring'));
  });

for (const signal of ['SIGHUP', 'SIGTERM', 'SIGKILL'] as const)
  t.test(`a restore that gets ${signal}, and runs again`, { skip }, async (t) => {
    const at = stage(t);
    at.set('waits', '');
    const first = at.start();
    const ended = once(first, 'exit');
    await until('it is at work', async () => at.has('begun'));
    first.kill(signal);
    at.remove('waits');
    await ended;
    t.equal(at.has('active'), signal !== 'SIGKILL', 'the control plane comes back');
    t.strictSame(await once(at.start(), 'exit'), [0, null]);
    t.ok(at.has('active'), 'and does so after a kill when it is run again');
    t.notOk(at.has('run/gatehouse-restoring'));
  });
