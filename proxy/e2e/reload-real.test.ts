// The road of a change with real rules under load: the recommended level, and the same with one rule more, in turn. And
// artifacts that must not go live: their self-tests fail, and nothing changes.
import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import { decodeArtifact } from '#engine';
import { encodeArtifact } from '#engine/compile';
import { profiles } from '#settings';
import type { GenerationReply, ProxyConfig } from '../contract/index.js';
import type { DataPlane, DataPlaneOptions } from '../main/data-plane.js';
import { hammer } from './hammer.js';
import type { ListenerKind } from '../listeners/index.js';
import { admin, configOf, listenerKinds, startBackend, startPlane, testMsMax, until, workersOf } from './harness.js';
import { sendRaw, statusOf } from './raw-client.js';
import { artifactOfText, realArtifact, realEngine, withoutRules } from './real-rules.js';

const settings = { mode: 'On', paranoia_level: 1 };
const custom = {
  id: 1_000_011,
  name: 'watched',
  enabled: true,
  kind: 'raw',
  seclang: `SecRule ARGS:watched "@streq yes" "id:1000011,phase:2,deny,status:403,log,msg:'watched'"`,
};

function put(plane: DataPlane, artifact: Uint8Array, config: ProxyConfig): Promise<GenerationReply> {
  const bytes = Buffer.from(artifact);
  const body = JSON.stringify({
    id: 0,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    artifactPath: '',
    artifactBase64: bytes.toString('base64'),
    config,
  });
  return admin(plane, '/generation', { method: 'PUT', body }).then((reply) => reply.json() as Promise<GenerationReply>);
}

/** The same rules, with self-tests of our choosing inside. */
function withProbe(artifact: Uint8Array, uri: string, expectAnyOf: readonly number[]): Uint8Array {
  const content = decodeArtifact(artifact);
  const headers = [
    'Host',
    'shop.example',
    'User-Agent',
    'Mozilla/5.0 (X11; Linux x86_64) Firefox/132.0',
    'Accept',
    'text/html',
  ];
  return encodeArtifact({
    ...content,
    meta: {
      ...content.meta,
      probes: [{ name: 'a probe of this test', method: 'GET', uri, headers, body: null, expectAnyOf }],
    },
  });
}

const siteOf = (backend: { url: string }): ProxyConfig =>
  configOf({
    sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }],
    timeouts: { drain_ms: 500 },
  });

