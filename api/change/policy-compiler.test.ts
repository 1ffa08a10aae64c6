import { defaultSettings, requireSettings, ruleSettingsOf } from '#settings';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { writeRuleSet } from '../testing/rule-set.js';
import { makeDirectory } from '../testing/temporary.js';
import { toProxyConfig, upstreamDefaults } from '#proxy/contract';
import { artifactPath } from './artifacts.js';
import { errorOfEnd } from './compile-child.js';
import { replayConfigOf } from './replay.js';
import { createPolicyCompiler, type PolicyCompiler, type PolicyCompilerOptions } from './policy-compiler.js';
import { testMsMax, until } from '../testing/waiting.js';

t.setTimeout(testMsMax);

async function start(
  t: Test,
  changes: Partial<PolicyCompilerOptions> = {},
): Promise<{ compiler: PolicyCompiler; artifacts: string }> {
  const directory = await makeDirectory(t, 'compile');
  const artifacts = join(directory, 'artifacts');
  const compiler = createPolicyCompiler({
    crsDirectory: await writeRuleSet(t),
    unicodeMapping: null,
    artifactsDirectory: artifacts,
    cacheDirectory: join(directory, 'cache'),
    threads: 1,
    ...changes,
  });
  t.teardown(() => compiler.close());
  return { compiler, artifacts };
}
const noSites = replayConfigOf({ ...toProxyConfig(defaultSettings(), upstreamDefaults({})), sites: [] });
const policy = (changes: object) => ruleSettingsOf({ ...defaultSettings(), ...changes });

t.test('equal policies are one artifact, others another', async (t) => {
  const { compiler, artifacts } = await start(t);
  const [one, again, other] = await Promise.all([
    compiler.compile(policy({})),
    compiler.compile(policy({ mode: 'On' })),
    compiler.compile(policy({ mode: 'DetectionOnly' })),
  ]);
  if (one.kind !== 'compiled' || again.kind !== 'compiled' || other.kind !== 'compiled')
    throw new Error('they compile');
  await Promise.all([one, again, other].map(({ stored }) => stored));
  t.equal(one.sha256, again.sha256);
  t.not(one.sha256, other.sha256);
  t.same((await readdir(artifacts)).sort(), [one.sha256, other.sha256].sort());
  await rm(artifactPath(artifacts, one.sha256));
  const made = await compiler.compile(policy({}));
  t.match(made, { kind: 'compiled', sha256: one.sha256 });
  if (made.kind === 'compiled') await made.stored;
  t.ok((await readdir(artifacts)).includes(one.sha256), 'one that was deleted is made again');
  t.match(
    await compiler.replay({
      beforeSha256: one.sha256,
      beforeConfig: noSites,
      afterSha256: 'f'.repeat(64),
      afterConfig: noSites,
      samples: [],
      examplesMax: 1,
      budgetMs: 1,
    }),
    null,
  );
});

t.test('an artifact on its way to the disk is not taken for missing, whatever else is asked meanwhile', async (t) => {
  const crsDirectory = await writeRuleSet(t); // its place is part of the artifact
  const { compiler, artifacts } = await start(t, { crsDirectory });
  const policies = [policy({}), policy({ mode: 'DetectionOnly' })];
  const made = await Promise.all(policies.map((one) => compiler.compile(one)));
  const [before, after] = made.map((one) => (one.kind === 'compiled' ? one.sha256 : ''));
  await Promise.all(made.map(async (one) => (one.kind === 'compiled' ? await one.stored : null)));
  await compiler.close();
  const again = await start(t, { crsDirectory, artifactsDirectory: artifacts });
  const warm = await again.compiler.compile(policies[0] as never);
  if (warm.kind !== 'compiled' || before === undefined || after === undefined) throw new Error('they compile');
  await warm.stored;
  await rm(artifactPath(artifacts, after));
  const ask = (to: string) =>
    again.compiler.replay({
      ...{ beforeSha256: before, beforeConfig: noSites, afterSha256: to, afterConfig: noSites },
      ...{ samples: [], examplesMax: 1, budgetMs: 1000 },
    });
  // after a restart: the replay of the warm-up comes between the compile of the first apply and its replay
  const compiled = again.compiler.compile(policies[1] as never);
  const impacts = await Promise.all([
    ask(before),
    again.compiler.tryOut({ sha256: before, config: noSites, samples: [] }),
    ask(after),
  ]);
  t.notOk(impacts.includes(null), JSON.stringify(impacts));
  t.match(await compiled, { kind: 'compiled', sha256: after });
});

