// The rules, numbers and examples of the specification's chain part, one named test each: S sections, B build rules,
// L limits, D decisions of the issue.
import t from 'tap';
import { application, chainsOf, engineOf, examples, finding, hopIds, ofKind } from './testing/build.js';

const a = application('a', { criticality: 'high' });
const b = application('b', { environment: 'staging', criticality: 'critical' });

t.test('S2 chain: exactly the fields of the specification', (t) => {
  const { chains, stats } = chainsOf(
    [a, b],
    [
      finding('1', { ...examples.entry, reachable: true, location: 'GET /preview' }),
      finding('2', { ...examples.impact, applicationId: 'b', exploitConfirmed: true }),
      finding('3', examples.privesc),
    ],
  );
  const cross = chains.find(({ kind }) => kind === 'cross-service');
  t.strictSame(cross, {
    id: 'chain:a:cross-b',
    name: 'Entry on App a → Impact on App b',
    kind: 'cross-service',
    app: { id: 'a', name: 'App a', environment: 'prod', criticality: 'high', internet_facing: true },
    pivot_to: { id: 'b', name: 'App b', criticality: 'critical' },
    score: 80,
    danger: true,
    proven_hops: 1,
    runtime_proven: true,
    hops: [
      {
        vuln_id: '1',
        title: 'Server-side request forgery',
        severity: 'high',
        stage: 'entry',
        stage_label: 'Entry',
        technique: 'Exploit Public-Facing Application',
        mitre: 'T1190',
        reachable: true,
        confirmed: false,
        score: 70,
        location: 'GET /preview',
      },
      {
        vuln_id: '2',
        title: 'Public bucket',
        severity: 'high',
        stage: 'impact',
        stage_label: 'Impact',
        technique: 'Data from Cloud Storage',
        mitre: 'T1530',
        reachable: false,
        confirmed: true,
        score: 70,
        location: null,
      },
    ],
    mitre: ['T1190', 'T1530'],
  });
  for (const chain of chains)
    t.strictSame(
      Object.keys(chain).filter((key) => key !== 'pivot_to'),
      ['id', 'name', 'kind', 'app', 'score', 'danger', 'proven_hops', 'runtime_proven', 'hops', 'mitre'],
    );
  t.strictSame(Object.keys(stats), [
    'chains',
    'danger_chains',
    'toxic_combinations',
    'cross_service',
    'lateral_movement',
    'runtime_proven_chains',
    'capabilities_classified',
    'max_chain_risk',
  ]);
  t.strictSame(stats, {
    chains: 2,
    danger_chains: 2,
    toxic_combinations: 0,
    cross_service: 1,
    lateral_movement: 0,
    runtime_proven_chains: 1,
    capabilities_classified: 3,
    max_chain_risk: 80,
  });
  t.end();
});

t.test('S2 risk: the override where there is one, also 0, else the score', (t) => {
  const scores = (more: object): number[] =>
    chainsOf([a], [finding('1', { ...examples.entry, ...more }), finding('2', examples.impact)]).chains[0]?.hops.map(
      ({ score }) => score,
    ) ?? [];
  t.strictSame(scores({ riskScore: 30, riskOverride: 0 }), [0, 70]);
  t.strictSame(scores({ riskScore: 30, riskOverride: 95 }), [95, 70]);
  t.strictSame(scores({ riskScore: 30.5 }), [31, 70]);
  t.strictSame(scores({ riskScore: null, severity: 'critical' }), [90, 70]);
  t.strictSame(scores({ riskScore: 1000 }), [100, 70]);
  t.end();
});

t.test('S3 danger: an internet-facing application and an entry hop that is reachable or proven', (t) => {
  const danger = (environment: string | null, more: object): boolean | undefined =>
    chainsOf(
      [application('a', { environment })],
      [finding('1', { ...examples.entry, ...more }), finding('2', { ...examples.impact, reachable: true })],
    ).chains[0]?.danger;
  for (const environment of ['prod', 'PROD', ' production ']) {
    t.equal(danger(environment, { reachable: true }), true, environment);
    t.equal(danger(environment, { exploitConfirmed: true }), true);
    t.equal(danger(environment, { runtimeConfirmed: true }), true, 'runtime proof counts');
    t.equal(danger(environment, {}), false, 'reachability unproven: theoretical, whatever the other hops are');
  }
  for (const environment of ['staging', 'preprod', '', null]) t.equal(danger(environment, { reachable: true }), false);
  t.end();
});

