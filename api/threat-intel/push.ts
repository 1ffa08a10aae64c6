// The list of bad addresses on its way to the data plane: at once after a change, and again by the reconciler for a
// node that was away. A node tells the SHA-256 of what it has. The text of the list stays here, so that a change costs
// what was touched and not the list: the database is asked about those networks, the node gets them with the digests of
// both texts. A node that has something else says so and gets the whole list.
import { createHash } from 'node:crypto';
import { changeThreatText, type ThreatDelta } from '#proxy/contract';
import type { Queryable } from '../db/client.js';
import type { NodeClient, StatusAnswer } from '../nodes/node-client.js';
import { changesSince, threatPosition, type ThreatPosition } from './changes.js';
import { activeNetworks } from './store.js';

export interface ThreatPushOptions {
  readonly sql: Queryable;
  readonly urls: readonly string[];
  readonly client: Pick<NodeClient, 'status' | 'putThreats' | 'patchThreats'>;
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
  readonly position: ThreatPosition;
  /** How it came from the list before; null: it was read whole. */
  readonly delta: ThreatDelta | null;
}

export function createThreatPush(options: ThreatPushOptions): ThreatPush {
  const { sql, urls, client, now } = options;
  let known: List | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let waiting: Promise<void> | null = null;

  const readAll = async (): Promise<List> => {
    const at = new Date(now());
    const position = await threatPosition(sql, at);
    const pages: Buffer[] = [];
    for await (const page of activeNetworks(sql, at)) pages.push(Buffer.from(page.text, 'latin1'));
    const bytes = Buffer.concat(pages);
    return { bytes, sha256: sha256Of(bytes), position, delta: null };
  };
  /** The list as it is now, from the one before where that is possible. */
  const follow = async (): Promise<List> => {
    const changes = known === null ? null : await changesSince(sql, known.position, new Date(now()));
    if (known === null || changes === null) return (known = await readAll());
    const { text, added, removed } = changeThreatText(known.bytes, changes.present, changes.absent);
    if (added.length + removed.length === 0) return (known = { ...known, position: changes.position });
    const sha256 = sha256Of(text);
    return (known = {
      bytes: text,
      sha256,
      position: changes.position,
      delta: { base: known.sha256, sha256, added, removed },
    });
  };
  const send = async (list: List, url: string): Promise<string> => {
    const { delta } = list;
    let answer = delta === null ? null : await client.patchThreats(url, delta);
    if (answer === null || answer.kind === 'mismatch') answer = await client.putThreats(url, list.bytes);
    return answer.kind === 'active'
      ? `${url} has the deny list`
      : `${url} has not taken the deny list: ${answer.detail}`;
  };
  const push = (list: List, targets: readonly string[]): Promise<string[]> =>
    Promise.all(targets.map((url) => send(list, url)));
  const differs = (answer: StatusAnswer, sha256: string): boolean =>
    answer.kind === 'answered' && answer.status.threats !== sha256;
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
        const before = known?.sha256;
        const list = await follow();
        if (list.sha256 !== before) await push(list, urls);
      });
      return waiting;
    },
    reconcile: () =>
      inTurn(async () => {
        const list = await follow();
        const answers = await Promise.all(urls.map(async (url) => ({ url, answer: await client.status(url) })));
        return (
          await push(
            list,
            answers.filter(({ answer }) => differs(answer, list.sha256)).map(({ url }) => url),
          )
        ).join('; ');
      }),
  };
}

const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