t.test('a replay takes what was just compiled from memory and what served from disk', async (t) => {
  const { compiler, artifacts } = await start(t);
  const before = await compiler.compile(policy({}));
  const after = await compiler.compile(
    policy({
      custom_rules: requireSettings({
        custom_rules: [{ id: 1_000_001, name: 'x', variable: 'ARGS', operator: 'contains', value: 'grue' }],
      }).custom_rules,
    }),
  );
  if (before.kind !== 'compiled' || after.kind !== 'compiled') throw new Error('they compile');
  await Promise.all([before.stored, after.stored]);
  await rm(artifactPath(artifacts, after.sha256));
  const samples = ['/?q=grue', '/?q=lamp'].map((uri, n) => ({
    requestId: `r${n}`,
    atMs: 0,
    site: 'shop',
    method: 'GET',
    uri,
    protocol: 'HTTP/1.1',
    headers: ['Host', 'shop'],
    body: null,
    clientIp: '192.0.2.1',
  }));
  const ask = () =>
    compiler.replay({
      beforeSha256: before.sha256,
      beforeConfig: noSites,
      afterSha256: after.sha256,
      afterConfig: noSites,
      samples,
      examplesMax: 5,
      budgetMs: 10_000,
    });
  t.match(await ask(), {
    samples: 2,
    replayed: 2,
    newly_blocked: 1,
    newly_blocked_examples: [{ rule_ids: [1_000_001] }],
  });
  t.match(await ask(), { newly_blocked: 1 }, 'and again, as it is still loaded');
});

t.test('an artifact that the disk refuses is a rejection for whoever waits for it', async (t) => {
  const { compiler, artifacts } = await start(t);
  await writeFile(artifacts, 'a file where the directory should be');
  const compiled = await compiler.compile(policy({}));
  if (compiled.kind !== 'compiled') throw new Error('it compiles');
  // with the system's own code a full disk (ENOSPC) is told as one, and not as a fault of the server (500)
  await t.rejects(compiled.stored, { message: /cannot be kept/, code: 'EEXIST' });
});

t.test('what is wrong is a result with its place', async (t) => {
  const { compiler } = await start(t);
  const custom = requireSettings({
    custom_rules: [{ id: 1_000_001, name: 'broken', variable: 'ARGS', operator: 'rx' }],
  }).custom_rules[0];
  t.match(await compiler.compile(policy({ custom_rules: [{ ...custom, value: '(' }] })), {
    kind: 'refused',
    diagnostics: [{ severity: 'error', path: '/custom_rules/0/value', code: /^GH-C/ }],
  });
  t.match(await compiler.compile(policy({ custom_rules: [{ ...custom, variable: 'ARGZ', value: 'x' }] })), {
    kind: 'refused',
    diagnostics: [{ severity: 'error', path: '/custom_rules/0/variable' }],
  });
  const none = await start(t, { crsDirectory: join(tmpdir(), 'there-is-no-such-directory') });
  t.match(await none.compiler.compile(policy({})), { kind: 'refused', diagnostics: [{ code: 'GH-C7003' }] });
});

t.test('diagnostics of the rule set have file, line, column and an excerpt', async (t) => {
  const crsDirectory = await writeRuleSet(t);
  await writeFile(
    join(crsDirectory, 'rules', 'REQUEST-999-BROKEN.conf'),
    '# a comment\nSecRule ARGS "@nosuch x" "id:999001,phase:2,pass"\n',
  );
  const { compiler } = await start(t, { crsDirectory });
  t.match(await compiler.compile(policy({})), {
    kind: 'refused',
    diagnostics: [
      {
        severity: 'error',
        file: 'crs/rules/REQUEST-999-BROKEN.conf',
        line: 2,
        column: /^\d+$/,
        excerpt: /@nosuch/,
        path: null,
      },
    ],
  });
});

