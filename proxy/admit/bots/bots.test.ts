// Bots: what counts and what does not, crawlers that are proven beside the road, and above all who is never refused.
import t from 'tap';
import { until } from '../../e2e/waiting.js';
import { drive, type Drive, type Driven } from '../../road/testing/drive.js';
import { gates } from '../index.js';
import { testGateWorker, type TestWorker } from '../testing/gate-worker.js';
import { CrawlerCheck, isSameAddress } from './crawler-check.js';
import { claimedCrawler, crawlers, proveCrawler, type Crawler, type NameService } from './crawlers.js';
import { classifyAgent } from './user-agents.js';

const fields = ['Accept', '*/*', 'Accept-Language', 'en', 'Accept-Encoding', 'gzip'];
const ask = (
  userAgent: string | null,
  settings: object,
  headers: readonly string[] = fields,
  test = testGateWorker(),
  over: Partial<Drive> = {},
): Driven =>
  drive({
    gates,
    worker: test.worker,
    settings,
    hangsUp: true,
    headers: [...(userAgent === null ? [] : ['User-Agent', userAgent]), ...headers],
    ...over,
  });
const scoreOf = ({ given }: Driven): number => Number(given.find(([name]) => name === 'apb_score')?.[1] ?? 0);
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';

/** As they write themselves, of clients that nobody wants to lose. */
const wanted = [
  firefox,
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 11; CUBOT X30) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Mobile Safari/537.36',
  'Mozilla/5.0 (Linux; Android 12; Pixel 6; wv) AppleWebKit/537.36 Chrome/124.0 Mobile [Pinterest/Android]',
  'okhttp/4.12.0',
  'MyShop/3.1 (iPhone; iOS 17.5) CFNetwork/1496.0.7 Darwin/23.5.0',
  'Dalvik/2.1.0 (Linux; U; Android 14)',
  'Dart/3.4 (dart:io)',
  'kube-probe/1.29',
  'ELB-HealthChecker/2.0',
  'GoogleHC/1.0',
  'Amazon-Route53-Health-Check-Service (ref x)',
  'Mozilla/5.0 (compatible; UptimeRobot/2.0)',
  'Pingdom.com_bot_version_1.4',
  'Prometheus/2.53.0',
  'curl/8.5.0',
  'Wget/1.21',
  'python-requests/2.32.3',
  'Go-http-client/2.0',
  'Java/17.0.9',
  'axios/1.7.2',
  'PostmanRuntime/7.39.0',
  'node',
  'stripe/1.0 (+https://stripe.example/docs/webhooks)',
  'GitHub-Hookshot/044aadd',
  '',
];

t.test('5: nobody that an installation wants is refused: with defaults, and when it blocks', async (t) => {
  const bare: readonly string[] = [];
  for (const userAgent of [...wanted, null]) {
    for (const settings of [{}, { bot_action: 'block' }]) {
      const isBrowser = userAgent?.startsWith('Mozilla/') === true && !userAgent.includes('UptimeRobot');
      const driven = ask(userAgent, settings, isBrowser ? fields : bare);
      t.ok(driven.isForwarded, `${userAgent} ${JSON.stringify(settings)}`);
      t.equal(scoreOf(driven), 0, `${userAgent}`);
      t.strictSame(driven.events, []);
    }
  }
});

t.test('5: points of the signals', async (t) => {
  const all = { bot_action: 'block', bot_block_automation: true };
  const cases: readonly (readonly [string | null, object, readonly string[], number])[] = [
    ['sqlmap/1.8', {}, fields, 6],
    ['Mozilla/5.00 (Nikto/2.5)', {}, [], 11],
    ['curl/8.5.0', all, fields, 5],
    ['curl/8.5.0', all, [], 5],
    ['', all, fields, 5],
    [null, all, [], 5],
    ['   ', all, [], 5],
    ['okhttp/4.12.0', all, [], 0],
    ['kube-probe/1.29', all, [], 0],
    ['Mozilla/5.0 HeadlessChrome/120', {}, fields, 4],
    ['Mozilla/5.0 HeadlessChrome/120', {}, ['Accept', '*/*', 'Accept-Encoding', 'gzip'], 6],
    ['SomethingBot/1.0', {}, [], 3],
    [firefox, {}, [], 5],
    [firefox, {}, ['Accept', '*/*', 'Accept-Encoding', 'br'], 2],
    [firefox, { bot_check_headers: false }, [], 0],
  ];
  for (const [userAgent, settings, headers, score] of cases)
    t.equal(
      scoreOf(ask(userAgent, settings, headers)),
      score,
      `${userAgent} ${JSON.stringify(settings)} ${headers.length}`,
    );
});

