// The list of client measures on its way to the data plane: at once after a change, and again by the reconciler for a
// node that was away. A node reports the SHA-256 of its list. The text of the list stays here, so that a change costs
// what was touched and not the list: the database is asked about those subjects, the node gets them with the digests of
// both texts. A node that has something else says so and gets the whole list. Each node has a lane of its own: one that
// hangs keeps no other waiting, and gets the newest list alone when it comes back.
//
// A node of a release before client measures knows denials of addresses alone, and gets those as a whole list.
import { changeMeasureText } from '#proxy/contract';
import type { Queryable } from '../db/client.js';
import { changesSince, measurePosition } from './changes.js';
import { Denials, NodeLane, sha256Of, type MeasureClient, type MeasureText } from './node-lane.js';
import { activeLines } from './query.js';

export interface MeasurePushOptions {
  readonly sql: Queryable;
  readonly urls: readonly string[];
  readonly client: MeasureClient;
  readonly now: () => number;
}

export interface MeasurePush {
  /** After a change: resolves when every node that answers has the list. A node that does not is the reconciler's. */
  changed(): Promise<void>;
  /** One line about it; '' when there was nothing to do. */
  reconcile(): Promise<string>;
}

/** The lane of each node; nodes come and go. */
function lanesBy(make: (url: string) => NodeLane): (url: string) => NodeLane {
  const lanes = new Map<string, NodeLane>();
  return (url) => {
    const lane = lanes.get(url) ?? make(url);
    lanes.set(url, lane);
    return lane;
  };
}

export function createMeasurePush(options: MeasurePushOptions): MeasurePush {
  const { sql, urls, client, now } = options;
  const denials = new Denials();
  let known: MeasureText | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let waiting: Promise<void> | null = null;

  const readAll = async (): Promise<MeasureText> => {
    const at = new Date(now());
    const position = await measurePosition(sql, at);
    const pages: Buffer[] = [];
    for await (const page of activeLines(sql, at)) pages.push(Buffer.from(page.text, 'latin1'));
    const bytes = Buffer.concat(pages);
    return { bytes, sha256: sha256Of(bytes), position, delta: null };
  };
  /** The list as it is now, from the one before where that is possible. */
  const follow = async (): Promise<MeasureText> => {
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
  const laneOf = lanesBy((url) => new NodeLane(url, client, denials));
  const push = (list: MeasureText, targets: readonly string[]): Promise<string[]> =>
    Promise.all(targets.map((url) => laneOf(url).give(list)));
  /** One at a time: lists are made, and handed to the lanes, in the order in which they became true. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work);
    last = turn.catch(() => undefined); // its caller gets the error; the next in line must still run
    return turn;
  };
  return {
    changed() {
      // one that has not begun yet will read what is in the database then, so it carries this change too
      waiting ??= inTurn(() => {
        waiting = null;
        return follow();
      }).then(async (list) => {
        const behind = urls.filter((url) => laneOf(url).sha256 !== list.sha256);
        await push(list, behind);
      });
      return waiting;
    },
    async reconcile() {
      await inTurn(follow);
      const answers = await Promise.all(urls.map(async (url) => ({ url, answer: await client.status(url) })));
      // a newer list may have been handed out meanwhile: it must not be overtaken by the one of before
      const list = known as MeasureText;
      const behind: string[] = [];
      for (const { url, answer } of answers) {
        const has = laneOf(url).hasList(answer, list);
        if (has === true) laneOf(url).sha256 = list.sha256;
        else if (has === false) behind.push(url);
      }
      return (await push(list, behind)).join('; ');
    },
  };
}