t.test('S1: the time of a compile begins with its turn, and ends with its answer', async (t) => {
  let running = 0;
  const seen: number[] = [];
  const { compiler } = await start(t, {
    setAlarm() {
      seen.push(++running);
      return () => running--;
    },
  });
  const modes = ['On', 'DetectionOnly', 'Off'];
  const all = await Promise.all(modes.map((mode) => compiler.compile(policy({ mode }))));
  t.same(
    all.map(({ kind }) => kind),
    modes.map(() => 'compiled'),
  );
  t.same(seen, [1, 1, 1], 'one clock at a time, though all were asked at once');
  t.equal(running, 0, 'and none is left behind');
});

t.test(
  'S2: a compile that takes too long is the answer "busy", and takes nobody with it who waits behind',
  async (t) => {
    let alarms = 0;
    const { compiler } = await start(t, {
      timeoutMs: 180_000,
      setAlarm(_, ring) {
        if (++alarms === 1) ring();
        return () => undefined;
      },
    });
    const slow = compiler.compile(policy({}));
    const behind = [compiler.compile(policy({ mode: 'DetectionOnly' })), compiler.compile(policy({ mode: 'Off' }))];
    await t.rejects(slow, { code: 'busy', status: 503, message: /took longer than 180 s.*send the same again/s });
    for (const one of await Promise.all(behind)) {
      t.equal(one.kind, 'compiled', 'a new one takes what the old one had not begun');
      if (one.kind === 'compiled') await one.stored;
    }
  },
);

t.test('a process that takes too long is given up; one that is closed answers nobody', async (t) => {
  const slow = await start(t, { timeoutMs: 1 });
  await t.rejects(slow.compiler.compile(policy({})), /took longer/);
  await t.rejects(slow.compiler.compile(policy({})), /took longer/, 'and the next one begins a process of its own');
  const { compiler } = await start(t);
  const asked = compiler.compile(policy({}));
  await Promise.all([t.rejects(asked, /closing/), compiler.close()]);
  await t.rejects(compiler.compile(policy({})), /closing/, 'closed stays closed: nobody would end a process begun now');
});

t.test('a process that has had nothing to do is ended; the next one reads the rules anew', async (t) => {
  const { compiler } = await start(t, { idleMs: 1 });
  // one that knows this policy only looks for its artifact
  const isNew = async (): Promise<boolean> => {
    const compiled = await compiler.compile(policy({}));
    if (compiled.kind !== 'compiled') throw new Error('it compiles');
    await compiled.stored;
    return 'program' in compiled.steps;
  };
  t.equal(await isNew(), true);
  await until('a second one answers', isNew);
});

/** Processes that this one has started and that are still there: the number and the niceness of every thread. */
async function childrenOf(pid: number): Promise<{ readonly pid: number; readonly nice: readonly number[] }[]> {
  // behind the name, which may hold anything: fields 4 and 19 of proc(5)
  const fields = async (file: string): Promise<string[]> =>
    (await readFile(file, 'utf8').catch(() => '')).replace(/^.*\) /s, '').split(' ');
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    all.map(async (name) => {
      const [state, parent] = await fields(`/proc/${name}/stat`);
      if (Number(parent) !== pid || state === 'Z') return [];
      const threads = await readdir(`/proc/${name}/task`).catch(() => []);
      const nice = await Promise.all(
        threads.map(async (id) => Number((await fields(`/proc/${name}/task/${id}/stat`))[16])),
      );
      return [{ pid: Number(name), nice }];
    }),
  );
  return found.flat();
}
const onLinux = { skip: process.platform !== 'linux' && 'reads /proc' };

t.test('R13: compiling and all that belongs to it give way to whoever answers requests', onLinux, async (t) => {
  const ownPriority = getPriority(); // whoever runs the tests may have given way already
  const { compiler } = await start(t, { threads: 2 });
  const compiled = await compiler.compile(policy({}));
  if (compiled.kind !== 'compiled') throw new Error('it compiles');
  await compiled.stored;
  const [child, ...others] = await childrenOf(process.pid);
  t.same(others, [], 'one process compiles');
  t.ok((child?.nice.length ?? 0) > 4, 'it has threads that V8 and the pool started');
  t.same(
    child?.nice.filter((nice) => nice < 15),
    [],
    'none of them is at the priority of those that serve',
  );
  t.equal(getPriority(), ownPriority, 'this one is as before');
  await compiler.close();
  t.same(await childrenOf(process.pid), [], 'and is gone when it is closed');
});

