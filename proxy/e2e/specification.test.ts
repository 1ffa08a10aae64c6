// E2: a node holds requests and answers to the specification of a site: blocks, records with the place, lets through.
import t, { type Test } from 'tap';
import { doubleArtifact } from './inspection-double.js';
import { auditLines, configOf, startBackend, startPlane, testMsMax, until } from './harness.js';

t.setTimeout(testMsMax);

const item = { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] };
const plan = {
  name: 'default',
  site: 'shop',
  action: 'block',
  responseAction: 'block',
  unknownPaths: 'ignore',
  definitions: {},
  operations: [
    {
      method: 'POST',
      templates: ['/orders'],
      action: null,
      parameters: [],
      body: { required: true, content: { 'application/json': { schema: item, encoding: {} } } },
      responses: { 200: { 'application/json': { schema: item, encoding: {} } } },
    },
  ],
} as const;

interface Line {
  readonly transaction: { readonly messages: readonly { readonly details: { readonly data: string } }[] };
}

t.test('E2: an undeclared member is refused, in the request and in the answer', async (t) => {
  const backend = await startBackend(t, (incoming, response) => {
    incoming.on('data', (chunk: Buffer) => {
      const isLeaking = chunk.toString().includes('leak');
      response.setHeader('content-type', 'application/json');
      response.end(isLeaking ? '{"sku":"leak","cost":3}' : '{"sku":"a"}');
    });
  });
  const settings = { sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }] };
  const config = { ...configOf({ timeouts: { drain_ms: 500 }, ...settings }), apiSchemas: [plan] };
  const artifact = doubleArtifact({ needles: ["' OR '", 'EVIL'], version: 1 });
  const plane = await startPlane(t, 'net', settings, { initial: { config, artifact } });
  const send = async (body: string) =>
    (
      await fetch(`http://127.0.0.1:${plane.ports.http}/orders`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body,
      })
    ).status;
  t.equal(await send('{"sku":"a"}'), 200);
  t.equal(await send('{"sku":"a","admin":true}'), 403, 'the request');
  t.equal(await send('{"sku":"leak"}'), 403, 'the answer');
  const data = async () =>
    (await auditLines<Line>(plane)).flatMap(({ transaction }) => transaction.messages.map((one) => one.details.data));
  await until(async () => (await data()).length >= 2);
  t.same(await data(), ['/body/admin: additionalProperties', '/response/cost: additionalProperties']);
});

interface Observed {
  readonly site: string;
  readonly method: string;
  readonly path: string;
  readonly count: number;
  readonly pii: object;
}

/** A control plane that keeps what discovery reports. */
async function startDiscovery(t: Test): Promise<{ readonly url: string; readonly seen: Map<string, Observed> }> {
  const seen = new Map<string, Observed>();
  const { url } = await startBackend(t, (request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      response.end('{}');
      if (request.url !== '/api/dataplane/observations') return;
      const { batch } = JSON.parse(body) as { readonly batch: { readonly observations: readonly Observed[] } };
      for (const one of batch.observations) {
        const before = seen.get(`${one.method} ${one.path}`);
        const pii = { ...before?.pii, ...one.pii };
        seen.set(`${one.method} ${one.path}`, { ...one, count: (before?.count ?? 0) + one.count, pii });
      }
    });
  });
  return { url, seen };
}

interface Asked {
  readonly uri: string;
  readonly body?: string;
  readonly agent?: string;
  readonly status: number;
  readonly count: number;
}

interface Observing {
  readonly name: string;
  readonly plan: object;
  readonly mode?: 'On' | 'DetectionOnly';
  /** A request, the status that the client gets, and how often discovery counts its path. */
  readonly asked: readonly Asked[];
  /** Whether personal data in the answer of /orders is found. */
  readonly findsData: boolean;
}

