// Fix ranking: what a fix breaks is what working everything out again without the finding says.
import t from 'tap';
import { rankFixes } from './fix-ranking.js';
import { application, engineOf, examples, finding } from './testing/build.js';

const apps = [application('a'), ...['b', 'c'].map((id) => application(id, { environment: 'staging' }))];
const impacts = ['b', 'c'].map((id) => finding(`${id}1`, { cwe: 639, applicationId: id }));

t.test('F1: the finding at which chains meet comes first', (t) => {
  const findings = [finding('a1', { ...examples.entry, reachable: true }), ...impacts];
  const engine = engineOf(apps, findings);
  t.equal(engine.read().stats.chains, 2);
  const [first, ...others] = rankFixes(engine);
  t.match(first, { chains: 2, dangerChains: 2, listed: 2, reformed: 0, maxChainRisk: [Number, 0] });
  t.equal(first?.hop.finding.id, 'a1');
  t.strictSame(
    others.map(({ hop, chains }) => [hop.finding.id, chains]),
    [
      ['b1', 1],
      ['c1', 1],
    ],
  );
  t.end();
});

t.test('F1: where another finding takes the place, the chains come back and the fix says so', (t) => {
  const spare = finding('a2', { cwe: 89, riskScore: 40 });
  const engine = engineOf(apps, [finding('a1', { ...examples.entry, reachable: true }), spare, ...impacts]);
  const fixes = rankFixes(engine);
  const entry = fixes.find(({ hop }) => hop.finding.id === 'a1');
  t.match(entry, { chains: 0, dangerChains: 2, listed: 2, reformed: 2 });
  t.not(fixes[0]?.hop.finding.id, 'a1', 'fixing one of the impacts breaks more');
  t.end();
});

t.test('F1: no chains, nothing to fix; a scope ranks its own', (t) => {
  t.strictSame(rankFixes(engineOf(apps, [])), []);
  const engine = engineOf(apps, [finding('a1', examples.entry), ...impacts]);
  t.strictSame(rankFixes(engine, { applicationId: 'b' }), []);
  t.equal(rankFixes(engine, { applicationId: 'a' }, 1).length, 1);
  t.end();
});
