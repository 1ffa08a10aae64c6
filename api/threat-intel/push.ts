// The list of bad addresses on its way to the data plane: the whole list to every node, at once after a change and again
// by the reconciler for a node that was away. A node tells the SHA-256 of what it has, so that looking costs one status
// request and the list is read from the database only when it may have changed.
import { createHash } from 'node:crypto';
import type { Queryable } from '../db/client.js';
import type { NodeClient, StatusAnswer } from '../nodes/node-client.js';
import { activeNetworks } from './store.js';

export interface ThreatPushOptions {
  readonly sql: Queryable;
  readonly urls: readonly string[];
  readonly client: Pick<NodeClient, 'status' | 'putThreats'>;
  readonly now: () => number;
}

export interface ThreatPush {
  /** After a change: resolves when every node that answers has the list. A node that does not is the reconciler's. */
  changed(): Promise<void>;
  /** One line about it; '' when there was nothing to do. */
  reconcile(): Promise<string>;
}

interface List {
  readonly bytes: Buffer;
  readonly sha256: string;
  /** Milliseconds since 1970; the list is another one from then on. */
  readonly expiresAtMs: number;
}

export function createThreatPush(options: ThreatPushOptions): ThreatPush {
  const { sql, urls, client, now } = options;
  let known: Pick<List, 'sha256' | 'expiresAtMs'> | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let waiting: Promise<void> | null = null;

  const read = async (): Promise<List> => {
    const at = new Date(now());
    const pages: string[] = [];
    for await (const page of activeNetworks(sql, at)) pages.push(page.text);
    const [next] = await sql<{ at: Date | null }[]>`select min(expires_at) as at from threat_addresses where expires_at > ${at}`;
    const bytes = Buffer.from(pages.join(''), 'latin1');
    const list = { bytes, sha256: createHash('sha256').update(bytes).digest('hex'), expiresAtMs: next?.at?.getTime() ?? Infinity };
    known = { sha256: list.sha256, expiresAtMs: list.expiresAtMs };
    return list;
  };
  const differs = (answer: StatusAnswer, sha256: string): boolean => answer.kind === 'answered' && answer.status.threats !== sha256;
  const push = async (list: List, targets: readonly string[]): Promise<string[]> =>
    Promise.all(targets.map(async (url) => {
      const answer = await client.putThreats(url, list.bytes);
      return answer.kind === 'active' ? `${url} has the deny list` : `${url} has not taken the deny list: ${answer.detail}`;
    }));
  /** One at a time: an older list must not overtake a newer one. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work);
    last = turn.catch(() => undefined); // whoever asked for it hears of it; the next in line must still run
    return turn;
  };
  return {
    changed() {
      // one that has not begun yet will read what is in the database then, so it carries this change too
      waiting ??= inTurn(async () => {
        waiting = null;
        await push(await read(), urls);
      });
      return waiting;
    },
    reconcile: () =>
      inTurn(async () => {
        const answers = await Promise.all(urls.map(async (url) => ({ url, answer: await client.status(url) })));
        const seen = known;
        if (seen !== null && now() < seen.expiresAtMs && !answers.some(({ answer }) => differs(answer, seen.sha256))) return '';
        const list = await read();
        return (await push(list, answers.filter(({ answer }) => differs(answer, list.sha256)).map(({ url }) => url))).join('; ');
      }),
  };
}
