// The engine against a slow and plain second implementation (testing/slow-chains.ts) on random organisations, and what
// has to hold of every answer. CHAIN_ORGANISATIONS (default 300) and SEED make it a soak; `make fuzz` runs 20,000.
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { ChainEngine, type ChainScope } from './engine.js';
import type { ChainApplication, ChainFinding } from './finding.js';
import type { RankedChains } from './group.js';
import { chainAnswer, chainsAnswer } from './present.js';
import { stageRank } from './classification/stages.js';
import { organisations } from './testing/organisations.js';
import { slowChains, type Organisation } from './testing/slow-chains.js';

const seed = Number(process.env['SEED'] ?? 20_261_122);
const numRuns = Number(process.env['CHAIN_ORGANISATIONS'] ?? 300);
const settings = { seed, numRuns };

function engineOf({ applications, findings }: Organisation, withPack = false): ChainEngine {
  const engine = new ChainEngine({ withPack });
  for (const application of applications)
    engine.set(
      application,
      findings.filter(({ applicationId }) => applicationId === application.id),
    );
  return engine;
}
const answerOf = (ranked: RankedChains): unknown => ({
  ...chainsAnswer(ranked),
  byScore: ranked.byScore.map(chainAnswer),
});

t.test('the engine answers what the plain implementation answers, in every scope', (t) => {
  fc.assert(
    fc.property(organisations, fc.boolean(), (organisation, withPack) => {
      const engine = engineOf(organisation, withPack);
      const scopes: ChainScope[] = [{}, { internetOnly: true }];
      for (const { id } of organisation.applications) scopes.push({ applicationId: id });
      for (const scope of scopes)
        t.strictSame(answerOf(engine.read(scope)), slowChains(organisation, { ...scope, withPack }));
      return t.passing();
    }),
    settings,
  );
  t.end();
});

t.test('the order of applications and findings changes nothing', (t) => {
  fc.assert(
    fc.property(
      organisations.chain((organisation) =>
        fc.tuple(
          fc.constant(organisation),
          fc.shuffledSubarray([...organisation.applications], { minLength: organisation.applications.length }),
          fc.shuffledSubarray([...organisation.findings], { minLength: organisation.findings.length }),
        ),
      ),
      ([organisation, applications, findings]) => {
        const one = JSON.stringify(answerOf(engineOf(organisation).read()));
        const other = JSON.stringify(answerOf(engineOf({ applications, findings }).read()));
        t.equal(one, other);
        return t.passing();
      },
    ),
    settings,
  );
  t.end();
});

/** What has to hold of every answer, whatever the organisation. */
function checkAnswer(t: Test, organisation: Organisation): void {
  const findings = new Map(organisation.findings.map((finding) => [finding.id, finding]));
  const applications = new Map(organisation.applications.map((application) => [application.id, application]));
  const ranked = engineOf(organisation, true).read();
  const { chains, stats } = chainsAnswer(ranked);
  t.ok(chains.length <= 40 && chains.length === Math.min(40, stats.chains), 'at most 40, and no fewer than there are');
  t.equal(new Set(chains.map(({ id }) => id)).size, chains.length, 'identifiers are unique');
  const sets = chains.map(({ hops }) => JSON.stringify(hops.map(({ vuln_id }) => vuln_id).sort()));
  t.equal(new Set(sets).size, chains.length, 'no two chains have the same hops');
  t.ok(stats.lateral_movement <= 12, 'at most twelve paths of lateral movement');
  for (const chain of chains) {
    const owners = chain.hops.map(({ vuln_id }) => findings.get(vuln_id)?.applicationId ?? 'invented');
    t.ok(chain.hops.length >= 2 && owners.every((owner) => applications.has(owner)), 'every hop is a finding');
    t.equal(owners[0], chain.app.id, 'the chain runs on the application of its first hop');
    t.ok(Number.isInteger(chain.score) && chain.score >= 0 && chain.score <= 100, `score ${chain.score}`);
    t.equal(chain.runtime_proven, chain.proven_hops > 0);
    t.equal(chain.proven_hops, chain.hops.filter(({ confirmed }) => confirmed).length);
    t.equal('pivot_to' in chain, chain.kind === 'cross-service');
    const ranks = chain.hops.map(({ stage }) => stageRank(stage));
    const counted = chain.kind === 'lateral-movement' ? ranks.slice(0, -1) : ranks;
    t.strictSame(
      counted,
      [...counted].sort((a, b) => a - b),
      'hops stand in the order of escalation',
    );
    if (chain.danger) t.ok(chain.app.internet_facing && (chain.hops[0]?.reachable || chain.hops[0]?.confirmed));
    const projects = new Set(owners.map((owner) => applications.get(owner)?.projectId ?? `none ${owner}`));
    t.equal(projects.size, 1, 'a chain stays within one project');
    const distinct = new Set(owners).size;
    if (chain.kind === 'cross-service') t.equal(distinct === 2 && chain.hops.length === 2, true);
    if (chain.kind === 'lateral-movement') {
      t.ok(distinct === owners.length && distinct <= 4);
      t.match(applications.get(owners.at(-1) ?? '')?.criticality, /critical|high/, 'it ends at a crown jewel');
    }
    if (chain.kind === 'kill-chain') t.equal(new Set(ranks).size, ranks.length);
  }
}

