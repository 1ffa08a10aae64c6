// Certificates of nodes over time: renewed before they end, and worth nothing from the moment of a revocation.
import t, { type Test } from 'tap';
import { X509Certificate } from 'node:crypto';
import type { Database } from '../db/client.js';
import { ask, blockWord } from '../testing/change-road.js';
import { planeModule, startUpstream } from '../testing/data-plane.js';
import { onOneDatabase } from '../testing/databases.js';
import { enrol, startEnrolled, startFleetPlane } from '../testing/servers/fleet.js';
import { testMsMax, until } from '../testing/waiting.js';

t.setTimeout(testMsMax);

const endOf = ({ validTo }: X509Certificate): number => Date.parse(validTo);

async function renewal(t: Test, database: Database): Promise<void> {
  const upstream = await startUpstream(t);
  const plane = await startFleetPlane(t, database, upstream, { nodeLifeMs: 12_000 });
  const dataDir = await enrol(t, plane, 'edge-1');
  const { IdentityStore } = await planeModule();
  const certificate = (): X509Certificate =>
    new X509Certificate(IdentityStore.read(dataDir)?.current.certificate ?? '');
  const first = certificate();
  const node = await startEnrolled(t, upstream, dataDir);
  await until('the node is connected', () => plane.isConnected('edge-1'));
  await until('it has another certificate', () => certificate().serialNumber !== first.serialNumber);
  t.ok(Date.now() < endOf(first), 'before the first one ends');
  t.notSame(certificate().publicKey.export({ format: 'jwk' }), first.publicKey.export({ format: 'jwk' }));
  await until('the first one is over', () => Date.now() > endOf(first) + 1000);
  t.ok(Date.now() < endOf(certificate()), 'it has one that is valid');
  await plane.patch({ custom_rules: [blockWord(1_000_001, 'plugh')] });
  t.match(await plane.apply(), { status: 200, body: { nodes: [{ url: 'node:edge-1', state: 'active' }] } });
  t.equal(await ask(node, '/?q=plugh'), 403);
  await node.stop();
  await until('its tunnel is gone', () => !plane.isConnected('edge-1'));
  const again = await startEnrolled(t, upstream, dataDir);
  await until('it connects with what it was given', () => plane.isConnected('edge-1'));
  t.equal(await ask(again, '/?q=plugh'), 403);
  const kept = await database.sql`select 1 from node_certificates where expires_at < now() - interval '30 seconds'`;
  t.same(kept, [], 'what ended is cleared away');
}

async function revocation(t: Test, database: Database): Promise<void> {
  const upstream = await startUpstream(t);
  const first = await startFleetPlane(t, database, upstream);
  const second = await startFleetPlane(t, database, upstream);
  const dataDir = await enrol(t, first, 'edge-1', [first.address, second.address]);
  const node = await startEnrolled(t, upstream, dataDir);
  await until('both reach it', () => first.isConnected('edge-1') && second.isConnected('edge-1'));
  await first.patch({ custom_rules: [blockWord(1_000_001, 'plugh')] });
  t.match(await first.apply(), { status: 200 });

  const atMs = performance.now();
  t.match(await first.call('POST', '/api/nodes/enrolled/edge-1/revoke', { token: first.admin }), { status: 200 });
  t.notOk(first.isConnected('edge-1'), 'its tunnel ends before the answer');
  await until('the other control plane cuts it, too', () => !second.isConnected('edge-1'));
  const tookMs = performance.now() - atMs;
  t.comment(`cut everywhere after ${Math.round(tookMs)} ms`);
  t.ok(tookMs < 20_000, `${Math.round(tookMs)} ms`); // five seconds, on a machine that is not busy

  t.same([...first.link.directory.urls, ...second.link.directory.urls], [], 'no control plane has its address');
  await first.patch({ custom_rules: [blockWord(1_000_001, 'xyzzy')] });
  t.match(await second.apply(), { status: 502, body: { detail: /no data-plane node answers/ } });
  t.same([await ask(node, '/?q=plugh'), await ask(node, '/?q=xyzzy')], [403, 200], 'it serves what it has');
}

t.test('renewal', (t) => onOneDatabase(t, 'a certificate is renewed before its end', renewal));
t.test('revocation', (t) => onOneDatabase(t, 'a revocation cuts open tunnels', revocation));
