// What a report waits for, by a clock of its own.
import t from 'tap';
import { gather, type Gathering } from './gather.js';
import type { Recorded } from './report.js';

interface Case {
  readonly name: string;
  /** Seconds from the end of the wave to rounds of the engine, and how many verdicts each leaves; null: it is off. */
  readonly rounds: readonly (readonly [number, number])[] | null;
  /** Until the record of the one request that was refused. */
  readonly recordedAfter: number;
  readonly expected: { readonly verdicts: number; readonly recorded: number; readonly after: number };
}
const cases: readonly Case[] = [
  {
    name: 'a round in the midst of the wave is not the answer',
    rounds: [
      [-3, 6],
      [12, 50],
    ],
    recordedAfter: 1,
    expected: { verdicts: 50, recorded: 1, after: 12 },
  },
  {
    name: 'nor one before nodes have told of its end',
    rounds: [
      [4, 44],
      [19, 50],
    ],
    recordedAfter: 1,
    expected: { verdicts: 50, recorded: 1, after: 19 },
  },
  {
    name: 'a round that finds nothing is one too',
    rounds: [[8, 0]],
    recordedAfter: 1,
    expected: { verdicts: 0, recorded: 1, after: 8 },
  },
  {
    name: 'an engine that looks no more',
    rounds: [[-3, 6]],
    recordedAfter: 1,
    expected: { verdicts: 6, recorded: 1, after: 40 },
  },
  { name: 'without an engine', rounds: null, recordedAfter: 2, expected: { verdicts: 0, recorded: 1, after: 2 } },
  {
    name: 'a record that never comes',
    rounds: null,
    recordedAfter: Infinity,
    expected: { verdicts: 0, recorded: 0, after: 15 },
  },
];

const endedMs = Date.UTC(2026, 0, 1);
const record: Recorded = {
  ...{ client_ip: '198.18.0.1', request_id: 'a', verdict: 'block', status: 403, rule_id: 942_100, details: {} },
};

function stage({ rounds, recordedAfter }: Case): Gathering {
  let nowMs = endedMs;
  const last = () => (rounds ?? []).findLast(([after]) => endedMs + after * 1000 <= nowMs);
  return {
    answered: new Set(['a']),
    recorded: async () => (nowMs >= endedMs + recordedAfter * 1000 ? [record] : []),
    engine:
      rounds === null
        ? null
        : {
            verdicts: async () => Array.from({ length: last()?.[1] ?? 0 }, (_, id) => ({ id })),
            async lookedAt() {
              const round = last();
              return round === undefined ? null : new Date(endedMs + round[0] * 1000);
            },
          },
    now: () => nowMs,
    async pause(ms) {
      nowMs += ms;
    },
    signal: new AbortController().signal,
  };
}

for (const one of cases)
  t.test(one.name, async (t) => {
    const gathering = stage(one);
    const { verdicts, recorded } = await gather(gathering);
    const after = (gathering.now() - endedMs) / 1000;
    t.same({ verdicts: verdicts.length, recorded: recorded.length, after }, one.expected);
  });

t.test('a server that stops does not wait', async (t) => {
  const gathering = { ...stage(cases[3] as Case), signal: AbortSignal.abort() };
  t.equal((await gather(gathering)).verdicts.length, 6);
  t.equal(gathering.now(), endedMs);
});
