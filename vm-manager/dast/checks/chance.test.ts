// A target that answers at random proves nothing: for each check, many times, with every sign of a weakness in half of
// the answers.
import t from 'tap';
import type { WayOut } from '../../host.js';
import { Budget, Rate } from '../http/pace.js';
import { toForm } from '../http/forms.js';
import type { Exchange, Form } from '../model.js';
import { Prover, type ScanPlan } from '../run/scanner.js';
import { checks } from './index.js';
import { byTime } from './timing.js';
import type { Probe } from './check.js';

const origin = 'https://target.example';
/** A check that one look and a second one satisfy is fooled one time in eight: not in so many by chance. */
const times = 60;

/** What checks look for that is no random value of theirs. */
const signs = [
  'You have an error in your SQL syntax',
  'root:x:0:0:root:/root:/bin/sh',
  'ref: refs/heads/main\n[core]\nSHOP_KEY=1\nservices:\n# HELP a\nCREATE TABLE a\n<title>Index of /</title>',
  '-----BEGIN PRIVATE KEY-----\n_authToken=1\naws_secret_access_key=1\njane:{SHA}1\n<configuration><system.web>',
  '"propertySources": "dispatcherServlets": "memstats": "password": "x" /debug/pprof/ Server uptime: PHP Version </',
  'Hello alice',
].join('\n');

const reply = (isShown: boolean): Awaited<ReturnType<WayOut['send']>> => ({
  status: isShown ? 200 : 403,
  headers: { 'content-type': 'text/plain' },
  body: Buffer.from(isShown ? signs : 'Nothing this time.'),
});

const planWith = (way: WayOut): ScanPlan => ({
  runId: 'run-1',
  base: `${origin}/`,
  profile: 'full',
  recipe: {
    type: 'bearer',
    secret: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl',
    checkUrl: `${origin}/account`,
    checkText: 'Hello alice',
  },
  seen: [],
  callbacks: null,
  way,
  signal: new AbortController().signal,
  now: Date.now,
  rate: { turn: async () => undefined, slow() {}, ease() {}, rest() {}, idleMs: 0 } as unknown as Rate,
  budget: new Budget({ requestsMax: 10_000_000, secondsMax: 600 }),
  bounds: {
    origins: [origin],
    scopePaths: [],
    excludedPaths: [],
    methods: ['GET', 'HEAD', 'OPTIONS', 'POST', 'TRACE'],
    requestsMax: 10_000_000,
    perSecond: 1_000_000,
    secondsMax: 600,
    windows: [],
  },
});

const forms: readonly Form[] = [
  toForm({ method: 'GET', url: `${origin}/admin/a.php`, params: [{ name: 'file', value: '7', place: 'query' }] }),
  toForm({
    method: 'POST',
    url: `${origin}/order`,
    params: [{ name: 'order', value: 'ball', place: 'body' }],
    bodyKind: 'xml',
  }),
];

t.test('answers at random prove nothing', async (t) => {
  let requests = 0;
  const way: WayOut = {
    send: async () => {
      requests++;
      return reply(Math.random() < 0.5);
    },
    check: async () => undefined,
    isAllowListed: async () => false,
  };
  const proved: string[] = [];
  // what waits has its own test below
  for (const { id, on } of checks.filter((one) => !one.id.endsWith('-time')))
    for (const form of forms)
      for (let count = 0; count < times; count++) {
        const param = on === 'param' ? (form.params[0]?.name ?? null) : null;
        const seenPaths = [`${origin}/admin/a.php`];
        const { proof } = await new Prover(planWith(way)).prove({ checkId: id, form, param, seenPaths });
        if (proof !== null) proved.push(`${id} ${form.method}: ${proof.why}`);
      }
  t.same([...new Set(proved)], []);
  t.ok(requests > 10_000, `${requests} requests`);
});

t.test('answers that are slow at random prove nothing', async (t) => {
  const at = (ms: number): Exchange => ({
    request: { method: 'GET', url: origin, headers: {}, body: null },
    status: 200,
    headers: {},
    cookies: [],
    body: '',
    ms,
  });
  const kinds: Readonly<Record<string, () => number>> = {
    'up to three seconds': () => Math.random() * 3000,
    'none, one or two seconds': () => [20, 20, 1200, 2200][Math.floor(Math.random() * 4)] ?? 0,
    'none or two seconds': () => (Math.random() < 0.5 ? 20 : 2000),
  };
  for (const [name, msOf] of Object.entries(kinds)) {
    const probe = {
      baseline: async () => at(20),
      param: { name: 'a', value: '1', place: 'query' },
      with: async () => at(msOf()),
    } as const satisfies Pick<Probe, 'baseline' | 'param' | 'with'>;
    let proved = 0;
    for (let count = 0; count < 100; count++) if ((await byTime(probe, [(v, s) => `${v}${s}`])) !== null) proved++;
    t.equal(proved, 0, name);
  }
  let asked = 0;
  const honest = {
    baseline: async () => at(20),
    param: { name: 'a', value: '', place: 'query' },
    with: async (value: string) => at(30 + Number(value) * 1000 + (asked++ % 3) * 100),
  } as const satisfies Pick<Probe, 'baseline' | 'param' | 'with'>;
  t.match(await byTime(honest, [(_, s) => String(s)]), { why: /In 3 rows the answer took as long as the value says/ });
});
