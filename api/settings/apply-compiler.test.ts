import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { writeRuleSet } from '../testing/rule-set.js';
import { artifactPath } from './apply-artifacts.js';
import { createPolicyCompiler, type PolicyCompiler, type PolicyCompilerOptions } from './apply-compiler.js';

t.setTimeout(120_000);

async function start(t: Test, changes: Partial<PolicyCompilerOptions> = {}): Promise<{ compiler: PolicyCompiler; artifacts: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-compile-'));
  const artifacts = join(directory, 'artifacts');
  const compiler = createPolicyCompiler({ crsDirectory: await writeRuleSet(t), unicodeMapping: null, artifactsDirectory: artifacts, cacheDirectory: join(directory, 'cache'), threads: 1, ...changes });
  t.teardown(async () => {
    await compiler.close();
    await rm(directory, { recursive: true, force: true });
  });
  return { compiler, artifacts };
}
const policy = (waf: object) => ({ waf, exclusions: [] });

t.test('equal policies are one artifact, others another', async (t) => {
  const { compiler, artifacts } = await start(t);
  const [one, again, other] = await Promise.all([compiler.compile(policy({})), compiler.compile(policy({ mode: 'On' })), compiler.compile(policy({ mode: 'DetectionOnly' }))]);
  if (one.kind !== 'compiled' || again.kind !== 'compiled' || other.kind !== 'compiled') throw new Error('they compile');
  t.equal(one.sha256, again.sha256);
  t.not(one.sha256, other.sha256);
  t.same((await readdir(artifacts)).sort(), [one.sha256, other.sha256].sort());
  await rm(artifactPath(artifacts, one.sha256));
  t.match(await compiler.compile(policy({})), { kind: 'compiled', sha256: one.sha256 });
  t.ok((await readdir(artifacts)).includes(one.sha256), 'one that was deleted is made again');
  t.match(await compiler.replay({ beforeSha256: one.sha256, beforeSites: [], afterSha256: 'f'.repeat(64), afterSites: [], samples: [], examplesMax: 1, budgetMs: 1 }), null);
});

t.test('what is wrong is a result with its place', async (t) => {
  const { compiler } = await start(t);
  t.match(await compiler.compile(policy({ paranoia_level: 9 })), { kind: 'refused', diagnostics: [{ severity: 'error', path: '/paranoia_level', code: 'GH-C7001' }] });
  t.match(await compiler.compile(policy({ categories: { sqli: { excluded_paths: ['no slash'] } } })), { kind: 'refused', diagnostics: [{ path: '/categories/sqli/path_exclusions/0' }] });
  const none = await start(t, { crsDirectory: join(tmpdir(), 'there-is-no-such-directory') });
  t.match(await none.compiler.compile(policy({})), { kind: 'refused', diagnostics: [{ code: 'GH-C7003' }] });
});

t.test('diagnostics of the rule set have file, line, column and an excerpt', async (t) => {
  const crsDirectory = await writeRuleSet(t);
  await writeFile(join(crsDirectory, 'rules', 'REQUEST-999-BROKEN.conf'), '# a comment\nSecRule ARGS "@nosuch x" "id:999001,phase:2,pass"\n');
  const { compiler } = await start(t, { crsDirectory });
  t.match(await compiler.compile(policy({})), { kind: 'refused', diagnostics: [{ severity: 'error', file: 'crs/rules/REQUEST-999-BROKEN.conf', line: 2, column: /^\d+$/, excerpt: /@nosuch/, path: null }] });
});

t.test('a thread that takes too long is given up; one that is closed answers nobody', async (t) => {
  const slow = await start(t, { timeoutMs: 1 });
  await t.rejects(slow.compiler.compile(policy({})), /took longer/);
  await t.rejects(slow.compiler.compile(policy({})), /took longer/, 'and the next one begins a thread of its own');
  const { compiler } = await start(t);
  const asked = compiler.compile(policy({}));
  await Promise.all([t.rejects(asked, /closing/), compiler.close()]);
  await t.rejects(compiler.compile(policy({})), /closing/, 'closed stays closed: nobody would end a thread begun now');
});
