// Results without a level of rules that a run has set otherwise, rules that it had turned off, and results that name
// nothing but the file that was looked at.
import t from 'tap';
import { startTestApp } from '#api/testing/app';
import { onEmbeddedDatabase } from '#api/testing/databases';
import { Client } from '../../../testing/import-client.js';
import { found, run, sarif } from '../../../testing/reports-of-scopes.js';

const rule = (id: string, level = 'note', more: object = {}) => ({ id, defaultConfiguration: { level, ...more } });
const driver = { name: 'checker', rules: [rule('R0'), rule('R1'), { ...rule('R2'), guid: 'AB-2' }] };
const pack = { name: 'pack', rules: [rule('P0'), rule('R1')] };
const said = (descriptor: object, configuration: object) => ({ descriptor, configuration });
const invocation = (...ruleConfigurationOverrides: object[]) => ({
  executionSuccessful: true,
  ruleConfigurationOverrides,
});
const report = (invocations: object[], ...results: object[]) =>
  sarif({ tool: { driver, extensions: [pack] }, invocations, results });
const { level: _, ...unrated } = found('R1');
const of = (more: object = {}) => ({ ...unrated, ...more });
const error = { level: 'error' };

/** What it shows → the invocations of the run, the result, its severity. */
const levels: readonly (readonly [what: string, invocations: object[], result: object, severity: string])[] = [
  ['no override', [invocation()], of(), 'low'],
  ['by id', [invocation(said({ id: 'R1' }, error))], of(), 'high'],
  ['by index', [invocation(said({ index: 1 }, error))], of(), 'high'],
  ['by guid', [invocation(said({ guid: 'ab-2' }, error))], of({ ruleId: 'R2' }), 'high'],
  ['of another rule', [invocation(said({ index: 2 }, error))], of(), 'low'],
  [
    'of an extension, by name',
    [invocation(said({ index: 0, toolComponent: { name: 'pack' } }, error))],
    of({ ruleId: 'P0' }),
    'high',
  ],
  [
    'of an extension, by index',
    [invocation(said({ id: 'P0', toolComponent: { index: 0 } }, error))],
    of({ ruleId: 'P0' }),
    'high',
  ],
  ['of the same id in an extension', [invocation(said({ id: 'R1', toolComponent: { index: 0 } }, error))], of(), 'low'],
  [
    'the result is of the extension',
    [invocation(said({ id: 'R1', toolComponent: { index: 0 } }, error))],
    of({ rule: { index: 1, toolComponent: { index: 0 } } }),
    'high',
  ],
  ['an id that is not listed', [invocation(said({ id: 'X' }, error))], of({ ruleId: 'X' }), 'high'],
  ['of a part of the rule', [invocation(said({ id: 'R1/a' }, error))], of({ ruleId: 'R1/a' }), 'high'],
  ['of another part of it', [invocation(said({ id: 'R1/a' }, error))], of({ ruleId: 'R1/b' }), 'low'],
  ['of the whole', [invocation(said({ id: 'R1' }, error))], of({ ruleId: 'R1/b' }), 'high'],
  ['downwards', [invocation(said({ id: 'R1' }, { level: 'none' }))], of(), 'info'],
  ['a level of its own', [invocation(said({ id: 'R1' }, error))], of({ level: 'note' }), 'low'],
  ['without a level', [invocation(said({ id: 'R1' }, { enabled: true }))], of(), 'low'],
  ['one of two invocations', [invocation(), invocation(said({ id: 'R1' }, error))], of(), 'high'],
  [
    'the invocation that it names',
    [invocation(), invocation(said({ id: 'R1' }, error))],
    of({ provenance: { invocationIndex: 0 } }),
    'low',
  ],
  [
    'one that is not there',
    [invocation(said({ id: 'R1' }, error))],
    of({ provenance: { invocationIndex: 7 } }),
    'high',
  ],
  ['twice', [invocation(said({ id: 'R1' }, error), said({ id: 'R1' }, { level: 'note' }))], of(), 'high'],
  ['a word that is none', [invocation(said({ id: 'R1' }, { level: 'terrible' }))], of(), 'high'],
  [
    'a score counts before',
    [invocation(said({ id: 'R1' }, error))],
    of({ properties: { 'security-severity': '9.9' } }),
    'critical',
  ],
];

