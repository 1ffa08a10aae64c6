// Many nodes in one process: real identities, tunnels and answers of the admin interface, and nothing behind them. For
// tests that start it as a child. Argument: one JSON object (addresses, token, count, directory). It answers messages:
// `state` with what each node has, and when that came.
import { mkdir } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { planeModule } from '../data-plane.js';

export interface SimulatedNode {
  readonly name: string;
  generation: number;
  ruleset: string;
  measures: string;
  /** When the last generation and the last client measures came, by the clock of this machine. */
  generationAtMs: number;
  measuresAtMs: number;
  /** Of the last generation: its request, in bytes. */
  generationBytes: number;
}

interface TunnelsOf {
  begin(): void;
  close(): void;
}

interface Wish {
  readonly addresses: readonly string[];
  readonly token: string;
  readonly count: number;
  readonly directory: string;
}

const joinsAtOnce = 8;
const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

const tunnelsModule = async () =>
  (await import(new URL('../../../proxy/fleet/tunnels.js', import.meta.url).href)) as {
    readonly Tunnels: new (options: object) => TunnelsOf;
  };

async function read(request: IncomingMessage): Promise<{ readonly head: string; readonly bytes: number }> {
  let head = '';
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    if (head.length < 1_000_000) head += piece.toString('latin1');
    bytes += piece.length;
  }
  return { head, bytes };
}

function reply(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

/** Takes a generation as a node does: what it has not been sent it cannot serve. */
function takeGeneration(node: SimulatedNode, head: string, bytes: number, response: ServerResponse): void {
  const id = Number(/"id":(\d+)/.exec(head)?.[1] ?? 0);
  const sha256 = /"sha256":"([0-9a-f]*)"/.exec(head)?.[1] ?? '';
  const hasArtifact = sha256 === '' || sha256 === node.ruleset || /"artifact(Gzip)?Base64":"/.test(head);
  if (!hasArtifact) {
    const reason = `ENOENT: no such file or directory, open '${sha256}'`;
    return reply(response, 422, { outcome: 'refused', id, reason, problems: [] });
  }
  Object.assign(node, { generation: id, ruleset: sha256, generationAtMs: Date.now(), generationBytes: bytes });
  reply(response, 200, { outcome: 'active', id, sha256, workers: 1, isPersisted: true, tookMs: 1 });
}

async function answer(node: SimulatedNode, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { head, bytes } = await read(request);
  const setMeasures = (sha256: string): void => {
    Object.assign(node, { measures: sha256, measuresAtMs: Date.now() });
    reply(response, 200, { outcome: 'active', sha256 });
  };
  switch (`${request.method} ${request.url}`) {
    case 'GET /status': {
      const { generation, ruleset, measures } = node;
      const has = { generation, ruleset, measures: { sha256: measures }, load: { rpm: 0, cpu: 0 } };
      return reply(response, 200, { ...has, workers: [{}], sites: [], takesGzip: true });
    }
    case 'PUT /generation':
      return takeGeneration(node, head, bytes, response);
    case 'PUT /measures': {
      return setMeasures(createHash('sha256').update(Buffer.from(head, 'latin1')).digest('hex'));
    }
    case 'PATCH /measures': {
      const { base, sha256 } = JSON.parse(head) as { readonly base: string; readonly sha256: string };
      return base === node.measures ? setMeasures(sha256) : reply(response, 409, { outcome: 'mismatch' });
    }
    default:
      return reply(response, 404, {});
  }
}

/** Joins, and keeps its tunnels from then on. */
async function begin(wish: Wish, index: number): Promise<SimulatedNode> {
  const [{ joinFleet, IdentityStore }, { Tunnels }] = [await planeModule(), await tunnelsModule()];
  const { addresses, token } = wish;
  const dataDir = join(wish.directory, String(index));
  await mkdir(dataDir, { recursive: true });
  // on a machine that is busy with all of them a join may take too long: a node tries again
  const enrol = () => joinFleet({ dataDir, addresses, token, name: `sim-${index}`, labels: {} });
  const { name } = await enrol().catch(enrol).catch(enrol);
  const times = { generationAtMs: 0, measuresAtMs: 0, generationBytes: 0 };
  const node = { name, generation: 0, ruleset: '', measures: empty, ...times };
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    answer(node, request, response).catch(() => response.destroy()); // its tunnel ended meanwhile
  };
  new Tunnels({ identity: IdentityStore.read(dataDir), handle, log: () => {} }).begin();
  return node;
}

async function run(wish: Wish): Promise<void> {
  const nodes: SimulatedNode[] = [];
  let next = 0;
  const beginSome = async (): Promise<void> => {
    for (let index = next++; index < wish.count; index = next++) nodes.push(await begin(wish, index));
  };
  await Promise.all(Array.from({ length: joinsAtOnce }, beginSome));
  process.on('message', () => process.send?.({ kind: 'state', nodes }));
  process.once('disconnect', () => process.exit());
  process.send?.({ kind: 'joined' });
}

if (process.argv[2] !== undefined) await run(JSON.parse(process.argv[2]) as Wish);
