// What `up` says when it is up: true of any settings and any application.
import t from 'tap';
import { variables, type Values } from '#settings/environment';
import type { Served, ServedSite } from './admin-interface.js';
import { join } from 'node:path';
import { announcement, type Announcement } from './announce.js';
import { describeSites } from './describe-sites.js';
import { inShort } from './keep-alive.js';

const values = Object.fromEntries(variables.map((row) => [row.name, row.default])) as Values;
const site = (name: string, prefix: string, upstream: string): ServedSite => ({ name, host: null, prefix, upstream });
const demo: Served = {
  ruleset: 'abc',
  mode: 'On',
  closed: null,
  sites: [site('customer', '/', 'http://127.0.0.1:8000'), site('payment', '/payment', 'http://127.0.0.1:8000/payment')],
  sitesFrom: 'environment',
};
const own = 'http://10.0.0.1';

t.test('whom it protects', async (t) => {
  const settings: Served = { ...demo, sitesFrom: 'settings', sites: [{ ...site('mine', '/', own), host: 'a.test' }] };
  const mixed = { ...demo, sites: [site('customer', '/', own), ...demo.sites.slice(1)] };
  const cases: [string, Values, Served | null, string][] = [
    ['no answer', values, null, 'unknown: the data plane does not say (its log may)'],
    [
      'no rules',
      values,
      { ...demo, ruleset: '' },
      'nothing yet: protected sites are answered 503 (the log of the data plane says why)',
    ],
    [
      'the demo',
      values,
      demo,
      'the bundled demo shop on port 8000 (set UPSTREAM_CUSTOMER to protect your own application)',
    ],
    [
      'one application of the environment',
      { ...values, UPSTREAM_CUSTOMER: own },
      mixed,
      `/ → ${own}\n/payment → the bundled demo payment service (UPSTREAM_PAYMENT names another application)`,
    ],
    ['sites of the settings', values, settings, `a.test/ → ${own}`],
    [
      'sites of the settings instead of the environment',
      { ...values, UPSTREAM_CUSTOMER: 'http://b', UPSTREAM_PAYMENT: 'http://c' },
      settings,
      `a.test/ → ${own}\nUPSTREAM_CUSTOMER=http://b and UPSTREAM_PAYMENT=http://c are NOT in force: ` +
        'the settings have sites of their own, and these win',
    ],
    [
      'sites of another environment',
      { ...values, UPSTREAM_CUSTOMER: 'http://b' },
      mixed,
      `/ → ${own}\n/payment → the bundled demo payment service (UPSTREAM_PAYMENT names another application)\n` +
        'UPSTREAM_CUSTOMER=http://b is NOT in force: another control plane gave this node its sites',
    ],
    [
      'many sites',
      values,
      { ...settings, sites: Array.from({ length: 8 }, (_, index) => site('s', `/${index}`, own)) },
      `${[0, 1, 2, 3, 4, 5].map((index) => `/${index} → ${own}\n`).join('')}and 2 more`,
    ],
  ];
  for (const [name, given, served, expected] of cases)
    t.equal(describeSites(given, served).replaceAll(`\n${' '.repeat(20)}`, '\n'), expected, name);
});

const facts: Announcement = {
  values,
  tries: { passed: '200', blocked: '403' },
  rules: { version: '4.25.1', recommended: null, how: null },
  logDirectory: '/srv/log',
  settingsFile: '/srv/settings.json',
  isLog: false,
  control: { url: 'http://127.0.0.1:8095', firstLogin: { email: 'a@b', password: 'pass' } },
  served: demo,
};

t.test('the whole announcement', async (t) => {
  t.equal(
    announcement(facts),
    `
  Gatehouse is up (OWASP CRS 4.25.1).

  console           http://127.0.0.1:3010
  login             a@b   password pass   (shown this once; to be changed at the first login)
  control plane     http://127.0.0.1:8095/api/   (explorer: http://127.0.0.1:8095/api/docs)

  WAF entry point   http://localhost:8080
  the same over TLS https://localhost:8443   (HTTP/2 and HTTP/1.1; JA3 and JA4)
  protects          the bundled demo shop on port 8000 (set UPSTREAM_CUSTOMER to protect your own application)

  passes  (200)     curl -i 'http://localhost:8080/search?q=lamp'
  blocked (403)     curl -i "http://localhost:8080/search?q=1'%20OR%20'1'='1'%20--%20"

  logs              /srv/log/
  Ctrl-C stops everything.
`,
  );
});

