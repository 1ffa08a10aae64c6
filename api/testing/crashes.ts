// What the tests that kill processes share: rounds of a change that can be told apart, and processes that end at once.
import type { ChildProcess } from 'node:child_process';
import type { TestNode } from './data-plane.js';
import { pause } from './waiting.js';

const statusOf = async (port: number, path: string): Promise<number> =>
  (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })).status;
/** What the rule of a round blocks. */
export const word = (round: number): string => `word${'abcdefghijklmnopqrstuvwxyz'[round] ?? 'z'}end`;
export const rules = (round: number): object => ({
  custom_rules: [
    {
      id: 1_000_001,
      name: 'r',
      kind: 'visual',
      variable: 'ARGS',
      operator: 'contains',
      value: word(round),
      action: 'block',
      phase: 2,
    },
  ],
});
/** Which round's rule serves: exactly one of those given, or the answer is not whole. */
export async function servedRound(port: number, candidates: readonly number[]): Promise<number[]> {
  const answers = await Promise.all(candidates.map((round) => statusOf(port, `/?q=${word(round)}`)));
  return candidates.filter((_, index) => answers[index] === 403);
}

export const generationOf = async (node: TestNode): Promise<unknown> => (await node.status())['generation'];

/** Resolves when what is looked at has changed, and at the latest when the work that changes it is over. */
export async function changes(look: () => unknown, work: Promise<unknown>): Promise<void> {
  let isOver = false;
  const end = (): void => void (isOver = true);
  work.then(end, end);
  const before = await look();
  while (!isOver && (await look()) === before) await pause(1);
}

/** Ends the process and waits for its exit. */
export function kill(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}