t.test('5: monitor records, block refuses, at the threshold', async (t) => {
  const watched = ask('sqlmap/1.8', {});
  t.ok(watched.isForwarded);
  t.match(watched.events, [
    { verdict: 'flag', messages: [{ ruleId: 1_006_400, data: '192.0.2.1 score=6 threshold=5 agent=scanner' }] },
  ]);
  t.equal(ask('sqlmap/1.8', { bot_action: 'block' }).answer?.status, 403);
  t.ok(ask('sqlmap/1.8', { bot_action: 'block', bot_score_threshold: 7 }).isForwarded);
  t.ok(
    ask('sqlmap/1.8', { bot_action: 'block' }, fields, testGateWorker(), { site: { protected: false } }).isForwarded,
  );
  t.equal(ask('curl/8', { bot_action: 'block', bot_block_automation: true }).answer?.status, 403);
});

const namesOf = (reverse: Record<string, string[]>, forward: Record<string, string[]>): NameService => {
  const find = async (table: Record<string, string[]>, key: string): Promise<string[]> => {
    const found = table[key];
    if (found === undefined) throw Object.assign(new Error(key), { code: 'ENOTFOUND' });
    return found;
  };
  return {
    reverse: (address) => find(reverse, address),
    resolve4: (name) => find(forward, name),
    resolve6: (name) => find(forward, name),
  };
};

/** A question that has no answer about one key. */
const unless =
  (missing: string, code: string, ask: (key: string) => Promise<readonly string[]>) =>
  (key: string): Promise<readonly string[]> =>
    key === missing ? Promise.reject(Object.assign(new Error(key), { code })) : ask(key);

t.test('issue 22 Q12: only an answer is proof against a crawler', async (t) => {
  const google = claimedCrawler('Googlebot/2.1') as Crawler;
  const address = '66.249.66.1';
  const name = 'crawl-1.googlebot.com';
  const elsewhere = namesOf({ [address]: [name] }, { [name]: ['66.249.66.2'] });
  const away = ['ETIMEOUT', 'ESERVFAIL', 'EREFUSED', 'ECONNREFUSED', 'EBADRESP', 'ECANCELLED'];
  for (const code of away) {
    const unreachable = { ...elsewhere, reverse: unless(address, code, elsewhere.reverse) };
    const found = await proveCrawler(address, google, unreachable, isSameAddress);
    t.match(found, { verdict: 'unverified', isOpen: true, detail: new RegExp(code) }, code);
    const half = { ...elsewhere, resolve4: unless(name, code, elsewhere.resolve4) };
    const oneFamily = await proveCrawler(address, google, half, isSameAddress);
    t.match(oneFamily, { verdict: 'unverified', isOpen: true }, 'the family that has no answer may be the one');
    const unproven = { ...half, resolve6: unless(name, 'ENODATA', elsewhere.resolve6) };
    t.match(await proveCrawler(address, google, unproven, isSameAddress), { verdict: 'unverified', isOpen: true });
  }
  for (const code of ['ENOTFOUND', 'ENODATA']) {
    const nameless = { ...elsewhere, reverse: unless(address, code, elsewhere.reverse) };
    const found = await proveCrawler(address, google, nameless, isSameAddress);
    t.match(found, { verdict: 'impostor', isOpen: false, names: [] }, code);
  }
});

t.test(
  'issue 22 Q12: a name server that did not answer is asked again, and the old verdict stands meanwhile',
  async (t) => {
    const google = claimedCrawler('Googlebot/2.1') as Crawler;
    let nowMs = 0;
    let code = 'ETIMEOUT';
    let asked = 0;
    const names: NameService = {
      ...namesOf({}, {}),
      reverse: async () => {
        asked += 1;
        throw Object.assign(new Error('none'), { code });
      },
    };
    const check = new CrawlerCheck(names, () => nowMs);
    const ask = () => check.ask('66.249.66.1', google, true);
    t.equal(ask(), 'pending');
    await until(async () => check.isIdle);
    t.equal(ask(), 'unverified');
    code = 'ENOTFOUND';
    nowMs = 59_000;
    t.equal(ask(), 'unverified');
    t.equal(asked, 1);
    nowMs = 61_000;
    t.equal(ask(), 'unverified', 'not pending, which would pass');
    await until(async () => check.isIdle);
    t.equal(asked, 2);
    t.equal(ask(), 'impostor');
    nowMs += 3_600_001;
    t.equal(ask(), 'impostor', 'while it is asked again');
    await until(async () => check.isIdle);
    t.equal(asked, 3);
  },
);