t.test('its parts, as they differ', async (t) => {
  const told = (change: Partial<Announcement>): string => announcement({ ...facts, ...change });
  t.match(
    told({ rules: { version: '3.3.4', recommended: '4.25.1', how: 'bin/gatehouse rules update' } }),
    /^\n {2}Gatehouse is up \(rules: CRS 3\.3\.4; 4\.25\.1 recommended: bin\/gatehouse rules update\)\.\n/,
    '8.1: an older rule set, and how to get the other',
  );
  t.match(told({ rules: null }), /is up \(the rules are those that served last\)/);
  t.match(
    told({ tries: { passed: 'no answer (ECONNREFUSED)', blocked: '502' } }),
    /answers \(no answer [^]*answers \(502\)/,
  );
  t.match(
    told({ tries: { passed: '404', blocked: '200' }, served: { ...demo, mode: 'DetectionOnly' } }),
    /passes {2}\(404\)[^]*logged {2}\(200\).*\n {2}\(mode DetectionOnly: attacks are logged, not blocked\)\n/,
  );
  t.match(told({ control: null }), /\n {2}settings \/srv\/settings\.json \(reread on SIGHUP: kill -HUP \d+\)\n/);
  const url = 'http://127.0.0.1:8095';
  t.match(told({ control: { url, firstLogin: null } }), /admin@gatehouse\.local, with the password you chose/);
  const before = { env: process.env['ADMIN_INITIAL_PASSWORD'], file: process.env['GATEHOUSE_ENV_FILE'] };
  t.teardown(() => {
    for (const [name, value] of [
      ['ADMIN_INITIAL_PASSWORD', before.env],
      ['GATEHOUSE_ENV_FILE', before.file],
    ] as const)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });
  const file = join(t.testdir({ '.env': 'ADMIN_INITIAL_PASSWORD=Amber-kettle-orchard-7\n' }), '.env');
  for (const [set, path, expected] of [
    ['', file, /stands in .*\.env as ADMIN_INITIAL_PASSWORD;/],
    ['Amber-kettle-orchard-8', file, /the first one came from the environment as ADMIN_INITIAL_PASSWORD;/],
    ['', `${file}.none`, /the first one was printed at the first start;/],
  ] as const) {
    [process.env['ADMIN_INITIAL_PASSWORD'], process.env['GATEHOUSE_ENV_FILE']] = [set, path];
    const text = told({ control: { url, firstLogin: null } });
    t.match(text, expected);
    t.equal(/stands in/.test(text), path === file && set === '', 'no user is sent to a file that has none');
  }
  t.match(
    told({ control: { url, firstLogin: null, problem: 'it ended\n  its words:\n    the last' } }),
    /control plane {5}not up yet; .*\n {20}it ended the last\n/,
  );
  t.match(
    told({ control: { url, firstLogin: null, problem: 'it ended' } }),
    /is up \(the rules are those that served last\)/,
    'R2: not those that are installed, which nobody has compiled',
  );
  t.equal(inShort('one line'), 'one line');
});

t.test('R2: nobody is told that something is up which is not', async (t) => {
  const served = { ...demo, ruleset: '', closed: 'the rules that served last cannot be started again (format 7)' };
  for (const control of [facts.control, { url: 'http://a', firstLogin: null, problem: 'it ended' }, null]) {
    const text = announcement({ ...facts, control, served });
    t.match(
      text,
      /^\n {2}Gatehouse has started, but it is NOT serving: .*answered 503\.\n {2}the rules.*format 7\)\.\n/,
    );
    t.notMatch(text, 'Gatehouse is up');
  }
  const silent = announcement({ ...facts, served: null });
  t.match(silent, /^\n {2}Gatehouse has started, but its data plane does not say what it serves/);
});
