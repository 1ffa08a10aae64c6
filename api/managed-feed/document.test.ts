import t from 'tap';
import { makeKeyPair, signManagedFeed } from '../licence/vendor-sign.js';
import { feedDocument, feedPatch } from '../testing/builders/feed.js';
import { isInnerNetwork } from '../threat-intel/inner-networks.js';
import { toDenied } from '../addresses/denied.js';
import { patchCatalog } from '../vpatch/catalog/index.js';
import { createAddressSet } from '../addresses/address-set.js';
import { baselineFeed } from './baseline.js';
import { feedPatchIds, readManagedFeed } from './document.js';

const bytes = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const vendor = makeKeyPair(2048);

t.test('documents: what is taken and what is refused, with the reason', async (t) => {
  const feed = readManagedFeed(bytes(feedDocument), null);
  t.match(feed, {
    name: 'Test feed',
    version: 3,
    signed: false,
    networks: ['203.0.113.7', '198.51.100.0/24'],
    leftOut: ['10.0.0.0/8'],
    catalogIds: [1007001],
  });
  t.match(
    feed.patches[0]?.seclang,
    /SecRule REQUEST_FILENAME\|PATH_READINGS:path "@contains \/example\/render"[^]*deny,status:403[^]*chain/,
  );
  const change = (over: object): unknown => ({ ...feedDocument, ...over });
  const withPatch = (over: object): unknown => change({ patches: [{ ...feedPatch, ...over }] });
  const cases: [string, unknown, RegExp][] = [
    ['a web page', '<html>', /not JSON/],
    ['an array', [], /no managed feed/],
    ['another format', change({ format: 'gatehouse-managed-feed/2' }), /\/format/],
    ['more members', change({ admin: true }), /\(admin\)/],
    ['no version', change({ version: 0 }), /\/version/],
    ['no moment', change({ issued: 'yesterday' }), /\/issued/],
    ['a wrong network', change({ networks: ['203.0.113.7', 'example.org'] }), /\/networks\/1 "example.org"/],
    [
      'half the internet',
      change({ networks: Array.from({ length: 120 }, (_, i) => `${11 + i}.0.0.0/8`) }),
      /would deny \d+ %/,
    ],
    ['an unknown patch', change({ catalog: [1007899] }), /1007899, which this program does not have/],
    ['an id of the catalogue', withPatch({ id: 1007001 }), /\/patches\/0\/id/],
    ['no benign requests', withPatch({ benign: [] }), /\/patches\/0\/benign/],
    ['rule text', withPatch({ seclang: 'SecRuleEngine Off' }), /\(seclang\)/],
    [
      'a quote in the operator',
      withPatch({ links: [['ARGS', '@rx a" "id:1,phase:1,pass,ctl:ruleEngine=Off']] }),
      /\/links\/0\/1 is no operator/,
    ],
    ['a backslash at its end', withPatch({ links: [['ARGS', '@rx a\\']] }), /\/links\/0\/1/],
    ['a line end', withPatch({ links: [['ARGS', '@rx a\nSecRuleEngine Off']] }), /\/links\/0\/1/],
    [
      'actions among transformations',
      withPatch({ links: [['ARGS', '@rx a', 'none,ctl:ruleEngine=Off']] }),
      /\/links\/0\/2/,
    ],
    ['variables that are none', withPatch({ links: [['ARGS "@rx a" "id:1', '@rx a']] }), /\/links\/0\/0/],
    ['an unknown variable', withPatch({ links: [['NOTHING', '@rx a']] }), /\/patches\/0 is no rule/],
    ['a file', withPatch({ links: [['ARGS', '@pmFromFile /etc/passwd']] }), /\/patches\/0 is no rule/],
    ['a program', withPatch({ links: [['ARGS', '@inspectFile /bin/sh']] }), /\/patches\/0 is no rule/],
    ['a broken pattern', withPatch({ links: [['ARGS', '@rx (']] }), /\/patches\/0 is no rule/],
    ['a quote in the title', withPatch({ title: "x',ctl:ruleEngine=Off,msg:'" }), /\/patches\/0\/title/],
    ['a request that is none', withPatch({ attack: [['x', 'nonsense']] }), /\/attack\/0/],
    ['one id twice', change({ patches: [feedPatch, { ...feedPatch, cve: 'CVE-2026-10002' }] }), /one id twice/],
  ];
  for (const [name, given, reason] of cases)
    t.throws(() => readManagedFeed(bytes(given), null), { message: reason }, name);
  t.equal(cases.length, 24);
});

t.test('signatures', async (t) => {
  const text = JSON.stringify(feedDocument);
  const signed = signManagedFeed(text, vendor.privateKey);
  t.match(readManagedFeed(bytes(`${signed}\n`), vendor.publicKey), { signed: true, version: 3 });
  const [, payload = '', signature = ''] = signed.split('.');
  const other = Buffer.from(JSON.stringify({ ...feedDocument, version: 4 })).toString('base64url');
  const cases: [string, string, string | null, RegExp][] = [
    ['plain for a build with a vendor', text, vendor.publicKey, /not signed/],
    ['another content', `GHF1.${other}.${signature}`, vendor.publicKey, /not the vendor/],
    ['no signature', `GHF1.${payload}.`, vendor.publicKey, /not the vendor/],
    ['no parts', 'GHF1.', vendor.publicKey, /not the vendor/],
    ['somebody else’s', signManagedFeed(text, makeKeyPair(2048).privateKey), vendor.publicKey, /not the vendor/],
    ['signed for a build without a vendor', signed, null, /no vendor key/],
  ];
  for (const [name, given, key, reason] of cases)
    t.throws(() => readManagedFeed(bytes(given), key), { message: reason }, name);
});

t.test('the baseline denies no client that can exist, and knows its patches', async (t) => {
  for (const network of baselineFeed.networks)
    t.same([toDenied(network), isInnerNetwork(network)], [{ network }, false], network);
  const listed = createAddressSet(baselineFeed.networks);
  for (const network of ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'])
    t.equal(listed.overlaps(network), false, `issue 22 E: ${network} is for documentation and demonstrations`);
  t.equal(
    baselineFeed.catalogIds.filter((id) => patchCatalog.some((one) => one.id === id)).length,
    baselineFeed.catalogIds.length,
  );
  t.equal(
    patchCatalog.some(({ id }) => id >= feedPatchIds[0]),
    false,
    'the catalogue stays out of the ids of feeds',
  );
  for (const inner of [
    '10.1.2.3',
    '172.31.0.0/16',
    '192.168.0.0/24',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.0.0.0/8',
    '::1',
    'fd12::/32',
    'fe80::1',
  ])
    t.ok(isInnerNetwork(inner), inner);
  for (const outer of ['11.0.0.0/8', '172.32.0.0/16', '8.8.8.8', '100.128.0.0/9', '2a00::/16', '2001:db8::/32'])
    t.notOk(isInnerNetwork(outer), outer);
});
