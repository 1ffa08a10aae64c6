// A site's own mode against the rules' mode: both engines see the same, one withholds; a site that says On blocks
// although the rules only detect; and bodies that are inspected on another thread follow their site too.
import t, { type Test } from 'tap';
import {
  createCompiledInspector,
  createMemoryStore,
  decodeArtifact,
  hyperscanLibrary,
  loadRuleset,
  type Inspector,
  type RequestHead,
  type Verdict,
} from '#engine';
import { createInterpreter } from '#engine/compile';
import type { DataPlaneOptions } from '../main/data-plane.js';
import { configOf, listenerKinds, startBackend, startPlane, testMsMax } from './harness.js';
import { realArtifact, realEngine, withoutRules } from './real-rules.js';
import { sendRaw, statusOf } from './raw-client.js';

type Mode = 'On' | 'DetectionOnly';

const browser = [
  'Host',
  'shop.example',
  'User-Agent',
  'Mozilla/5.0 (X11; Linux x86_64) Firefox/132.0',
  'Accept',
  'text/html',
];
const head = (method: string, uri: string, extra: readonly string[] = []): RequestHead => ({
  method,
  uri,
  protocol: 'HTTP/1.1',
  headers: [...browser, ...extra],
  clientIp: '192.0.2.1',
  clientPort: 1,
  serverIp: '192.0.2.2',
  serverPort: 80,
});
const form = (text: string): { readonly extra: readonly string[]; readonly body: Buffer } => ({
  extra: ['Content-Type', 'application/x-www-form-urlencoded', 'Content-Length', String(text.length)],
  body: Buffer.from(text),
});
const login = form('user=admin%27+OR+%271%27%3D%271%27+--+&go=1');
const requests: readonly {
  readonly name: string;
  readonly head: RequestHead;
  readonly body: Buffer | null;
  readonly isAttack: boolean;
}[] = [
  {
    name: 'an injection in the query',
    head: head('GET', '/p?id=1%27%20UNION%20SELECT%20password%20FROM%20users--'),
    body: null,
    isAttack: true,
  },
  { name: 'an injection in a form', head: head('POST', '/login', login.extra), body: login.body, isAttack: true },
  {
    name: 'a script in a parameter',
    head: head('GET', '/p?q=%3Cscript%3Ealert(1)%3C/script%3E'),
    body: null,
    isAttack: true,
  },
  { name: 'a path out of the tree', head: head('GET', '/p?file=../../../../etc/passwd'), body: null, isAttack: true },
  { name: 'a page view', head: head('GET', '/products?page=2'), body: null, isAttack: false },
];

/** As the road does it: the mode is set between `begin` and the first phase. */
function inspect(
  inspector: Inspector,
  request: (typeof requests)[number],
  mode: Mode | null,
): { readonly verdict: Verdict; readonly isInterrupted: boolean } {
  const transaction = inspector.begin(request.head, { uniqueId: 'test', nowMs: 0, store: createMemoryStore() });
  if (mode !== null) transaction.engineMode = mode;
  const interruption =
    inspector.requestHeaders(transaction) ??
    inspector.requestBody(transaction, request.body, request.body?.length ?? 0);
  if (interruption === null)
    inspector.responseHeaders(transaction, {
      status: 200,
      protocol: 'HTTP/1.1',
      headers: ['Content-Type', 'text/html'],
    });
  return { isInterrupted: interruption !== null, verdict: inspector.finish(transaction) };
}

function bothEngines(t: Test, rulesMode: Mode, artifact: Uint8Array): void {
  const ruleset = loadRuleset(artifact, hyperscanLibrary());
  const compiled = createCompiledInspector(ruleset);
  const interpreter = createInterpreter(decodeArtifact(artifact).program);
  for (const mode of [null, 'On', 'DetectionOnly'] as const) {
    for (const request of requests) {
      const name = `rules ${rulesMode}, site ${mode ?? 'silent'}: ${request.name}`;
      const [got, want] = [inspect(compiled, request, mode), inspect(interpreter, request, mode)];
      const isInForce = (mode ?? rulesMode) === 'On';
      t.equal(got.verdict.kind, request.isAttack ? (isInForce ? 'block' : 'flag') : 'pass', name);
      t.equal(got.isInterrupted, request.isAttack && isInForce, `${name}: answered at once or not at all`);
      t.equal(
        got.verdict.interruption?.status ?? null,
        request.isAttack ? 403 : null,
        `${name}: the answer, given or withheld`,
      );
      t.same(
        [
          got.verdict.kind,
          got.isInterrupted,
          got.verdict.inboundScore,
          got.verdict.phases,
          got.verdict.matched.map(({ rule }) => rule.id),
        ],
        [
          want.verdict.kind,
          want.isInterrupted,
          want.verdict.inboundScore,
          want.verdict.phases,
          want.verdict.matched.map(({ rule }) => rule.id),
        ],
        `${name}: as the interpreter says`,
      );
    }
  }
  compiled.release();
  ruleset.release();
}

t.setTimeout(testMsMax);
t.test('modes of sites', { skip: withoutRules }, async (t) => {
  const artifacts = {
    On: await realArtifact({ mode: 'On', paranoia_level: 1 }),
    DetectionOnly: await realArtifact({ mode: 'DetectionOnly', paranoia_level: 1 }),
  } as const;
  for (const rulesMode of ['On', 'DetectionOnly'] as const) {
    await t.test(`both engines, rules in ${rulesMode}`, async (t) => bothEngines(t, rulesMode, artifacts[rulesMode]));
  }
  for (const kind of listenerKinds) {
    for (const mode of ['On', 'DetectionOnly'] as const) {
      await t.test(`${kind}: three sites over rules in ${mode}`, async (t) => {
        const backend = await startBackend(t, (request, response) =>
          request.resume().on('end', () => response.end('ok')),
        );
        const site = (name: string, own: Mode | null): object => ({
          name,
          prefix: `/${name}`,
          upstream: backend.url,
          protected: true,
          ...(own === null ? {} : { mode: own }),
        });
        const config = configOf({
          mode,
          sites: [site('strict', 'On'), site('lenient', 'DetectionOnly'), site('usual', null)],
          timeouts: { drain_ms: 300 },
        });
        const plane = await startPlane(t, kind, {}, realEngine(artifacts[mode], config) as Partial<DataPlaneOptions>);
        // over the threshold of inspection on another thread
        const filler = `note=${'an+ordinary+note+'.repeat(2_500)}&`;
        for (const [name, blocks] of [
          ['strict', true],
          ['lenient', false],
          ['usual', mode === 'On'],
        ] as const) {
          const fields = `Host: a\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\nAccept: */*\r\n`;
          const inQuery = await sendRaw(
            plane.ports.http,
            `GET /${name}?id=1%27%20UNION%20SELECT%20password%20FROM%20users-- HTTP/1.1\r\n${fields}\r\n`,
          );
          t.equal(statusOf(inQuery.text), blocks ? 403 : 200, `${name}: an attack in the query`);
          const body = `${filler}id=1%27%20UNION%20SELECT%20password%20FROM%20users--`;
          const inBody = await sendRaw(
            plane.ports.http,
            `POST /${name} HTTP/1.1\r\n${fields}Content-Type: application/x-www-form-urlencoded\r\n` +
              `Content-Length: ${body.length}\r\n\r\n${body}`,
          );
          t.equal(statusOf(inBody.text), blocks ? 403 : 200, `${name}: an attack in a large body`);
        }
      });
    }
  }
});
