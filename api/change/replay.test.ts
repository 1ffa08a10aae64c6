import t from 'tap';
import type { CollectionStore, Inspector } from '#engine';
import { toProxyConfig, upstreamDefaults, type ProxyConfig, type SchemaPlan } from '#proxy/contract';
import { requireSettings } from '#settings';
import {
  replayConfigOf,
  replayImpact,
  runOne,
  type ReplayConfig,
  type ReplaySample,
  type ReplaySide,
} from './replay.js';

/** Blocks what has `word` in the URI or the body, unless the site's mode forbids. */
function side(
  word: string,
  ruleId: number,
  sites: readonly object[] = [],
  over: Partial<ReplayConfig> = {},
): ReplaySide {
  const inspector = {
    begin: (head: { uri: string }, { secondOpinion }: { secondOpinion?: string | null }) => ({
      head,
      engineMode: 'On',
      found: false,
      secondOpinion,
    }),
    requestHeaders(tx: { head: { uri: string }; found: boolean }) {
      tx.found = tx.head.uri.includes(word);
      return null;
    },
    requestBody(tx: { found: boolean; secondOpinion?: string | null }, body: Buffer | null) {
      tx.found ||= body?.includes(word) ?? false;
      if (tx.secondOpinion === 'enforce') tx.found = false; // it overrules all
      return null;
    },
    finish: (tx: { found: boolean; engineMode: string }) => ({
      kind: tx.found ? (tx.engineMode === 'On' ? 'block' : 'flag') : 'pass',
      matched: tx.found ? [{ rule: { id: ruleId } }] : [],
      inboundScore: tx.found ? 5 : 0,
      interruption: null,
    }),
  };
  return {
    inspector: inspector as unknown as Inspector,
    store: {} as CollectionStore,
    config: {
      ...replayConfigOf(toProxyConfig(requireSettings({}), upstreamDefaults({}))),
      ...over,
      sites: sites as ProxyConfig['sites'],
    },
  };
}
const sample = (n: number, uri: string, body: string | null = null, site = 'shop'): ReplaySample => ({
  requestId: `r${n}`,
  atMs: 0,
  site,
  method: 'GET',
  uri,
  protocol: 'HTTP/1.1',
  headers: [],
  body,
  clientIp: '192.0.2.1',
});
const limits = { examplesMax: 2, clock: () => 0, budgetMs: 1000 };

t.test('only what changes for people is told', async (t) => {
  const samples = [
    sample(1, '/?old'),
    sample(2, '/?new'),
    sample(3, '/?old&new'),
    sample(4, '/'),
    sample(5, '/', 'new'),
    sample(6, '/?new'),
  ];
  const impact = replayImpact(samples, side('old', 1), side('new', 2), limits);
  t.match(impact, { samples: 6, replayed: 6, newly_blocked: 3, newly_allowed: 1 });
  t.same(
    impact.newly_blocked_examples.map(({ request_id, rule_ids, score_before, score_after }) => [
      request_id,
      rule_ids,
      score_before,
      score_after,
    ]),
    [
      ['r2', [2], 0, 5],
      ['r5', [2], 0, 5],
    ],
    'at most as many as asked for',
  );
  t.same(
    impact.newly_allowed_examples.map(({ request_id, rule_ids }) => [request_id, rule_ids]),
    [['r1', [1]]],
  );
});

t.test('a site that only detects, or is not protected, blocks nobody', async (t) => {
  const quiet = [{ name: 'shop', prefix: '/', mode: 'DetectionOnly', protected: true }];
  t.match(replayImpact([sample(1, '/?x')], side('x', 1), side('x', 1, quiet), limits), {
    newly_blocked: 0,
    newly_allowed: 1,
  });
  t.match(
    replayImpact(
      [sample(1, '/?x')],
      side('x', 1, [{ name: 'shop', prefix: '/', mode: null, protected: false }]),
      side('x', 1),
      limits,
    ),
    { newly_blocked: 1, newly_allowed: 0 },
  );
});

t.test('a used-up budget says how far it came, and there is always a little', async (t) => {
  let nowMs = 0;
  const samples = Array.from({ length: 100 }, (_, n) => sample(n, '/'));
  const replayed = (budgetMs: number): number => {
    nowMs = 0;
    const impact = replayImpact(samples, side('a', 1), side('b', 1), {
      ...limits,
      budgetMs,
      clock: () => (nowMs += 100),
    });
    t.equal(impact.samples, 100, 'out of how many');
    return impact.replayed;
  };
  t.equal(replayed(5000), 82); // the clock is read once at the start, and once a sample from the 32nd on
  t.equal(replayed(-1), 32);
});