/** The counters of the automata, one a worker and kind, in a fixed order. */
async function automataCounters(plane: DataPlane): Promise<readonly (readonly [string, number])[]> {
  const text = await (await admin(plane, '/metrics')).text();
  return [
    ...text.matchAll(/^(gatehouse_(?:memo_lookups|memo_found|scans|scanned_bytes)_total\{worker="\d+"\}) (\d+)$/gm),
  ]
    .map(([, name = '', value]) => [name, Number(value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

async function reloadsUnderLoad(t: Test, kind: ListenerKind, plain: Uint8Array, watching: Uint8Array): Promise<void> {
  // The generation that knows the rule leads to A, where a watched request never arrives; the other leads to B.
  const a = siteOf(await startBackend(t, (_request, response) => response.end('A')));
  const b = siteOf(await startBackend(t, (_request, response) => response.end('B')));
  const plane = await startPlane(
    t,
    kind,
    {},
    { ...(realEngine(watching, a) as Partial<DataPlaneOptions>), workers: 2 },
  );
  const seen = new Map<string, number>();
  const load = hammer(plane.ports.http, 32, '/products?watched=yes', (status, body) => {
    const key = status === 403 ? 'blocked' : `${status} ${body}`;
    seen.set(key, (seen.get(key) ?? 0) + 1);
  });
  const served = (round: number): number => seen.get(round % 2 === 0 ? '200 B' : 'blocked') ?? 0;
  let counted = await automataCounters(plane);
  t.equal(counted.length, 4 * plane.workers, 'four counters a worker');
  for (let round = 2; round <= 9; round += 1) {
    const before = served(round);
    const reply = round % 2 === 0 ? await put(plane, plain, b) : await put(plane, watching, a);
    t.match(
      reply,
      { outcome: 'active', id: round, workers: plane.workers },
      `generation ${round}${reply.outcome === 'active' ? `, ${reply.tookMs} ms` : ''}`,
    );
    t.ok(await until(() => served(round) > before + 100), `generation ${round} serves`); // more than were on the way
    const now = await automataCounters(plane);
    t.strictSame(
      now.filter(([, value], index) => value < (counted[index]?.[1] ?? 0)),
      [],
      `generation ${round}: no counter went backwards`,
    );
    counted = now;
  }
  t.ok(
    await until(async () => (await automataCounters(plane)).every(([, value]) => value > 0)),
    'every counter counts',
  );
  const { replies, failures } = await load.stop();
  t.equal(failures, 0, `no failure in ${replies} replies`);
  t.strictSame([...seen.keys()].sort(), ['200 B', 'blocked'], 'never one generation’s rules with the other’s upstream');
  t.ok(
    await until(async () => (await workersOf(plane)).every(({ retiring }) => retiring === 0)),
    'old generations are gone',
  );
}

async function refusals(t: Test, kind: ListenerKind, plain: Uint8Array): Promise<void> {
  const config = siteOf(await startBackend(t, (_request, response) => response.end('ok')));
  const plane = await startPlane(t, kind, {}, realEngine(plain, config) as Partial<DataPlaneOptions>);
  const blind = await artifactOfText('SecRuleEngine On\nSecRequestBodyAccess On\n');
  const strict = await realArtifact({
    ...settings,
    custom_rules: [
      {
        ...custom,
        seclang: `SecRule REQUEST_URI "@beginsWith /" "id:1000011,phase:1,deny,status:403,log,msg:'everybody'"`,
      },
    ],
  });
  const cases: readonly (readonly [string, Uint8Array, RegExp])[] = [
    ['rules that see nothing', blind, /self-test: an SQL injection .* was not seen/],
    ['rules that block everybody', strict, /self-test: an ordinary page view was blocked by rule 1000011/],
    [
      'a probe that finds nothing',
      withProbe(plain, '/products?page=2', [942100]),
      /self-test "a probe of this test" of the artifact: expected a match of one of 942100, got pass/,
    ],
    [
      'a probe that is blocked',
      withProbe(plain, '/?id=1%27%20UNION%20SELECT%20password%20FROM%20users--', []),
      /self-test "a probe of this test" of the artifact: expected no block, got block/,
    ],
    ['a damaged artifact', Buffer.from(plain).fill(0x20, 5000, 5100), /the engine refused the artifact/],
  ];
  for (const [name, artifact, reason] of cases) {
    const reply = await put(plane, artifact, config);
    t.equal(reply.outcome, 'refused', `${name}: refused`);
    t.match(reply.outcome === 'refused' ? reply.reason : '', reason, `${name}: and told why`);
    t.equal((await plane.status())['generation'], 1, `${name}: nothing changed`);
    t.equal(
      statusOf(
        (
          await sendRaw(
            plane.ports.http,
            'GET /?id=1%27%20UNION%20SELECT%20password%20FROM%20users-- HTTP/1.1\r\n' +
              'Host: a\r\nUser-Agent: test browser\r\nAccept: */*\r\n\r\n',
          )
        ).text,
      ),
      403,
      `${name}: attacks are blocked as before`,
    );
  }
  t.match(await put(plane, plain, config), { outcome: 'active' }, 'a good one still goes live');
}

/** What lists of the settings refuse says nothing about the other rules: an API may take no form, a page no POST. */
async function activeLists(t: Test): Promise<void> {
  const backend = await startBackend(t, (_request, response) => response.end('here'));
  const config = siteOf(backend);
  const plane = await startPlane(t, 'net', {}, realEngine(await realArtifact(settings), config) as object);
  const rows: Readonly<Record<string, object>> = {
    ...Object.fromEntries(profiles.map(({ name, settings: own }) => [`the profile ${name}`, own])),
    'reading alone': { allowed_methods: ['GET', 'HEAD'] },
    'XML alone': { allowed_content_types: ['text/xml'] },
  };
  for (const [name, own] of Object.entries(rows))
    t.match(await put(plane, await realArtifact({ ...settings, ...own }), config), { outcome: 'active' }, name);
  const rule = `SecRule ARGS "@streq maria" "id:1000012,phase:2,deny,status:403,log,msg:'no maria'"`;
  for (const own of [{}, { allowed_content_types: ['application/json'] }]) {
    const rules = [{ ...custom, id: 1_000_012, seclang: rule }];
    const reply = await put(plane, await realArtifact({ ...settings, ...own, custom_rules: rules }), config);
    t.equal(reply.outcome, 'refused', 'and a rule that blocks who logs in is found by what is allowed');
    t.match(reply.outcome === 'refused' ? reply.reason : '', /ordinary login form was blocked by rule 1000012;/);
  }
  const sums = `SecRuleEngine On
    SecRequestBodyAccess On
    SecRule ARGS "@contains UNION" "id:1,phase:2,deny,status:403,log,msg:'an attack'"
    SecRule REQUEST_URI "@beginsWith /login" "id:2,phase:2,pass,log,msg:'a login',setvar:tx.sum=5"
    SecRule TX:sum "@ge 5" "id:949110,phase:2,deny,status:403,log,msg:'the sum'"`;
  const summed = await put(plane, await artifactOfText(sums), config);
  const reason = summed.outcome === 'refused' ? summed.reason : summed.outcome;
  t.match(reason, /ordinary login form was blocked by rule 949110 for what rule 2 found/, 'what was added up is told');
}

t.setTimeout(testMsMax);
t.test('F9: every shipped profile goes live', { skip: withoutRules }, activeLists);
t.test('changes with real rules', { skip: withoutRules }, async (t) => {
  const plain = await realArtifact(settings);
  const watching = await realArtifact({ ...settings, custom_rules: [custom] });
  for (const kind of listenerKinds) {
    await t.test(`${kind}: reloads under load: nothing fails, nothing is mixed`, (t) =>
      reloadsUnderLoad(t, kind, plain, watching),
    );
    await t.test(`${kind}: what fails its self-test never serves`, (t) => refusals(t, kind, plain));
  }
});
