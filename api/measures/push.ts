// The list of client measures on its way to the data plane: at once after a change, and again by the reconciler for a
// node that was away. A node tells the SHA-256 of what it has. The text of the list stays here, so that a change costs
// what was touched and not the list: the database is asked about those subjects, the node gets them with the digests of
// both texts. A node that has something else says so and gets the whole list. Each node has a lane of its own: one that
// hangs keeps no other waiting, and gets the newest list alone when it comes back.
//
// A node of a release before client measures knows denials of addresses alone, and gets those as a whole list.
import { createHash } from 'node:crypto';
import { changeMeasureText, readPrincipalKey, type MeasureDelta } from '#proxy/contract';
import type { Queryable } from '../db/client.js';
import type { NodeClient, StatusAnswer } from '../nodes/node-client.js';
import { changesSince, measurePosition, type MeasurePosition } from './changes.js';
import { activeLines } from './query.js';

export interface MeasurePushOptions {
  readonly sql: Queryable;
  readonly urls: readonly string[];
  readonly client: Pick<NodeClient, 'status' | 'putMeasures' | 'patchMeasures' | 'putDenials'>;
  readonly now: () => number;
}

export interface MeasurePush {
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
  readonly delta: MeasureDelta | null;
}

/** What a node of a release before client measures is given of a list. */
class Denials {
  private of = '';
  private bytes: Buffer = Buffer.alloc(0);
  private digest = sha256Of(Buffer.alloc(0));

  /** Made when it is asked for: most installations have no such node. */
  from(list: List): { readonly bytes: Buffer; readonly sha256: string } {
    if (this.of !== list.sha256) {
      const lines = list.bytes.toString('latin1').split('\n');
      const isDenial = (line: string): boolean =>
        line !== '' && !line.startsWith('~') && readPrincipalKey(line.split(' ', 1)[0] as string) === null;
      this.bytes = Buffer.from(lines.flatMap((line) => (isDenial(line) ? [`${line}\n`] : [])).join(''), 'latin1');
      this.digest = sha256Of(this.bytes);
      this.of = list.sha256;
    }
    return { bytes: this.bytes, sha256: this.digest };
  }
}

/** Lists on their way to one node: one at a time, and of those that wait the newest alone. */
class Lane {
  /** Of the list that was handed in last, or that the node said it has; '' = neither. */
  sha256 = '';
  /** It is of a release before client measures. */
  isOld = false;
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

export function createMeasurePush(options: MeasurePushOptions): MeasurePush {
  const { sql, urls, client, now } = options;
  const denials = new Denials();
  let known: List | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let waiting: Promise<void> | null = null;

  const readAll = async (): Promise<List> => {
    const at = new Date(now());
    const position = await measurePosition(sql, at);
    const pages: Buffer[] = [];
    for await (const page of activeLines(sql, at)) pages.push(Buffer.from(page.text, 'latin1'));
    const bytes = Buffer.concat(pages);
    return { bytes, sha256: sha256Of(bytes), position, delta: null };
  };
  /** The list as it is now, from the one before where that is possible. */
  const follow = async (): Promise<List> => {
    const changes = known === null ? null : await changesSince(sql, known.position, new Date(now()));
    if (known === null || changes === null) return (known = await readAll());
    const { text, added, removed } = changeMeasureText(known.bytes, changes.present, changes.absent);
    if (added.length + removed.length === 0) return (known = { ...known, position: changes.position });
    const sha256 = sha256Of(text);
    return (known = {
      bytes: text,
      sha256,
      position: changes.position,
      delta: { base: known.sha256, sha256, added, removed },
    });
  };
  const give = async (list: List, url: string) => {
    const lane = laneOf(url);
    const { delta } = list;
    if (!lane.isOld) {
      const patched = delta === null ? null : await client.patchMeasures(url, delta);
      if (patched !== null && patched.kind !== 'mismatch' && patched.kind !== 'unknown') return patched;
      const put = patched?.kind === 'unknown' ? patched : await client.putMeasures(url, list.bytes);
      if (put.kind !== 'unknown') return put;
      lane.isOld = true;
    }
    return client.putDenials(url, denials.from(list).bytes);
  };
  const send = async (list: List, url: string): Promise<string> => {
    const answer = await give(list, url);
    return answer.kind === 'active'
      ? `${url} has the client measures`
      : `${url} has not taken the client measures: ${answer.detail}`;
  };
  const lanes = new Map(urls.map((url) => [url, new Lane((list) => send(list, url))]));
  const laneOf = (url: string): Lane => lanes.get(url) as Lane;
  /** Whether a node that answers has this list already; null: it does not answer, or does not say. */
  const hasList = (url: string, answer: StatusAnswer, list: List): boolean | null => {
    if (answer.kind !== 'answered') return null;
    const { measures, threats } = answer.status;
    laneOf(url).isOld = measures === undefined;
    if (measures !== undefined) return measures === list.sha256;
    return threats === undefined ? null : threats === denials.from(list).sha256;
  };
  const push = (list: List, targets: readonly string[]): Promise<string[]> =>
    Promise.all(targets.map((url) => laneOf(url).give(list)));
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
      const behind: string[] = [];
      for (const { url, answer } of answers) {
        const has = hasList(url, answer, list);
        if (has === true) laneOf(url).sha256 = list.sha256;
        else if (has === false) behind.push(url);
      }
      return (await push(list, behind)).join('; ');
    },
  };
}

function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