t.test('U5: a replay sees GraphQL as the data plane does', async (t) => {
  const sites = [{ name: 'shop', prefix: '/', mode: null, protected: true }];
  const post = (uri: string, query: string): ReplaySample => ({
    ...sample(1, uri, JSON.stringify({ query })),
    method: 'POST',
    headers: ['Content-Type', 'application/json'],
  });
  const rules = side('hidden', 7, sites);
  t.match(runOne(rules, post('/graphql', '{ hidden(a: "text") }')), { isBlocked: false }, 'a name at an endpoint');
  t.match(runOne(rules, post('/graphql', '{ a(b: "hidden") }')), { isBlocked: true }, 'a text at an endpoint');
  t.match(runOne(rules, post('/search', '{ hidden(a: "text") }')), { isBlocked: true }, 'a name anywhere else');
  t.match(runOne(rules, sample(2, '/search?query={hidden}')), { isBlocked: true });
  t.match(runOne(rules, sample(2, '/graphql?query={hidden}')), { isBlocked: false });
  const declared = side('hidden', 7, sites, { graphqlDeclared: [{ site: 'shop', path: '/data' }] });
  t.match(runOne(declared, post('/data', '{ hidden }')), { isBlocked: false });
  t.match(runOne(side('hidden', 7, sites), post('/data', '{ hidden }')), { isBlocked: true });
  const strict = side('none', 7, sites, { graphqlProtect: true });
  const asked = post('/graphql', '{ __schema { types { name } } }');
  t.match(runOne(strict, asked), { isBlocked: true, status: 403, stoppedBy: 1_006_510, ruleIds: [1_006_510] });
  const quiet = side('none', 7, [{ ...sites[0], mode: 'DetectionOnly' }], { graphqlProtect: true });
  t.match(runOne(quiet, asked), { isBlocked: false, status: null, stoppedBy: 1_006_510 });
  t.match(replayImpact([asked], side('none', 7, sites), strict, limits), {
    newly_blocked: 1,
    newly_blocked_examples: [{ rule_ids: [1_006_510] }],
  });
});

t.test('SO9: a replay has the second opinion that the site has', async (t) => {
  const site = { name: 'shop', prefix: '/', mode: null, protected: true };
  const asked = sample(1, '/search?q=hidden');
  for (const secondOpinion of [undefined, null, 'off', 'monitor'])
    t.match(runOne(side('hidden', 7, [{ ...site, secondOpinion }]), asked), { isBlocked: true }, String(secondOpinion));
  const enforced = side('hidden', 7, [{ ...site, secondOpinion: 'enforce' }]);
  t.match(replayImpact([asked], side('hidden', 7, [site]), enforced, limits), { newly_allowed: 1 });
});

const orders: SchemaPlan = {
  ...{ name: 'shop', site: 'shop', action: 'block', responseAction: 'ignore', unknownPaths: 'alert' },
  definitions: {},
  operations: [
    {
      ...{ method: 'POST', templates: ['/orders'], action: null, parameters: [], responses: {} },
      body: {
        required: true,
        content: {
          'application/json': {
            schema: {
              type: 'object',
              properties: { sku: { type: 'string' }, token: { type: 'string', maxLength: 2 } },
            },
            encoding: {},
          },
        },
      },
    },
  ],
};

t.test('N2: a replay counts what specifications refuse, and nothing that was not kept', async (t) => {
  const sites = [{ name: 'shop', prefix: '/', mode: null, protected: true }];
  const post = (body: string | null, uri = '/orders', length = '20'): ReplaySample => ({
    ...sample(1, uri, body),
    method: 'POST',
    headers: ['Content-Type', 'application/json', 'Content-Length', length],
  });
  const without = side('none', 7, sites);
  const blocks = side('none', 7, sites, { apiSchemas: [orders] });
  const undeclared = post('{"sku":"a","isAdmin":true}');
  t.match(runOne(blocks, undeclared), { isBlocked: true, status: 403, stoppedBy: 1_006_500, ruleIds: [1_006_500] });
  t.match(replayImpact([undeclared], without, blocks, limits), {
    newly_blocked: 1,
    newly_blocked_examples: [{ rule_ids: [1_006_500] }],
  });
  t.match(replayImpact([undeclared], blocks, without, limits), { newly_allowed: 1 }, 'and the other way round');
  for (const [one, why] of [
    [post('{"sku":"a"}'), 'it fits'],
    [post(null), 'its body was not kept'],
    [post('{"token":"xxxxxxxx"}'), 'its value was masked'],
    [{ ...undeclared, site: 'other' }, 'the specification is of another site'],
  ] as const)
    t.match(runOne(blocks, one), { isBlocked: false, ruleIds: [] }, why);
  t.match(runOne(blocks, post(null, '/orders', '0')), { isBlocked: true, stoppedBy: 1_006_500 }, 'there was no body');
  t.match(runOne(blocks, post(null, '/elsewhere')), { isBlocked: false, ruleIds: [1_006_502] }, 'alert only notes');
  const alerts = side('none', 7, sites, { apiSchemas: [{ ...orders, action: 'alert' }] });
  t.match(runOne(alerts, undeclared), { isBlocked: false, status: null, stoppedBy: null, ruleIds: [1_006_500] });
  const quiet = side('none', 7, [{ ...sites[0], mode: 'DetectionOnly' }], { apiSchemas: [orders] });
  t.match(runOne(quiet, undeclared), { isBlocked: false, status: null, stoppedBy: 1_006_500 });
  const off = side('none', 7, [{ ...sites[0], protected: false }], { apiSchemas: [orders] });
  t.match(runOne(off, undeclared), { isBlocked: false, stoppedBy: null });
  t.match(runOne(side('sku', 7, sites, { apiSchemas: [orders] }), undeclared), { stoppedBy: null }, 'rules come first');
});