const observing: readonly Observing[] = [
  {
    name: 'alert in the answer',
    plan: { action: 'alert', responseAction: 'alert' },
    asked: [{ uri: '/orders', body: '{"sku":"leak"}', status: 200, count: 3 }],
    findsData: true,
  },
  {
    name: 'alert in the request',
    plan: { action: 'alert', responseAction: 'ignore' },
    asked: [{ uri: '/orders', body: '{"sku":"leak","admin":true}', status: 200, count: 3 }],
    findsData: true,
  },
  {
    name: 'block, on a site that only detects',
    plan: {},
    mode: 'DetectionOnly',
    asked: [{ uri: '/orders', body: '{"sku":"leak"}', status: 200, count: 3 }],
    findsData: true,
  },
  {
    name: 'a path that nobody declares',
    plan: { action: 'alert', unknownPaths: 'alert' },
    asked: [{ uri: '/hidden/list', status: 200, count: 3 }],
    findsData: false,
  },
  {
    name: 'block refuses the answer to one client and passes that to another',
    plan: {},
    asked: [
      { uri: '/orders', body: '{"sku":"leak"}', status: 403, count: 3 },
      { uri: '/orders', body: '{"sku":"a"}', status: 200, count: 3 },
      { uri: '/orders', body: '{"sku":"a","admin":1}', status: 403, count: 3 },
    ],
    findsData: false,
  },
  {
    name: 'rules of a site that only detects',
    plan: { action: 'ignore', responseAction: 'ignore' },
    mode: 'DetectionOnly',
    asked: [
      { uri: '/reports/all?note=EVIL', status: 200, count: 3 },
      { uri: '/EVIL%27x', status: 200, count: 0 },
      { uri: '/gone?note=EVIL', status: 404, count: 0 },
    ],
    findsData: false,
  },
  {
    name: 'rules that refuse',
    plan: { action: 'ignore', responseAction: 'ignore' },
    asked: [{ uri: '/reports/all?note=EVIL', status: 403, count: 0 }],
    findsData: false,
  },
  {
    name: 'a gate that only records',
    plan: { action: 'ignore', responseAction: 'ignore' },
    asked: [{ uri: '/exports', agent: 'sqlmap/1.8', status: 200, count: 3 }],
    findsData: false,
  },
];

for (const { name, plan: wanted, mode = 'On', asked, findsData } of observing)
  t.test(`issue 22 Q2: discovery counts what was answered, whatever was flagged: ${name}`, async (t) => {
    const backend = await startBackend(t, (incoming, response) => {
      response.setHeader('content-type', 'application/json');
      if (incoming.url?.startsWith('/gone') === true) response.statusCode = 404;
      let body = '';
      incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
      incoming.on('end', () =>
        response.end(body.includes('leak') ? '{"sku":"x","mail":"ann@shop.example"}' : '{"sku":"a"}'),
      );
    });
    const discovery = await startDiscovery(t);
    const settings = { mode, sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }] };
    const config = { ...configOf({ timeouts: { drain_ms: 500 }, ...settings }), apiSchemas: [{ ...plan, ...wanted }] };
    const artifact = doubleArtifact({ needles: ["' OR '", 'EVIL'], version: 1 });
    const shipping = { url: discovery.url, token: 'node-token', node: 'n1' };
    const plane = await startPlane(t, 'net', settings, { initial: { config, artifact }, shipping });
    const ask = async (uri: string, body?: string, agent = 'Mozilla/5.0 (test)'): Promise<number> => {
      const headers = { 'content-type': 'application/json', connection: 'close', 'user-agent': agent };
      const init = body === undefined ? { headers } : { method: 'POST', headers, body };
      const answer = await fetch(`http://127.0.0.1:${plane.ports.http}${uri}`, init);
      await answer.arrayBuffer();
      return answer.status;
    };
    for (let round = 0; round < 3; round += 1)
      for (const { uri, body, agent, status } of asked) t.equal(await ask(uri, body, agent), status, `${uri} ${body}`);
    // a path of its own ends the windows: what came before it has been reported with it
    t.equal(await ask('/last'), 200);
    t.equal(await ask('/last'), 200);
    await until(async () => (discovery.seen.get('GET /last')?.count ?? 0) === 2);
    for (const { uri, body, count } of asked) {
      const path = uri.split('?')[0] ?? uri;
      const found = discovery.seen.get(`${body === undefined ? 'GET' : 'POST'} ${path}`);
      t.equal(found?.count ?? 0, count, `${path} was counted`);
    }
    const { pii = {} } = discovery.seen.get('POST /orders') ?? {};
    t.equal(Object.keys(pii).length > 0, findsData, 'personal data of the answer');
  });
