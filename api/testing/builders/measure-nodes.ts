// Nodes that remember the client measures that they were given, for tests without sockets.
import { createHash } from 'node:crypto';
import { changeMeasureText } from '#proxy/contract';
import type { Database } from '../../db/client.js';
import { createMeasurePush, type MeasurePush } from '../../measures/push.js';

export interface MeasureNodes {
  readonly push: MeasurePush;
  /** Lines of the list of a node, without ends. */
  lines(url?: string): string[];
  /** The same as they were sent. */
  text(url?: string): string;
  /** `whole`, or how many lines a change named, in the order in which they came. */
  readonly sent: string[];
}

/**
 * `old`: of them, nodes of a release before client measures. `hang`: awaited by a node before it takes anything.
 * `now`: milliseconds since 1970, for what is in force.
 */
export function startMeasureNodes(
  database: Database,
  now: () => number,
  urls: readonly string[] = ['http://node-a'],
  { old = [] as readonly string[], hang = async (_url: string): Promise<void> => undefined } = {},
): MeasureNodes {
  const lists = new Map<string, Buffer>(urls.map((url) => [url, Buffer.alloc(0)]));
  const sent: string[] = [];
  const textOf = (url: string): Buffer => lists.get(url) ?? Buffer.alloc(0);
  const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
  const take = async (url: string, list: Buffer, what: string) => {
    await hang(url);
    lists.set(url, Buffer.from(list));
    sent.push(what);
    return { kind: 'active' } as const;
  };
  const push = createMeasurePush({
    sql: database.sql,
    urls,
    now,
    client: {
      status: async (url) => {
        const digest = digestOf(textOf(url));
        const status = { generation: 1, ruleset: '', workers: 1, threats: digest };
        return { kind: 'answered', status: old.includes(url) ? status : { ...status, measures: digest } };
      },
      putMeasures: async (url, list) => (old.includes(url) ? { kind: 'unknown' } : take(url, list, 'whole')),
      async patchMeasures(url, { base, sha256, added, removed }) {
        if (old.includes(url)) return { kind: 'unknown' };
        const { text } = changeMeasureText(textOf(url), added, removed);
        if (digestOf(textOf(url)) !== base || digestOf(text) !== sha256) return { kind: 'mismatch' };
        return take(url, text, String(added.length + removed.length));
      },
      putDenials: (url, list) => take(url, list, 'denials'),
    },
  });
  return {
    push,
    sent,
    text: (url = urls[0] ?? '') => textOf(url).toString('latin1'),
    lines: (url = urls[0] ?? '') =>
      textOf(url)
        .toString('latin1')
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [line.split(' ', 1)[0] as string])),
  };
}