t.test('5: forward-confirmed reverse DNS, and what does not count as it', async (t) => {
  const google = claimedCrawler('Mozilla/5.0 (compatible; Googlebot/2.1)') as Crawler;
  const baidu = claimedCrawler('Baiduspider') as Crawler;
  const good = 'crawl-1.googlebot.com';
  const cases: readonly (readonly [string, Crawler, NameService, string])[] = [
    ['it is', google, namesOf({ '66.249.66.1': [good] }, { [good]: ['66.249.66.1'] }), 'verified'],
    [
      'with a dot at the end, in capitals',
      google,
      namesOf({ '66.249.66.1': ['Crawl-1.Googlebot.com.'] }, { [good]: ['66.249.66.1'] }),
      'verified',
    ],
    ['a name that only ends so', google, namesOf({ '66.249.66.1': ['evilgooglebot.com'] }, {}), 'impostor'],
    ['a name that begins so', google, namesOf({ '66.249.66.1': ['googlebot.com.evil.example'] }, {}), 'impostor'],
    ['its name leads elsewhere', google, namesOf({ '66.249.66.1': [good] }, { [good]: ['66.249.66.2'] }), 'impostor'],
    ['its name leads nowhere', google, namesOf({ '66.249.66.1': [good] }, {}), 'impostor'],
    ['no name', google, namesOf({}, {}), 'impostor'],
    ['no name, said without an error', google, namesOf({ '66.249.66.1': [] }, {}), 'impostor'],
    ['no name, with a forward name that is unreliable', baidu, namesOf({}, {}), 'impostor'],
    [
      'a bad forward name of one that has them',
      baidu,
      namesOf({ '66.249.66.1': ['x.baidu.com'] }, { 'x.baidu.com': ['1.1.1.1'] }),
      'unverified',
    ],
    ['addresses only', claimedCrawler('GPTBot/1.1') as Crawler, namesOf({}, {}), 'unverified'],
    [
      'the sixth name',
      google,
      namesOf({ '66.249.66.1': ['a', 'b', 'c', 'd', 'e', good] }, { [good]: ['66.249.66.1'] }),
      'impostor',
    ],
  ];
  for (const [name, crawler, names, verdict] of cases)
    t.equal((await proveCrawler('66.249.66.1', crawler, names, isSameAddress)).verdict, verdict, name);
  const six = namesOf({ '2001:4860::1': [good] }, { [good]: ['2001:4860:0:0:0:0:0:1'] });
  t.equal(
    (await proveCrawler('2001:4860::1', google, six, isSameAddress)).verdict,
    'verified',
    'addresses are compared, not texts',
  );
  t.equal(new Set(crawlers.map(({ name }) => name)).size, crawlers.length);
});

t.test('5: a crawler passes until it is looked up; then it is exempt, or an impostor', async (t) => {
  const reverse = { '66.249.66.1': ['crawl-1.googlebot.com'], '198.51.100.9': ['host.evil.example'] };
  const known = namesOf(reverse, { 'crawl-1.googlebot.com': ['66.249.66.1'] });
  const names = { ...known, reverse: unless('203.0.113.5', 'ETIMEOUT', known.reverse) };
  const test: TestWorker = testGateWorker({}, undefined, names);
  const agent = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
  const settings = { bot_action: 'block', bot_score_threshold: 3 };
  const from = (clientIp: string, more: object = {}) => ask(agent, { ...settings, ...more }, [], test, { clientIp });
  const settled = async (): Promise<void> => {
    while (!test.worker.crawlers.isIdle) await new Promise((resolve) => setImmediate(resolve));
  };
  t.ok(from('66.249.66.1').isForwarded, 'nothing waits');
  t.ok(from('198.51.100.9').isForwarded);
  t.ok(from('203.0.113.5').isForwarded);
  t.ok(from('203.0.113.6').isForwarded);
  await settled();
  t.ok(from('66.249.66.1').isForwarded);
  t.equal(from('66.249.66.1', { bot_allow_verified: false }).answer?.status, 403, 'the points of a crawler');
  const impostor = from('198.51.100.9');
  t.equal(impostor.answer?.status, 403);
  t.match(impostor.events, [{ messages: [{ ruleId: 1_006_401, data: '198.51.100.9 claims to be Googlebot' }] }]);
  t.ok(from('198.51.100.9', { bot_action: 'monitor' }).isForwarded);
  t.equal(from('203.0.113.5').answer?.status, 403, 'the name server did not answer: the points of a crawler');
  t.ok(from('203.0.113.5', { bot_score_threshold: 5 }).isForwarded);
  t.equal(from('203.0.113.6', { bot_score_threshold: 5 }).answer?.status, 403, 'no name: an impostor');
  t.ok(from('10.0.0.7', { bot_score_threshold: 5 }).isForwarded, 'inner addresses are not looked up');
  t.ok(test.worker.crawlers.isVerified('66.249.66.1'));
  t.match(test.worker.crawlers.list(), [
    { crawler: 'Googlebot', verdict: 'pending', requests: 4 },
    { crawler: 'Googlebot', verdict: 'verified', requests: 2 },
  ]);
});