t.test('S3 toxic: each of the four named rules fires where its capabilities meet on one application', (t) => {
  const rules: [slug: string, titles: [string, string | null][]][] = [
    [
      'ssrf-metadata-iam',
      [
        ['SSRF', 'CWE-918'],
        ['Metadata service answers', null],
        ['IAM wildcard', 'CWE-732'],
      ],
    ],
    [
      'ssrf-metadata-iam',
      [
        ['SSRF to the metadata service', 'CWE-918'],
        ['IAM wildcard', 'CWE-732'],
      ],
    ],
    [
      'public-object-storage',
      [
        ['Personal data exposed', 'CWE-359'],
        ['Public bucket', 'CWE-732'],
      ],
    ],
    [
      'public-object-storage',
      [
        ['Open redirect', 'CWE-601'],
        ['Public bucket', 'CWE-732'],
      ],
    ],
    [
      'container-escape',
      [
        ['Command injection', 'CWE-78'],
        ['Privileged container', 'CWE-250'],
      ],
    ],
    [
      'injection-exec-data',
      [
        ['SQL injection', 'CWE-89'],
        ['Command injection', 'CWE-78'],
        ['Hard-coded password', 'CWE-798'],
      ],
    ],
    [
      'injection-exec-data',
      [
        ['SQL injection', 'CWE-89'],
        ['Deserialisation', 'CWE-502'],
        ['Orders of others', 'CWE-639'],
      ],
    ],
  ];
  for (const [slug, titles] of rules) {
    const findings = titles.map(([title, cwe], index) => finding(String(index), { title, cwe }));
    for (const environment of ['prod', 'staging', null]) {
      const answer = chainsOf([application('a', { environment })], findings);
      const toxic = ofKind(answer, 'toxic-combination');
      t.strictSame(
        toxic.map(({ id }) => id),
        [`chain:a:toxic-${slug}`],
        `${slug} in ${environment}`,
      );
      t.equal(answer.stats.toxic_combinations, 1);
    }
    for (const left of findings) {
      const fewer = ofKind(
        chainsOf(
          [a],
          findings.filter((one) => one !== left),
        ),
        'toxic-combination',
      );
      t.notOk(
        fewer.some(({ id }) => id === `chain:a:toxic-${slug}`),
        `${slug} without ${left.title}`,
      );
    }
  }
  t.end();
});

t.test('D toxic: a public bucket alone does not fire; capabilities of two applications do not meet', (t) => {
  t.strictSame(ofKind(chainsOf([a], [finding('1', examples.impact)]), 'toxic-combination'), []);
  const apart = [finding('1', examples.execute), finding('2', { title: 'Privileged container', applicationId: 'b' })];
  t.strictSame(ofKind(chainsOf([a, b], apart), 'toxic-combination'), []);
  t.end();
});

t.test('D toxic: the further rules are a pack that is off by default', (t) => {
  const findings = [finding('1', { cwe: 347, title: 'JWT' }), finding('2', { cwe: 862, title: 'Admin' })];
  t.strictSame(ofKind(chainsOf([a], findings), 'toxic-combination'), []);
  t.equal(ofKind(chainsOf([a], findings, true), 'toxic-combination')[0]?.id, 'chain:a:toxic-token-forgery-admin');
  t.end();
});

t.test('D hops stand in the order of escalation, also where a rule names the impact first', (t) => {
  const [chain] = ofKind(
    chainsOf([a], [finding('1', examples.impact), finding('2', examples.entry), finding('3', examples.credential)]),
    'toxic-combination',
  );
  t.strictSame(
    chain?.hops.map(({ stage }) => stage),
    ['entry', 'credential', 'impact'],
  );
  t.end();
});

t.test('B1 L: the forty open findings of the highest priority, before they are classified', (t) => {
  const many = Array.from({ length: 40 }, (_, index) =>
    finding(String(index), { title: 'Identifier is misspelt', priorityScore: 90, riskScore: 10 }),
  );
  const pair = [examples.entry, examples.impact].map((what, index) =>
    finding(`z${index}`, { ...what, priorityScore: 89, riskScore: 100 }),
  );
  t.strictSame(chainsOf([a], [...many, ...pair]).chains, [], 'a higher risk does not bring a finding in');
  t.equal(chainsOf([a], [...many.slice(2), ...pair]).chains.length, 1, 'the 39th and 40th count');
  t.equal(chainsOf([a], [...many.slice(1), ...pair]).chains.length, 0, 'the 41st does not');
  const closed = many.map((one) => ({ ...one, status: 'resolved' }));
  t.equal(chainsOf([a], [...closed, ...pair]).chains.length, 1, 'closed findings take no place');
  const unranked = pair.map((one) => ({ ...one, priorityScore: null }));
  t.equal(chainsOf([a], [...many.slice(1), ...unranked]).chains.length, 0, 'findings without a priority come last');
  t.end();
});

t.test('B1 open: closed, muted and accepted findings are no hops', (t) => {
  const chains = (status: string): number =>
    chainsOf([a], [finding('1', { ...examples.entry, status }), finding('2', examples.impact)]).chains.length;
  for (const status of ['new', 'triaged', 'confirmed', 'in_progress', 'fix_pending', 'reopened'])
    t.equal(chains(status), 1, status);
  for (const status of ['resolved', 'false_positive', 'duplicate', 'risk_accepted', 'muted', 'out_of_scope', 'x'])
    t.equal(chains(status), 0, status);
  t.end();
});

