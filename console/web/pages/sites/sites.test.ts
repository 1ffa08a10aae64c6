import t from 'tap';
import { problemsOfEntry } from '../setup/field-problems.js';
import { siteRows, type SiteFacts, type SitesReply } from './site-rows.js';
import { blankSite, formOf, nameFor, siteOf, type StoredSite } from './site-values.js';

const stored: StoredSite = {
  name: 'shop',
  host: 'shop.example',
  prefix: '/',
  upstream: 'http://10.0.0.5:3000',
  upstreams: [{ url: 'http://10.0.0.6:3000', weight: 3 }],
  protected: true,
  mode: null,
  fail_mode: 'closed',
  host_policy: 'preserve',
  verify_upstream_certificate: true,
  strip_prefix: null,
  health_check: { path: '/healthz', interval_ms: 5000 },
  paranoia_level: 2,
  inbound_threshold: null,
  outbound_threshold: null,
  second_opinion: null,
  early_blocking: false,
  categories: { php: { enabled: false }, xss: { path_exclusions: ['/editor'] } as object },
  request_body_limit_bytes: 4096,
};

t.test('a site goes through its form unchanged, and only what is changed changes', async (t) => {
  t.same(siteOf(formOf(stored), stored), stored);
  const off = siteOf({ ...formOf(stored), state: 'off', categories: { php: 'on', xss: '' } }, stored);
  t.match(off, {
    protected: false,
    mode: null,
    categories: { php: { enabled: true }, xss: { path_exclusions: ['/editor'] } },
  });
  const cleared = siteOf(
    { ...formOf(stored), categories: { php: '' } },
    { ...stored, categories: { php: { enabled: false } } },
  );
  t.equal(cleared['categories'], null, 'nothing of its own is null');
  t.equal(siteOf({ ...formOf(stored), state: 'DetectionOnly' }, stored)['mode'], 'DetectionOnly');
  t.equal(siteOf({ ...formOf(stored), inbound: 'many' }, stored)['inbound_threshold'], 'many', 'the server says why');
});

t.test('a site that is called nothing gets a name of its own', async (t) => {
  const cases: readonly (readonly [form: object, taken: string[], name: string])[] = [
    [{ host: 'shop.example.com' }, [], 'shop.example.com'],
    [{ upstream: 'http://10.0.0.5:3000/x' }, [], '10.0.0.5'],
    [{ host: '*.example.com' }, [], 'example.com'],
    [{ host: 'a' }, ['a', 'a-2'], 'a-3'],
    [{ upstream: 'no address' }, [], 'site'],
    [{ upstream: 'http://[::1]:1/' }, [], '1'],
  ];
  for (const [form, taken, name] of cases) t.equal(nameFor({ ...blankSite, ...form }, taken), name);
});

const facts = (sites: Partial<SitesReply>, more: Partial<SiteFacts> = {}): SiteFacts => ({
  sites: { port: 1, items: [], defaults: [], ...sites },
  nodes: null,
  certificates: null,
  traffic: null,
  ...more,
});

t.test('rows join traffic, health and certificates by the name of a site', async (t) => {
  const view = { name: 'shop', host: 'h', prefix: '/', upstream: 'u', protected: true, mode: 'DetectionOnly' };
  const nodes = ['n1', 'n2'].map((url, at) => ({
    url,
    upstreams: [
      { site: 'shop', url: 'http://u', weight: 1, state: at === 0 ? 'up' : 'down', detail: 'late', workers_up: 1 },
    ],
  }));
  const certificate = (state: string, end: string) => ({ sites: ['shop'], state, issued: { not_after: end } });
  const [row] = siteRows(
    facts(
      { items: [view] as unknown as SitesReply['items'] },
      {
        nodes: nodes as unknown as SiteFacts['nodes'],
        certificates: [
          certificate('failing', '2027-01-01'),
          certificate('serving', '2026-12-01'),
          certificate('serving', '2026-12-24'),
          certificate('revoked', '2028-01-01'),
        ] as unknown as SiteFacts['certificates'],
        traffic: { sites: [{ site: 'shop', requests: 7, blocked: 2 }], isWhole: true },
      },
    ),
  );
  t.match(row, { state: 'monitor', requests: 7, blocked: 2, certificate: { issued: { not_after: '2026-12-24' } } });
  t.same(
    row?.upstreams?.map(({ isUp }) => isUp),
    [true, false],
  );
  const defaults = [{ name: 'customer', prefix: '/', upstream: 'u', protected: false, mode: 'On' }];
  t.match(siteRows(facts({ defaults })), [{ state: 'off', requests: null, view: null }], 'those of the environment');
  const unread = siteRows(facts({ defaults }))[0];
  t.same([unread?.upstreams, unread?.certificate], [null, undefined], 'what was not read is not called none');
  const away = [{ url: 'n1', state: 'unreachable', upstreams: [] }] as unknown as SiteFacts['nodes'];
  const read = siteRows(facts({ defaults }, { nodes: away, certificates: [] }))[0];
  t.same([read?.upstreams, read?.certificate], [null, null], 'nor is what no node reports');
});

t.test('problems stand at their fields, and what no field shows is said below', async (t) => {
  const refused = {
    message: 'Nothing was saved.',
    errors: [
      { path: '/sites/1/upstream', reason: 'is no address', fix: 'write one' },
      { path: '/sites/1/categories/xss', reason: 'is odd' },
      { path: '/sites/10/upstream', reason: 'is of another' },
    ],
    diagnostics: [],
  } as unknown as Parameters<typeof problemsOfEntry>[0];
  const found = problemsOfEntry(refused, '/sites/1', ['upstream']);
  t.equal(found.at('upstream'), 'is no address; write one');
  t.equal(found.rest, 'is odd. is of another');
  t.equal(problemsOfEntry({ ...refused, errors: [] }, '', []).rest, 'Nothing was saved.');
});
