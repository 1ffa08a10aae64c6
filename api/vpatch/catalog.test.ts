// Every entry of the catalogue proves itself: its rule compiles, its requests come out as it says in both engines, and
// none of the rules fires on recorded browsing.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import {
  checkRuleText,
  compileRuleTrial,
  createTrial,
  emitArtifact,
  toRequestHead,
  type TrialRequest,
} from '#compiler';
import { createCompiledInspector, createMemoryStore, hyperscanLibrary, loadRuleset } from '#engine';
import { patchCatalog } from './catalog/index.js';
import { testMsMax } from '../testing/waiting.js';

t.setTimeout(testMsMax);
const range = [1_007_000, 1_007_999] as const;
const whole = patchCatalog.map(({ seclang }) => seclang).join('');
const nowMs = 0;

t.test('entries are complete and proper', async (t) => {
  t.ok(patchCatalog.length >= 60, `${patchCatalog.length} entries`);
  t.equal(new Set(patchCatalog.map(({ id }) => id)).size, patchCatalog.length, 'ids are unique');
  t.equal(new Set(patchCatalog.map(({ cve }) => cve)).size, patchCatalog.length, 'one entry for each CVE');
  for (const { id, cve, cwe, technique, title, product, affected, seclang, tests } of patchCatalog) {
    if (!/^CVE-\d{4}-\d{4,7}$/.test(cve) || !/^CWE-\d+$/.test(cwe) || !/^T\d{4}(\.\d{3})?$/.test(technique))
      t.fail(`${id}: ${cve} ${cwe} ${technique}`);
    if ([title, product, affected].some((text) => text === '' || /["'%\\]/.test(text))) t.fail(`${id}: the texts`);
    if (
      !tests.some(({ expect }) => expect === 'match') ||
      tests.filter(({ expect }) => expect === 'no_match').length < 2
    )
      t.fail(`${id}: needs an attack and two look-alikes`);
    const checked = checkRuleText(seclang, range, cve);
    const problems = checked.diagnostics.filter(({ severity }) => severity !== 'info');
    if (checked.text === null || problems.length > 0 || checked.ids.length !== 1 || checked.ids[0] !== id)
      t.fail(`${id}: ${JSON.stringify(problems)}`);
  }
});

t.test(
  'a condition by the path holds for parameters of segments and for escapes that a server reads twice',
  async (t) => {
    let ran = 0;
    for (const { id, cve, seclang, tests } of patchCatalog) {
      // a condition on the target as it was sent is about its spelling
      if (!seclang.includes('|PATH_READINGS:path') || /REQUEST_(?:FILENAME|URI\w*) /.test(seclang)) continue;
      const { program } = compileRuleTrial({ path: cve, text: seclang });
      if (program === null) throw new Error(`${cve} does not compile`);
      const trial = createTrial(program, nowMs);
      for (const test of tests.filter(({ expect }) => expect === 'match')) {
        const [path = '', query] = test.uri.split(/\?(.*)/s);
        const spelled = [
          `/;v=1${path}`,
          `/x/..;/${path.slice(1)}`,
          path.replace(/[a-z](?=[^/]*$)/i, (one) => `%25${hex(one)}`),
        ];
        for (const uri of spelled.map((one) => (query === undefined ? one : `${one}?${query}`))) {
          const { matched } = trial.run({ ...test, uri });
          if (!matched.some((one) => one.id === id)) t.fail(`${id} ${cve} "${test.name}" as ${uri}`);
          ran++;
        }
      }
    }
    t.ok(ran > 60, `${ran} requests`);
  },
);

const hex = (letter: string): string => letter.charCodeAt(0).toString(16);

t.test('the interpreter: every request comes out as its entry says, each rule alone', async (t) => {
  let ran = 0;
  for (const { id, cve, seclang, tests } of patchCatalog) {
    const { program, diagnostics } = compileRuleTrial({ path: cve, text: seclang });
    if (program === null) {
      t.fail(`${cve}: ${JSON.stringify(diagnostics)}`);
      continue;
    }
    const trial = createTrial(program, nowMs);
    for (const test of tests) {
      const outcome = trial.run(test);
      const matched = outcome.matched.some((one) => one.id === id);
      if (matched !== (test.expect === 'match'))
        t.fail(`${id} ${cve} "${test.name}": expected ${test.expect}`, {
          matched: outcome.matched.map((one) => one.id),
        });
      else if (matched && (outcome.kind !== 'block' || outcome.status !== 403))
        t.fail(`${cve} "${test.name}" was not blocked`);
      ran += 1;
    }
  }
  t.equal(
    ran,
    patchCatalog.reduce((sum, { tests }) => sum + tests.length, 0),
    `${ran} requests ran`,
  );
});

t.test('the compiled engine with all patches at once', async (t) => {
  const { program, diagnostics } = compileRuleTrial({ path: 'catalogue', text: whole });
  if (program === null) return void t.fail(JSON.stringify(diagnostics));
  const inspector = createCompiledInspector(loadRuleset((await emitArtifact(program)).bytes, hyperscanLibrary()));
  const fired = (request: TrialRequest): readonly number[] => {
    const { head, body } = toRequestHead(request);
    const transaction = inspector.begin(head, { uniqueId: 'x', nowMs, store: createMemoryStore() });
    if (inspector.requestHeaders(transaction) === null) inspector.requestBody(transaction, body);
    return inspector
      .finish(transaction)
      .matched.map(({ rule }) => rule.id)
      .filter((id) => id >= range[0]);
  };
  await t.test('the entries', async (t) => {
    let ran = 0;
    for (const { id, cve, tests } of patchCatalog) {
      for (const test of tests) {
        const ids = fired(test);
        // a neighbour's patch may stop an attack first: patches deny
        if (test.expect === 'match' ? ids.length === 0 : ids.includes(id))
          t.fail(`${id} ${cve} "${test.name}": expected ${test.expect}, fired ${ids.join(' ') || 'nothing'}`);
        ran += 1;
      }
    }
    t.ok(ran >= 180, `${ran} requests ran`);
  });
  const shared =
    process.env['GATEHOUSE_SHARED'] ?? join(fileURLToPath(new URL('.', import.meta.url)), '../../../../shared');
  const corpus = join(shared, 'corpora/traffic/benign.jsonl');
  await t.test('recorded browsing', { skip: existsSync(corpus) ? false : 'the corpora are not here' }, async (t) => {
    const hits: string[] = [];
    let ran = 0;
    for (const line of readFileSync(corpus, 'utf8').split('\n')) {
      if (line === '') continue;
      const row = JSON.parse(line) as TrialRequest & { id: string; body_b64?: string };
      const body = row.body_b64 === undefined ? (row.body ?? '') : Buffer.from(row.body_b64, 'base64').toString('utf8');
      const ids = fired({
        ...row,
        body,
        headers: row.headers.filter(([name]) => name.toLowerCase() !== 'content-length'),
      });
      if (ids.length > 0) hits.push(`${row.id}: ${ids.join(' ')} ${row.method} ${row.uri.slice(0, 120)}`);
      ran += 1;
    }
    t.same(hits, [], `${ran} requests`);
    t.equal(ran, 5821, 'all of them ran');
  });
});