t.test(
  'R13: one that everybody waits for goes at the common priority until it is told to give way',
  onLinux,
  async (t) => {
    const { compiler } = await start(t, { threads: 2, keepsPriority: true });
    const compiled = await compiler.compile(policy({}));
    if (compiled.kind !== 'compiled') throw new Error('it compiles');
    await compiled.stored;
    const niceOf = async (): Promise<number> => Math.min(...((await childrenOf(process.pid))[0]?.nice ?? [NaN]));
    t.equal(await niceOf(), getPriority());
    compiler.giveWay();
    await until('all its threads give way', async () => (await niceOf()) >= 15);
    await compiler.close();
  },
);

t.test('R13: a compile that needs more memory than it may have is refused with what to do', async (t) => {
  const { compiler } = await start(t, { heapMb: 20 });
  const value = Array.from({ length: 300 }, (_, n) => `word-${n}-${'x'.repeat(20)}`).join(' ');
  const rules = Array.from({ length: 200 }, (_, n) => ({
    id: 1_000_001 + n,
    name: `large ${n}`,
    variable: 'ARGS',
    operator: 'pm',
    value: value.replaceAll('word', `word${n}`),
  }));
  const custom = requireSettings({ custom_rules: rules }).custom_rules;
  const asked = compiler.compile(policy({ custom_rules: custom }));
  await t.rejects(asked, { code: 'apply_refused', status: 422, message: /more than the 20 MiB of memory.*Fewer/s });
});

t.test(
  'R13: one that the system ends is the answer "busy", and the next is compiled by another',
  onLinux,
  async (t) => {
    const { compiler } = await start(t);
    const asked = compiler.compile(policy({}));
    const refused = t.rejects(asked, { code: 'busy', status: 503, message: /short of memory/ });
    await until('it has begun', async () => (await childrenOf(process.pid)).length === 1);
    const [first] = await childrenOf(process.pid);
    process.kill(first?.pid as number, 'SIGKILL');
    await refused;
    t.match(await compiler.compile(policy({})), { kind: 'compiled' });
    t.not((await childrenOf(process.pid))[0]?.pid, first?.pid);
  },
);

t.test('R13: it ends with the process that started it, also where that one is killed', onLinux, async (t) => {
  const directory = await makeDirectory(t, 'compile');
  const options = {
    crsDirectory: await writeRuleSet(t),
    unicodeMapping: null,
    artifactsDirectory: join(directory, 'artifacts'),
    cacheDirectory: join(directory, 'cache'),
    threads: 1,
  };
  const source = [
    `import { createPolicyCompiler } from ${JSON.stringify(new URL('./policy-compiler.js', import.meta.url).href)};`,
    `const compiler = createPolicyCompiler(${JSON.stringify(options)});`,
    `await compiler.compile(${JSON.stringify(policy({}))});`,
    `console.log('compiled');`,
    `setInterval(() => undefined, 1000);`,
  ].join('\n');
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => parent.kill('SIGKILL'));
  await once(parent.stdout, 'data');
  const [child] = await childrenOf(parent.pid as number);
  const pid = child?.pid as number;
  const isThere = (): boolean => existsSync(`/proc/${pid}/exe`);
  t.ok(isThere());
  // one that is at something for ever hears of nothing: stopped here, and running again when it is alone
  process.kill(pid, 'SIGSTOP');
  parent.kill('SIGKILL');
  await once(parent, 'exit');
  process.kill(pid, 'SIGCONT');
  await until('it is gone', () => !isThere());
  t.pass('it is gone');
});

t.test('R13: why it ended is said with what fixes it', async (t) => {
  const heapMb = 2048;
  t.match(errorOfEnd({ code: null, signal: 'SIGABRT', said: 'FATAL ERROR: … JavaScript heap out of memory', heapMb }), {
    code: 'apply_refused',
    message: /2048 MiB/,
  });
  t.match(errorOfEnd({ code: null, signal: 'SIGKILL', said: '', heapMb }), {
    code: 'busy',
    message: /short of memory/,
  });
  t.match(errorOfEnd({ code: 9, signal: null, said: 'one\nlast words\n', heapMb }), {
    message: /with 9: one\nlast words$/,
  });
  t.match(errorOfEnd({ code: null, signal: 'SIGSEGV', said: '', heapMb }), { message: /with SIGSEGV$/ });
});
