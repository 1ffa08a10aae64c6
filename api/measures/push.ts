// The list of bad addresses on its way to the data plane: at once after a change, and again by the reconciler for a
// node that was away. A node tells the SHA-256 of what it has. The text of the list stays here, so that a change costs
// what was touched and not the list: the database is asked about those networks, the node gets them with the digests of
// both texts. A node that has something else says so and gets the whole list. Each node has a lane of its own: one that
// hangs keeps no other waiting, and gets the newest list alone when it comes back.
import { createHash } from 'node:crypto';
import { changeThreatText, type ThreatDelta } from '#proxy/contract';
import type { Queryable } from '../db/client.js';
import type { NodeClient, StatusAnswer } from '../nodes/node-client.js';
import { changesSince, measurePosition, type MeasurePosition } from './changes.js';
import { activeDenials } from './query.js';

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
  readonly position: MeasurePosition;
  /** How it came from the list before; null: it was read whole. */
  readonly delta: ThreatDelta | null;
}

/** Lists on their way to one node: one at a time, and of those that wait the newest alone. */
class Lane {
  /** Of the list that was handed in last, or that the node said it has; '' = neither. */
  sha256 = '';
  private last: Promise<string> = Promise.resolve('');
  private next: { list: List; readonly sent: Promise<string> } | null = null;

  constructor(private readonly send: (list: List) => Promise<string>) {}

  give(list: List): Promise<string> {
    this.sha256 = list.sha256;
    if (this.next !== null) {
      this.next.list = list; // its delta may be of a list that the node never got: then it says so
      return this.next.sent;
    }
    const begin = (): Promise<string> => {
      const newest = this.next?.list ?? list;
      this.next = null;
      return this.send(newest);
    };
    // whoever handed in the one before hears of its failure; this one must still go
    const sent = this.last.then(begin, begin);
    this.next = { list, sent };
    this.last = sent;
    return sent;
  }
}

/** A node that answers, and has another list. */
const differs = (answer: StatusAnswer, sha256: string): boolean =>
  answer.kind === 'answered' && answer.status.threats !== sha256;

export function createThreatPush(options: ThreatPushOptions): ThreatPush {
  const { sql, urls, client, now } = options;
  let known: List | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let waiting: Promise<void> | null = null;

  const readAll = async (): Promise<List> => {
    const at = new Date(now());
    const position = await measurePosition(sql, at);
    const pages: Buffer[] = [];
    for await (const page of activeDenials(sql, at)) pages.push(Buffer.from(page.text, 'latin1'));
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
  const lanes = new Map(urls.map((url) => [url, new Lane((list) => send(list, url))]));
  const push = (list: List, targets: readonly string[]): Promise<string[]> =>
    Promise.all(targets.map((url) => (lanes.get(url) as Lane).give(list)));
  /** One at a time: lists are made, and handed to the lanes, in the order in which they became true. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work);
    last = turn.catch(() => undefined); // whoever asked for it hears of it; the next in line must still run
    return turn;
  };
  return {
    changed() {
      // one that has not begun yet will read what is in the database then, so it carries this change too
      waiting ??= inTurn(() => {
        waiting = null;
        return follow();
      }).then(async (list) => {
        const behind = urls.filter((url) => lanes.get(url)?.sha256 !== list.sha256);
        await push(list, behind);
      });
      return waiting;
    },
    async reconcile() {
      await inTurn(follow);
      const answers = await Promise.all(urls.map(async (url) => ({ url, answer: await client.status(url) })));
      // a newer list may have been handed out meanwhile: it must not be overtaken by the one of before
      const list = known as List;
      for (const { url, answer } of answers)
        if (answer.kind === 'answered' && answer.status.threats === list.sha256)
          (lanes.get(url) as Lane).sha256 = list.sha256;
      const behind = answers.filter(({ answer }) => differs(answer, list.sha256)).map(({ url }) => url);
      return (await push(list, behind)).join('; ');
    },
  };
}

const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
