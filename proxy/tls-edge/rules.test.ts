// What is made of fingerprints: the list of refused clients, and the variables that rules see.
import { request } from 'node:https';
import t, { type Test } from 'tap';
import type { EventTls } from '../contract/index.js';
import { auditLines, configOf, startBackend, startPlane, testMsMax, until } from '../e2e/harness.js';
import { artifactOfText, realEngine } from '../e2e/real-rules.js';

t.setTimeout(testMsMax);

function get(port: number, path: string, ciphers?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = {
      port,
      path,
      rejectUnauthorized: false,
      agent: false,
      ...(ciphers === undefined ? {} : { ciphers }),
    };
    const sent = request(options, (response) => response.resume().on('end', () => resolve(response.statusCode ?? 0)));
    sent.on('error', reject);
    sent.end();
  });
}

const siteOf = async (t: Test): Promise<object> => {
  const { url: upstream } = await startBackend(t, (_request, response) => response.end('fine'));
  return { name: 'shop', prefix: '/', upstream, protected: true };
};

/** The fingerprints of `get`. */
async function ownPrints(t: Test, site: object): Promise<EventTls> {
  const plane = await startPlane(t, 'net', { sites: [site] }, { tls: { port: 0 } });
  await get(plane.ports.tls as number, '/?q=EVIL');
  const lines = (): Promise<{ gatehouse: { tls: EventTls } }[]> => auditLines(plane);
  await until(async () => (await lines()).length === 1);
  return ((await lines())[0] as { gatehouse: { tls: EventTls } }).gatehouse.tls;
}

t.test('TLS: bot_ja3_blocklist refuses its client, and nobody else', async (t) => {
  const site = await siteOf(t);
  const { ja3 } = await ownPrints(t, site);
  const settings = { sites: [site], bot_ja3_blocklist: ['0'.repeat(32), ja3] };
  const plane = await startPlane(t, 'net', settings, { tls: { port: 0 } });
  const port = plane.ports.tls as number;
  t.equal(await get(port, '/'), 403);
  t.equal(await get(port, '/', 'ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES256-GCM-SHA384'), 200, 'another client');
  const plain = await fetch(`http://127.0.0.1:${plane.ports.http}/`, { headers: { connection: 'close' } });
  t.equal(plain.status, 200, 'the plain port knows no fingerprint');
  await until(async () => (await auditLines(plane)).length === 1);
  t.match(await auditLines(plane), [{ transaction: { messages: [{ details: { ruleId: '1006402', data: ja3 } }] } }]);
  const recorded = await startPlane(t, 'net', { ...settings, mode: 'DetectionOnly' }, { tls: { port: 0 } });
  t.equal(await get(recorded.ports.tls as number, '/'), 200, 'DetectionOnly records');
});

t.test('TLS: rules see both fingerprints, over both protocols, and what HTTP/2 calls itself', async (t) => {
  const site = await siteOf(t);
  const { ja3, ja4 } = await ownPrints(t, site);
  const rules = `
    SecRule TX:ja3 "@streq ${ja3}" "id:1,phase:1,deny,status:418,chain"
      SecRule ARGS:by "@streq ja3" "t:none"
    SecRule TX:ja4 "@streq ${ja4}" "id:2,phase:1,deny,status:418,chain"
      SecRule ARGS:by "@streq ja4" "t:none"
    SecRule REQUEST_PROTOCOL "@streq HTTP/1.1" "id:3,phase:1,deny,status:418,chain"
      SecRule ARGS:by "@streq protocol" "t:none"`;
  const config = configOf({ sites: [site], timeouts: { drain_ms: 200 } });
  const artifact = await artifactOfText(`SecRuleEngine On${rules}\n`);
  const real = realEngine(artifact, config);
  const initial = { ...real.initial, config, artifact, selfTest: 'skip' } as const;
  const plane = await startPlane(t, 'net', {}, { ...real, initial, tls: { port: 0 } });
  const port = plane.ports.tls as number;
  t.equal(await get(port, '/?by=ja3'), 418);
  t.equal(await get(port, '/?by=ja4'), 418);
  t.equal(await get(port, '/?by=protocol'), 418);
  t.equal(await get(port, '/?by=none'), 200);
  const plain = await fetch(`http://127.0.0.1:${plane.ports.http}/?by=ja3`, { headers: { connection: 'close' } });
  t.equal(plain.status, 200, 'without TLS there is none');
});