void onEmbeddedDatabase(t, 'a result without a level has that of its rule as it ran', async (t, database) => {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  for (const [what, invocations, result, severity] of levels) {
    const app = await client.application();
    await client.send(app, report(invocations, result), { commit: 'c', mode: 'sync' });
    t.match(await client.findings(app), [{ severity }], what);
    const { body } = await client.call('POST', '/gate/evaluate', { application_id: app, commit: 'c' });
    t.equal(body['exit_code'], ['info', 'low'].includes(severity) ? 0 : 1, `${what}: the gate`);
  }
  const risks: number[] = [];
  for (const rank of [60, 95]) {
    const app = await client.application();
    await client.send(app, report([invocation(said({ id: 'R1' }, { ...error, rank }))], of()));
    risks.push((await client.findings(app))[0]?.['risk_score'] as number);
  }
  t.ok((risks[0] ?? 0) < (risks[1] ?? 0), `its rank, too: ${risks.join(' < ')}`);
});

const offByDefault = { ...driver, rules: [rule('R0'), rule('R1', 'error', { enabled: false })] };
/** What it shows → a later run without the result, whether its silence closes the finding. */
const silences: readonly (readonly [what: string, run: object, closed: number])[] = [
  ['the rule ran', { tool: { driver }, invocations: [invocation()] }, 1],
  ['turned off', { tool: { driver }, invocations: [invocation(said({ id: 'R1' }, { enabled: false }))] }, 0],
  ['another one off', { tool: { driver }, invocations: [invocation(said({ id: 'R0' }, { enabled: false }))] }, 1],
  [
    'off by default',
    { tool: { driver: offByDefault }, invocations: [invocation(said({ id: 'R0' }, { level: 'note' }))] },
    0,
  ],
  [
    'off by default, turned on',
    { tool: { driver: offByDefault }, invocations: [invocation(said({ id: 'R1' }, { enabled: true }))] },
    1,
  ],
  ['off by default, of a writer without overrides', { tool: { driver: offByDefault } }, 1],
];

void onEmbeddedDatabase(t, 'a rule that was off proves nothing', async (t, database) => {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  for (const [what, later, closed] of silences) {
    const app = await client.application();
    await client.send(app, report([invocation()], found('R1')), { mode: 'sync' });
    const { body } = await client.send(app, sarif({ ...later, results: [] }), { mode: 'sync' });
    t.match(body['report'], { complete: true, closed, unverified_absence: 1 - closed }, what);
  }
});

const { locations: _none, ...placeless } = found('R1');
const target = (uri: string, more: object = {}) => ({ ...placeless, analysisTarget: { uri }, ...more });
/** What it shows → results, and where they are. */
const targets: readonly (readonly [what: string, results: object[], places: string[]])[] = [
  ['no location', [target('a.dll'), target('b.dll')], ['a.dll', 'b.dll']],
  ['an empty list', [target('a.dll', { locations: [] }), target('b.dll', { locations: [] })], ['a.dll', 'b.dll']],
  ['a location that says nothing', [target('a.dll', { locations: [{}] })], ['a.dll']],
  ['a location of its own', [{ ...found('R1', 'a.cs'), analysisTarget: { uri: 'a.dll' } }], ['a.cs:3']],
  ['neither', [placeless], ['unknown']],
];

void onEmbeddedDatabase(t, 'the file that was looked at is the place where no location is', async (t, database) => {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  for (const [what, results, places] of targets) {
    const app = await client.application();
    const { body } = await client.send(app, sarif(run('checker', results)));
    t.match(body['report'], { created: places.length, duplicates_in_file: 0 }, what);
    const all = await client.findings(app);
    t.same(all.map(({ location }) => location as string).sort(), places, what);
  }
});