t.test('5: a flood of claims has a bound', async (t) => {
  let asked = 0;
  const names: NameService = { ...namesOf({}, {}), reverse: () => new Promise(() => (asked += 1)) };
  const test = testGateWorker({}, undefined, names);
  for (let index = 0; index < 1200; index += 1)
    ask('Googlebot/2.1', {}, [], test, { clientIp: `66.${index >> 16}.${(index >> 8) & 255}.${index & 255}` });
  t.equal(asked, 8, 'eight at once, the others wait or are asked with a later request');
});

t.test('5: classes', async (t) => {
  for (const [userAgent, kind] of [
    ['Robotics App/1.0', 'other'],
    ['MyBot', 'crawler'],
    ['my-bot/2', 'crawler'],
    ['YaBrowser Mozilla', 'other'],
  ] as const)
    t.equal(classifyAgent(userAgent), kind, userAgent);
});

t.test(
  'TLS: who claims to be a browser and offers no protocol in the handshake gets points, not a refusal',
  async (t) => {
    const tls = (alpn: 'h2' | null) => ({ version: 'TLSv1.3', serverName: 'a', alpn, ja3: '', ja4: '', given: [] });
    const over = (agent: string, alpn: 'h2' | null, settings: object = {}): number =>
      scoreOf(ask(agent, { bot_action: 'block', ...settings }, fields, testGateWorker(), { tls: tls(alpn) }));
    t.equal(over(firefox, 'h2'), 0);
    t.equal(over(firefox, null), 2);
    t.equal(over(firefox, null, { bot_check_headers: false }), 0);
    t.equal(over('okhttp/4.12.0', null), 0, 'an app is no worse for it');
    t.equal(over('kube-probe/1.29', null), 0);
    t.ok(ask(firefox, { bot_action: 'block' }, fields, testGateWorker(), { tls: tls(null) }).isForwarded);
  },
);

t.test('10.4: published ranges: a crawler is verified at its first request, an impostor refused at its', async (t) => {
  const googlebot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
  const gptbot = 'Mozilla/5.0 AppleWebKit/537.36; compatible; GPTBot/1.1; +https://openai.com/gptbot';
  const settings = {
    bot_action: 'block',
    bot_crawler_ranges: [
      {
        crawler: 'Googlebot',
        creationTime: '2026-11-01T00:00:00.000000',
        prefixes: [{ ipv6Prefix: '2001:4860:4801:10::/64' }, { ipv4Prefix: '66.249.64.0/27' }],
      },
      { crawler: 'GPTBot', prefixes: [{ ipv4Prefix: '203.0.113.0/28' }] },
    ],
  };
  const name = 'crawl-66-249-99-1.googlebot.com';
  const names: NameService = {
    reverse: (address) => (address === '66.249.99.1' ? Promise.resolve([name]) : Promise.reject(new Error('no name'))),
    resolve4: () => Promise.resolve(['66.249.99.1']),
    resolve6: () => Promise.resolve([]),
  };
  const test = testGateWorker({}, undefined, names);
  const from = (userAgent: string, clientIp: string): Driven => ask(userAgent, settings, [], test, { clientIp });
  for (const [agent, address] of [
    [googlebot, '66.249.64.5'],
    [googlebot, '::ffff:66.249.64.5'],
    [googlebot, '2001:4860:4801:10::7'],
    [gptbot, '203.0.113.15'],
  ] as const)
    t.equal(from(agent, address).isForwarded, true, `${agent.slice(25, 50)} from ${address}`);
  t.ok(test.worker.crawlers.isVerified('66.249.64.5'), 'and is never banned');
  t.ok(test.worker.crawlers.isIdle, 'nobody was asked');
  for (const [agent, address] of [
    [gptbot, '203.0.113.16'],
    [googlebot, '203.0.113.1'],
    [googlebot, '66.249.64.32'],
  ] as const) {
    const { answer, events } = from(agent, address);
    t.equal(answer?.status, 403, `${agent.slice(25, 50)} from ${address}`);
    t.equal(events[0]?.messages[0]?.ruleId, 1_006_401);
  }
  t.equal(from(googlebot, '10.1.2.3').isForwarded, true, 'an inner address is that of a proxy');
  t.equal(from(googlebot, '66.249.99.1').answer?.status, 403);
  t.ok(await until(async () => test.worker.crawlers.isIdle));
  t.equal(from(googlebot, '66.249.99.1').isForwarded, true, 'a list that is too old is put right by the name');
  t.throws(
    () =>
      ask(googlebot, { bot_crawler_ranges: [{ crawler: 'Gogglebot', prefixes: [{ ipv4Prefix: '192.0.2.0/24' }] }] }),
    /no crawler is called Gogglebot; name one of/,
  );
});
