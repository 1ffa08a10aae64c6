// The rules of the specification for chains over several applications, and the scopes in which they are asked for.
import t from 'tap';
import { application, chainsOf, engineOf, examples, finding, hopIds, ofKind } from './testing/build.js';
import { chainsAnswer } from './present.js';

const a = application('a', { criticality: 'high' });
const b = application('b', { environment: 'staging', criticality: 'critical' });

t.test('B3 cross-service: two hops, from an internet-facing application to an impact in the same project', (t) => {
  const cross = (from: object, to: object, what: { title: string; cwe: string } = examples.entry): string[] =>
    ofKind(
      chainsOf(
        [application('a', from), application('b', { environment: 'staging', ...to })],
        [finding('1', what), finding('2', { ...examples.impact, applicationId: 'b' })],
      ),
      'cross-service',
    ).map(({ id }) => id);
  t.strictSame(cross({}, {}), ['chain:a:cross-b']);
  t.strictSame(cross({}, {}, examples.execute), ['chain:a:cross-b']);
  t.strictSame(cross({}, {}, examples.credential), ['chain:a:cross-b']);
  for (const what of [examples.privesc, examples.pivot, examples.impact]) t.strictSame(cross({}, {}, what), []);
  t.strictSame(cross({ environment: 'staging' }, {}), [], 'the first has to face the internet');
  t.strictSame(cross({}, { projectId: 'q' }), [], 'another project');
  t.strictSame(cross({ projectId: null }, { projectId: null }), [], 'no project is no common project');
  t.end();
});

t.test('B3 lateral movement: over pivot-capable findings to a crown jewel, at most four applications', (t) => {
  const apps = ['a', 'b', 'c', 'd', 'e'].map((id, index) =>
    application(id, { environment: 'staging', criticality: id === 'e' ? 'critical' : 'low', name: `App ${index}` }),
  );
  const hops = [examples.entry, examples.execute, examples.credential, { title: 'Privileged container', cwe: null }];
  const findings = [
    ...hops.map((what, index) => finding(String(index), { ...what, applicationId: 'abcd'[index] ?? '' })),
    finding('9', { ...examples.impact, applicationId: 'e' }),
  ];
  const answer = chainsOf(apps, findings);
  const lateral = ofKind(answer, 'lateral-movement');
  t.equal(answer.stats.lateral_movement, 12, 'at most twelve, of the thirteen that there are');
  for (const chain of lateral) {
    t.ok(chain.hops.length <= 4);
    t.equal(hopIds(chain).at(-1), '9');
    t.match(chain.id, /^chain:[abc]:lateral-[0-9a-f]{10}$/);
  }
  const path = lateral.find((chain) => hopIds(chain).join('>') === '0>1>2>9');
  t.equal(path?.id, 'chain:a:lateral-9fb0c852ac', 'the hash over the finding ids joined by ">"');
  const without = (change: object): number =>
    ofKind(
      chainsOf([...apps.slice(0, 4), application('e', { environment: null, ...change })], findings),
      'lateral-movement',
    ).length;
  t.equal(without({ criticality: 'high' }), 12);
  t.equal(without({ criticality: 'medium' }), 0, 'no crown jewel');
  t.equal(without({ criticality: 'high', projectId: null }), 0, 'another trust group');
  t.end();
});

t.test('D lateral movement: which findings carry on, and what a jewel without an impact ends with', (t) => {
  const lateral = (start: object, end: object = examples.impact): string[] =>
    ofKind(
      chainsOf(
        [application('a', { environment: null, criticality: null }), b],
        [finding('1', start), finding('2', { ...end, applicationId: 'b' })],
      ),
      'lateral-movement',
    ).map((chain) => hopIds(chain).join('>'));
  for (const what of [examples.entry, examples.execute, examples.credential]) t.strictSame(lateral(what), ['1>2']);
  for (const cwe of ['CWE-79', 'CWE-862', 'CWE-923', 'CWE-639', 'CWE-1321']) t.strictSame(lateral({ cwe }), [], cwe);
  t.strictSame(lateral({ title: 'Privileged container' }), [], 'an escape carries on, and begins nothing');
  t.strictSame(lateral(examples.entry, { cwe: 'CWE-862' }), ['1>2'], 'the best finding where there is no impact');
  t.strictSame(lateral(examples.entry, { title: 'Spelling' }), [], 'no invented hop');
  t.end();
});

t.test('S4 application_id: chains that start there, over siblings that are loaded; its own capabilities', (t) => {
  const engine = engineOf(
    [a, b, application('c')],
    [
      finding('1', examples.entry),
      finding('2', { ...examples.impact, applicationId: 'b' }),
      finding('3', { cwe: 79, applicationId: 'c' }),
    ],
  );
  const answer = chainsAnswer(engine.read({ applicationId: 'a' }));
  t.strictSame(
    answer.chains.map(({ id }) => id),
    ['chain:a:cross-b'],
  );
  t.equal(answer.stats.chains, 1);
  t.equal(answer.stats.capabilities_classified, 1);
  t.strictSame(chainsAnswer(engine.read({ applicationId: 'b' })).chains, []);
  const nothing = chainsAnswer(engine.read({ applicationId: 'unknown' }));
  t.strictSame(nothing.chains, []);
  t.ok(Object.values(nothing.stats).every((count) => count === 0));
  t.end();
});

t.test('S4 internet_only: only production, also as what a chain ends at', (t) => {
  const engine = engineOf(
    [a, b],
    [
      finding('1', examples.entry),
      finding('2', { ...examples.impact, applicationId: 'b' }),
      finding('3', { ...examples.entry, applicationId: 'b' }),
    ],
  );
  t.equal(engine.read().stats.chains, 3, 'from a to b, within b, and from b to a');
  const answer = chainsAnswer(engine.read({ internetOnly: true }));
  t.strictSame(answer.chains, []);
  t.equal(answer.stats.capabilities_classified, 1);
  t.strictSame(engine.read({ internetOnly: true, applicationId: 'b' }).stats.capabilities_classified, 0);
  t.end();
});
