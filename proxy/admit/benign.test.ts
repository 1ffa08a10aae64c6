// Benign traffic through all gates: with default settings, and with bots blocked, none of it is refused.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { resolveProxyConfig } from '../contract/proxy-config.js';
import { createRouter } from '../road/route.js';
import { openGates } from './index.js';
import { testGateWorker } from './testing/gate-worker.js';

interface Row {
  readonly method: string;
  readonly uri: string;
  readonly headers: readonly (readonly [string, string])[];
}

const shared = process.env['GATEHOUSE_SHARED'] ?? resolve(import.meta.dirname, '../../../../shared');
const corpus = join(shared, 'corpora', 'traffic', 'benign.jsonl');
const skip = existsSync(corpus) ? false : `no corpus at ${corpus} (set GATEHOUSE_SHARED)`;

t.test('5: benign traffic: 0 denials by gates', { skip }, async (t) => {
  const rows = readFileSync(corpus, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
  for (const settings of [{}, { bot_action: 'block' }]) {
    const { config } = resolveProxyConfig(settings, { customer: 'http://127.0.0.1:1', payment: 'http://127.0.0.1:1' });
    if (config === null) throw new Error('the settings are no configuration');
    const [site] = createRouter(config).sites;
    const { ofProtected } = openGates(testGateWorker().worker)(config);
    t.ok(ofProtected.length >= 3, 'gates are asked');
    const refused = rows.flatMap(({ method, uri, headers }) => {
      const head = { method, uri, protocol: 'HTTP/1.1', headers: headers.flat(), clientIp: '198.51.100.7' };
      const exchange = { framing: { kind: 'none' }, isTls: false, isUpgrade: false };
      const request = { head, exchange, requestId: 'x', atMs: 0, startedMs: 0, give: () => {} };
      return ofProtected.flatMap(({ name, decide }) => {
        const decision = decide(request as never, site as never);
        return decision === null || decision.kind === 'flag' ? [] : [`${name} ${decision.rule?.data} ${uri}`];
      });
    });
    t.strictSame(refused, [], `${rows.length} requests with ${JSON.stringify(settings)}`);
  }
});

/** As health checks, apps and SDKs name themselves; none of them sends what a browser does. */
const programs: readonly string[] = [
  'kube-probe/1.31',
  'ELB-HealthChecker/2.0',
  'GoogleHC/1.0',
  'Envoy/HC',
  'HAProxy-HealthCheck',
  'Consul Health Check',
  'UptimeRobot/2.0',
  'Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)',
  'StatusCake',
  'Prometheus/2.54.1',
  'Blackbox Exporter/0.25.0',
  'okhttp/4.12.0',
  'Shop/7.1 CFNetwork/1496.0.7 Darwin/23.5.0',
  'Dalvik/2.1.0 (Linux; U; Android 14; Pixel 8 Build/UP1A)',
  'Alamofire/5.9.1',
  'Dart/3.5 (dart:io)',
  'curl/8.5.0',
  'Wget/1.21.4',
  'python-requests/2.32.3',
  'python-httpx/0.27.2',
  'aiohttp/3.10.5',
  'Go-http-client/2.0',
  'Java/21.0.4',
  'Apache-HttpClient/5.3.1 (Java/21)',
  'axios/1.7.7',
  'node-fetch/1.0',
  'undici',
  'Boto3/1.35.0 md/Botocore#1.35.0',
  'aws-sdk-go/1.55.5 (go1.22.5; linux; amd64)',
  'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
  'GitHub-Hookshot/044aadd',
  'Slackbot 1.0 (+https://api.slack.com/robots)',
  'grpc-node-js/1.11.1',
  'PostmanRuntime/7.42.0',
  'Terraform/1.9.5',
  '',
];

t.test('E6: health checks, apps and SDKs: 0 denials by gates, also where bots are blocked', async (t) => {
  for (const settings of [{}, { bot_action: 'block' }]) {
    const { config } = resolveProxyConfig(settings, { customer: 'http://127.0.0.1:1', payment: 'http://127.0.0.1:1' });
    if (config === null) throw new Error('the settings are no configuration');
    const [site] = createRouter(config).sites;
    const { ofProtected } = openGates(testGateWorker().worker)(config);
    const tlsOf = { version: 'TLSv1.3', serverName: null, alpn: null, ja3: '0'.repeat(32), ja4: 't13i', given: [] };
    const refused = programs.flatMap((program) =>
      [null, tlsOf].flatMap((tls) => {
        const headers = ['Host', 'shop.example', ...(program === '' ? [] : ['User-Agent', program])];
        const head = { method: 'GET', uri: '/healthz', protocol: 'HTTP/1.1', headers, clientIp: '198.51.100.8' };
        const exchange = { framing: { kind: 'none' }, isTls: tls !== null, tls, isUpgrade: false };
        const request = { head, exchange, requestId: 'x', atMs: 0, startedMs: 0, give: () => {} };
        return ofProtected.flatMap(({ name, decide }) => {
          const decision = decide(request as never, site as never);
          return decision === null || decision.kind === 'flag' ? [] : [`${name}: ${program}`];
        });
      }),
    );
    t.strictSame(refused, [], JSON.stringify(settings));
  }
});
