// When the fleet is one again: every control plane is ready, every node is connected to one, all serve the active
// version with the same rules, settings and client measures, and count limits together.
import { setTimeout as pause } from 'node:timers/promises';
import { adminToken } from './planes.js';
import type { Part } from './parts.js';
import type { Administrator } from './writes.js';

interface NodeState {
  readonly generation: number;
  readonly ruleset: string;
  readonly measures: { readonly sha256: string };
}

const askMsMax = 2000;

async function askNode(node: Part, path: string): Promise<Record<string, unknown>> {
  const reply = await fetch(`http://${node.host}:2019${path}`, {
    signal: AbortSignal.timeout(askMsMax),
    headers: { authorization: `Bearer ${adminToken}`, connection: 'close' },
  });
  if (!reply.ok) throw new Error(`${path} answers ${reply.status}`);
  return reply.headers.get('content-type')?.includes('json') === true
    ? ((await reply.json()) as Record<string, unknown>)
    : { text: await reply.text() };
}

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function lookAtNodes(nodes: readonly Part[]): Promise<string[]> {
  const wrong: string[] = [];
  const states = await Promise.all(
    nodes.map(async (node) => {
      try {
        await askNode(node, '/readyz');
        const gates = (await askNode(node, '/gates')) as { readonly sharing: { state: string; nodes: number } };
        if (gates.sharing.state !== 'shared') wrong.push(`${node.name} limits by itself: ${gates.sharing.state}`);
        return (await askNode(node, '/status')) as unknown as NodeState;
      } catch (error) {
        wrong.push(`${node.name}: ${words(error)}`);
        return null;
      }
    }),
  );
  const known = states.filter((state) => state !== null);
  const each = (of: (state: NodeState) => string): number => new Set(known.map(of)).size;
  if (each(({ ruleset }) => ruleset) > 1) wrong.push('nodes have different rules');
  if (each(({ measures }) => measures.sha256) > 1) wrong.push('nodes have different client measures');
  return wrong;
}

async function lookAtControls(controls: readonly Part[], admin: Administrator): Promise<string[]> {
  const looks = controls.map(async ({ name, host }) => {
    try {
      const { status } = await admin.call(host, 'GET', '/api/ready');
      if (status !== 200) return [`${name} is not ready: ${status}`];
      const { body } = await admin.call(host, 'GET', '/api/nodes');
      const items = body['items'] as { url: string; state: string; detail: string }[];
      return items
        .filter(({ state }) => state !== 'in_sync' && state !== 'active')
        .map(({ url, state, detail }) => `${name} says that ${url} is ${state}: ${detail}`);
    } catch (error) {
      return [`${name}: ${words(error)}`];
    }
  });
  return (await Promise.all(looks)).flat();
}

/** What keeps the fleet from being one; empty: nothing. */
export async function whatIsWrong(
  nodes: readonly Part[],
  controls: readonly Part[],
  admin: Administrator,
): Promise<string[]> {
  return [...(await lookAtNodes(nodes)), ...(await lookAtControls(controls, admin))];
}

export interface Converged {
  readonly tookMs: number;
  /** What was seen last before it was one; at the end of patience what still is. */
  readonly last: readonly string[];
  readonly isOne: boolean;
}

/** An apply that is under way makes nodes differ for a moment: the first look at which all is one counts. */
export async function untilOne(look: () => Promise<string[]>, withinMs: number): Promise<Converged> {
  const fromMs = performance.now();
  for (let last: string[] = []; ; await pause(200)) {
    const wrong = await look();
    const tookMs = performance.now() - fromMs;
    if (wrong.length === 0) return { tookMs, last, isOne: true };
    last = wrong;
    if (tookMs > withinMs) return { tookMs, last, isOne: false };
  }
}