t.test('what holds of every answer: real hops, bounds, order, one project', (t) => {
  fc.assert(
    fc.property(organisations, (organisation) => {
      checkAnswer(t, organisation);
      return t.passing();
    }),
    settings,
  );
  t.end();
});

t.test('a change costs the same answer as a new beginning', (t) => {
  const changes = fc.array(fc.tuple(fc.nat(6), fc.nat(4)), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(organisations, organisations, changes, (first, second, steps) => {
      const engine = engineOf(first);
      const now = new Map<string, [ChainApplication, ChainFinding[]]>();
      const put = (application: ChainApplication, findings: readonly ChainFinding[]): void => {
        const own = findings.filter(({ applicationId }) => applicationId === application.id);
        now.set(application.id, [application, own]);
        engine.set(application, own);
      };
      for (const application of first.applications) put(application, first.findings);
      for (const [which, what] of steps) {
        engine.read({ internetOnly: what % 2 === 0 });
        const application = second.applications[which % second.applications.length] as ChainApplication;
        if (what > 0) put(application, second.findings);
        else if (now.delete(application.id)) engine.remove(application.id);
      }
      const organisation = {
        applications: [...now.values()].map(([application]) => application),
        findings: [...now.values()].flatMap(([, findings]) => findings),
      };
      for (const scope of [{}, { internetOnly: true }])
        t.strictSame(answerOf(engine.read(scope)), slowChains(organisation, scope));
      return t.passing();
    }),
    settings,
  );
  t.end();
});

t.test('who sees a part gets the chains of an organisation that has no other part', (t) => {
  fc.assert(
    fc.property(organisations, fc.nat(127), (organisation, mask) => {
      const seen = organisation.applications.filter((_, index) => (mask >> index) % 2 === 1);
      const isVisible = (id: string): boolean => seen.some((application) => application.id === id);
      const visible = {
        applications: seen,
        findings: organisation.findings.filter(({ applicationId }) => isVisible(applicationId)),
      };
      const engine = engineOf(organisation);
      for (const internetOnly of [false, true])
        t.strictSame(answerOf(engine.read({ isVisible, internetOnly })), slowChains(visible, { internetOnly }));
      return t.passing();
    }),
    settings,
  );
  t.end();
});

t.test('leaving findings out is the organisation without them; leaving out none changes nothing', (t) => {
  fc.assert(
    fc.property(
      organisations.chain((organisation) =>
        fc.tuple(fc.constant(organisation), fc.subarray([...organisation.findings])),
      ),
      ([organisation, gone]) => {
        const engine = engineOf(organisation);
        const before = answerOf(engine.read());
        t.strictSame(answerOf(engine.without([])), before);
        const left = organisation.findings.filter((finding) => !gone.includes(finding));
        t.strictSame(
          answerOf(engine.without(gone)),
          slowChains({ applications: organisation.applications, findings: left }),
        );
        t.strictSame(answerOf(engine.read()), before, 'the question changes nothing');
        return t.passing();
      },
    ),
    settings,
  );
  t.end();
});