t.test('B3 kill chain: the best finding of each populated stage, from two stages on', (t) => {
  const findings = [
    finding('e1', { ...examples.entry, riskScore: 60 }),
    finding('e2', { ...examples.entry, riskScore: 80 }),
    finding('x1', { ...examples.execute, riskScore: 50 }),
    finding('i1', { ...examples.impact, riskScore: 40 }),
    finding('i2', { ...examples.impact, riskScore: 40, reachable: true }),
    finding('p1', { ...examples.pivot, riskScore: 1 }),
  ];
  const [chain] = ofKind(chainsOf([a], findings), 'kill-chain');
  t.equal(chain?.id, 'chain:a:kill-chain');
  t.equal(chain?.name, 'Entry → Execution → Pivot → Impact on App a');
  t.strictSame(hopIds(chain), ['e2', 'x1', 'p1', 'i2']);
  t.strictSame(chain?.mitre, ['T1190', 'T1059', 'T1210', 'T1530'], 'in the order of hops');
  const same = [finding('1', examples.entry), finding('2', examples.entry)];
  t.strictSame(chainsOf([a], same), { chains: [], stats: { ...chainsOf([a], []).stats, capabilities_classified: 2 } });
  t.end();
});

t.test('B3 best of a stage: risk, then proof, reachability, priority, and the smaller identifier', (t) => {
  const best = (...more: object[]): string | undefined =>
    hopIds(
      ofKind(
        chainsOf(
          [a],
          [
            finding('i', { cwe: 639 }),
            ...more.map((one, index) => finding(String(10 - index), { ...examples.entry, ...one })),
          ],
        ),
        'kill-chain',
      )[0],
    )[0];
  t.equal(best({ riskScore: 71 }, { exploitConfirmed: true }), '10');
  t.equal(best({ reachable: true }, { exploitConfirmed: true }), '9');
  t.equal(best({ priorityScore: 99 }, { reachable: true }), '9');
  t.equal(best({}, { priorityScore: 51 }), '9');
  t.equal(best({}, {}), '9', 'numerals by value');
  t.end();
});

t.test('B4 collapse: one chain for each set of hops, and the kind that says more', (t) => {
  const { chains, stats } = chainsOf(
    [a],
    [finding('1', examples.execute), finding('2', { title: 'Privileged container' })],
  );
  t.strictSame(
    chains.map(({ kind }) => kind),
    ['toxic-combination'],
    'it stands for the kill chain of the same hops',
  );
  t.equal(stats.chains, 1);
  const jewel = chainsOf(
    [a, b],
    [finding('1', examples.entry), finding('2', { ...examples.impact, applicationId: 'b' })],
  );
  t.strictSame(
    jewel.chains.map(({ kind }) => kind),
    ['cross-service'],
    'it stands for the path to the crown jewel',
  );
  t.equal(jewel.stats.lateral_movement, 0);
  t.end();
});

t.test('B5 order: proven hops first, then score; forty are returned, all are counted', (t) => {
  const apps = Array.from({ length: 50 }, (_, index) => application(String(index), { projectId: null }));
  const findings = apps.flatMap(({ id }) => [
    finding(`${id}e`, { ...examples.entry, applicationId: id, riskScore: Number(id) + 20 }),
    finding(`${id}i`, { ...examples.impact, applicationId: id, riskScore: 5, exploitConfirmed: Number(id) < 3 }),
  ]);
  const { chains, stats } = chainsOf(apps, findings);
  t.equal(chains.length, 40);
  t.equal(stats.chains, 50);
  t.equal(stats.runtime_proven_chains, 3);
  t.equal(stats.capabilities_classified, 100);
  t.strictSame(
    chains.slice(0, 5).map((chain) => chain.app.id),
    ['2', '1', '0', '49', '48'],
  );
  t.equal(stats.max_chain_risk, Math.max(...chains.map(({ score }) => score)));
  const { byScore } = engineOf(apps, findings).read();
  t.equal(byScore.length, 50, 'the report takes its own fifty');
  t.ok(byScore.every(({ score }, index) => index === 0 || score <= (byScore[index - 1]?.score ?? 0)));
  t.end();
});

t.test('S2 proof: a hop is proven at run time, by an exploit, or both; it raises proven_hops once', (t) => {
  const proven = (more: object): number | undefined =>
    chainsOf([a], [finding('1', { ...examples.entry, ...more }), finding('2', examples.impact)]).chains[0]?.proven_hops;
  t.equal(proven({}), 0);
  t.equal(proven({ reachable: true }), 0);
  t.equal(proven({ exploitConfirmed: true }), 1);
  t.equal(proven({ runtimeConfirmed: true }), 1);
  t.equal(proven({ exploitConfirmed: true, runtimeConfirmed: true }), 1);
  t.end();
});
