import t from 'tap';
import { RequestRing, toRequestLine, type RequestFacts, type RequestSample } from './request-records.js';
import { facts } from './testing/samples.js';

t.test('the ring of a worker is bounded', async (t) => {
  const sent: [number, number][] = [];
  const ring = new RequestRing(3, (lines, dropped) => sent.push([lines.length, dropped]));
  ring.flush();
  for (let n = 0; n < 5; n++) ring.record(facts(n));
  ring.flush();
  ring.record(facts(6));
  ring.flush();
  t.same(sent, [
    [3, 2],
    [1, 0],
  ]);
  t.equal(ring.dropped, 2);
});

t.test('one in so many ordinary requests is kept whole, and so many a second', async (t) => {
  let sampling = { every: 10, perSecondMax: 3 };
  const got: RequestSample[] = [];
  const ring = new RequestRing(
    100_000,
    (_lines, _dropped, samples) => got.push(...samples),
    () => sampling,
  );
  const run = (from: number, to: number, more: (n: number) => Partial<RequestFacts> = () => ({})): string[] => {
    got.length = 0;
    for (let n = from; n < to; n++) ring.record({ ...facts(n), atMs: 1000 * 1000, ...more(n) });
    ring.flush();
    return got.map(({ request_id, kind }) => (kind === 'event' ? `!${request_id}` : request_id));
  };
  t.same(run(0, 5), [], 'nothing is asked before the first flush');
  t.same(run(5, 100), ['r5', 'r15', 'r25'], 'the quota of the second');
  t.same(
    run(100, 200, () => ({ atMs: 1001 * 1000 })),
    ['r105', 'r115', 'r125'],
    'and of the next',
  );
  const later = (n: number) => ({ atMs: (2000 + n) * 1000 });
  t.same(
    run(200, 221, (n) => ({ ...later(n), action: n < 220 ? 'refused' : 'served' })),
    ['r220'],
    'what was not served is no example; the next takes its turn',
  );
  t.same(
    run(300, 312, (n) => ({ ...later(n), body: n < 311 ? Buffer.alloc(17_000) : Buffer.from('a=\xff', 'latin1') })),
    ['r311'],
    'nor is half a body',
  );
  t.match(got[0], { kind: 'ordinary', uri: '/ü', headers: ['Host', 'a'], protocol: 'HTTP/1.1', body: 'a=\xff' });
  t.same(
    run(400, 405, (n) => ({
      atMs: 9_000_000,
      kind: n % 2 === 0 ? 'block' : 'pass',
      ruleIds: [942_100],
      body: Buffer.alloc(100_000),
    })),
    ['!r400', '!r401', '!r402'],
    'what a rule saw has a quota of its own',
  );
  t.equal(got[0]?.body?.length, 65_536);
  sampling = { every: 0, perSecondMax: 3 };
  run(500, 501);
  t.same(
    run(501, 1000, (n) => ({ ...later(n), ...(n % 5 === 0 ? { kind: 'block' } : {}) })),
    [],
    'switched off',
  );
  sampling = { every: 100, perSecondMax: 3 };
  run(1000, 1001);
  t.same(run(1001, 1102, later), ['r1001', 'r1101'], 'and on again');
});

t.test('lines say what happened', async (t) => {
  const lines: readonly [Partial<RequestFacts>, object][] = [
    [{}, { verdict: 'pass', latency_us: 3, uri: '/ü' }],
    [{ action: 'blocked', kind: 'block' }, { verdict: 'block' }],
    [{ action: 'served', kind: 'flag' }, { verdict: 'flag' }],
    [{ action: 'aborted' }, { verdict: 'aborted' }],
    [{ action: 'failed', kind: 'engine-error' }, { verdict: 'engine-error' }],
    [
      { uri: 'x'.repeat(5000), ruleIds: Array.from({ length: 99 }, (_, n) => n), status: -1 },
      { uri: 'x'.repeat(2048), status: 0 },
    ],
  ];
  for (const [change, wanted] of lines) t.match(JSON.parse(toRequestLine({ ...facts(1), ...change })), wanted);
});

t.test(
  'E2: the line of a request that came over TLS has its fingerprints, and that of another has no members for them',
  async (t) => {
    const [ja3, ja4] = ['cd08e31494f9531f560d64c695473da9', 't13d1516h2_8daaf6152771_e5627efa2ab1'];
    t.match(JSON.parse(toRequestLine({ ...facts(1), tls: { ja3, ja4 } })), { ja3, ja4 });
    const plain = JSON.parse(toRequestLine(facts(1))) as object;
    t.notOk('ja3' in plain || 'ja4' in plain, 'older control planes know no such members');
  },
);
