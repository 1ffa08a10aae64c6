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
