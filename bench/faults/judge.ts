// What a fault run is held to.
import type { Happening } from './events.js';
import { limit, type Asked, type Failure, type Spent } from './load.js';
import type { Written } from './writes.js';

export interface Fault {
  readonly happening: Happening;
  /** From the fault until the fleet was one again, by the clock. */
  readonly fromMs: number;
  readonly toMs: number;
  /** From when the part was back. */
  readonly convergedMs: number;
  readonly last: readonly string[];
  readonly isOne: boolean;
}

export interface Measure {
  readonly what: string;
  readonly found: string;
  readonly isKept: boolean;
}

export interface Seen {
  readonly asked: Asked;
  readonly spending: { readonly spent: readonly Spent[]; readonly failures: readonly Failure[] };
  readonly written: Written;
  readonly faults: readonly Fault[];
  readonly nodes: number;
}

const convergedMsMax = 10_000;

/** So long after its end the balancer may not have heard of it: a word that was lost comes a second time. */
const newsMs = 400;

/** On its way through a node at the moment at which its process was killed. */
export const wasInKilled = ({ fromMs, toMs, node }: Failure, faults: readonly Fault[]): boolean =>
  faults.some(({ happening: { nodeKilled: killed } }) => {
    if (killed === undefined || fromMs > killed.atMs + newsMs || toMs < killed.atMs) return false;
    return node === '' || node === killed.node;
  });

/**
 * What docs/edge.md promises a key at most: the limit, and what another node had ready where one did not hear from
 * Redis in time, an eighth, which the loss of the network brings about at any moment; while a part is away also its
 * share of
 * the whole limit for a node that had not heard of the key, as one that has just started.
 */
export function mostOf({ fromMs, toMs }: Spent, faults: readonly Fault[], nodes: number): number {
  const meanwhile = faults.filter((fault) => fault.fromMs <= toMs && fault.toMs >= fromMs);
  if (!meanwhile.some(({ happening }) => happening.touchesRedis === true || happening.nodeKilled !== undefined))
    return limit + Math.floor(limit / 8);
  return limit + Math.floor(limit / 8) + Math.ceil(limit / nodes);
}

const list = (all: readonly string[]): string => [...new Set(all)].slice(0, 5).join('; ');
const seconds = (ms: number): string => (ms / 1000).toFixed(1);

function judgeRequests({ asked, spending, faults }: Seen): Measure {
  const failures = [...asked.failures, ...spending.failures];
  const others = failures.filter((failure) => !wasInKilled(failure, faults));
  const sorted = [...asked.tookMs].sort((one, other) => one - other);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
  const times = `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${asked.slowestMs} ms`;
  const told = others.map(
    ({ what, fromMs, node }) => `${what} at ${new Date(fromMs).toISOString().slice(11, 23)} by ${node || 'nobody'}`,
  );
  return {
    what: 'failed requests beyond those in a killed process',
    found:
      `${others.length} of ${asked.tookMs.length} (${failures.length - others.length} in one; ${times}) ` + list(told),
    isKept: others.length === 0 && asked.answered > 0,
  };
}

function judgeWrites({ written }: Seen): Measure[] {
  const { saved, applied, denied, refused, faults, lost, tookMs } = written;
  const slowest = seconds(tookMs.reduce((most, one) => Math.max(most, one), 0));
  const counts = `${saved} saved, ${applied} applied, ${denied} denied, ${refused} refused, slowest ${slowest} s`;
  return [
    {
      what: 'acknowledged writes lost',
      found: `${lost.length} (${counts}) ${list(lost)}`,
      isKept: lost.length === 0 && saved > 0 && applied > 0 && denied > 0,
    },
    { what: 'answers that nobody should get', found: `${faults.length} ${list(faults)}`, isKept: faults.length === 0 },
  ];
}

function judgeLimits({ spending: { spent }, faults, nodes }: Seen): Measure {
  const beyond = spent.filter((one) => one.passed > mostOf(one, faults, nodes));
  const exact = spent.filter(({ passed }) => passed === limit).length;
  const passed = spent.map((one) => one.passed);
  const told = beyond.map((one) => `${one.key}: ${one.passed}, allowed ${mostOf(one, faults, nodes)}`);
  return {
    what: `keys beyond what docs/edge.md promises of a limit of ${limit}`,
    found:
      `${beyond.length} of ${spent.length} (${exact} exact, least ${Math.min(...passed)}, ` +
      `most ${Math.max(...passed)}) ${list(told)}`,
    isKept: beyond.length === 0 && spent.length > 0,
  };
}

function judgeConvergence({ faults }: Seen): Measure {
  const slow = faults.filter(({ convergedMs, isOne }) => !isOne || convergedMs > convergedMsMax);
  const sorted = faults.map(({ convergedMs }) => convergedMs).sort((one, other) => one - other);
  const told = slow.map(({ happening, convergedMs }) => `${happening.name} ${seconds(convergedMs)} s`);
  const times = `median ${seconds(sorted[sorted.length >> 1] ?? 0)} s, most ${seconds(sorted.at(-1) ?? 0)} s`;
  return {
    what: `faults after which the fleet was not one within ${convergedMsMax / 1000} s`,
    found: `${slow.length} of ${faults.length} (${times}) ${list(told)}`,
    isKept: slow.length === 0 && faults.length > 0,
  };
}

export const judge = (seen: Seen): readonly Measure[] => [
  judgeRequests(seen),
  ...judgeWrites(seen),
  judgeLimits(seen),
  judgeConvergence(seen),
];
