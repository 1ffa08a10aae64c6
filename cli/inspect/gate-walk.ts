// What the gates of the data plane make of one request under the settings, told for people: in their order, each with
// its numbers. What only a node knows is empty here: lists of addresses, bans, counters, key sets.
import { randomBytes } from 'node:crypto';
import type { OpinionMode } from '#engine';
import type { EventGate, ProxyConfig } from '#proxy/contract';
import {
  createGateMemory,
  createGateWorker,
  createRouter,
  findField,
  gateNotes,
  gates,
  openGateMemory,
  openGates,
  type Decided,
} from '#proxy/gates';
import type { WireRequest } from './wire.js';

/** `off`: the settings do not ask it; `not asked`: it is behind the gate that ended the request, or not the site's. */
export type WalkedGate = EventGate | { readonly gate: string; readonly decision: 'off' | 'not asked' };

export interface GateWalk {
  /** null: no site serves this host and path, and no gate is asked. */
  readonly site: string | null;
  readonly gates: readonly WalkedGate[];
  /** What the site wants of the second opinion; null: nothing. */
  readonly secondOpinion: OpinionMode | null;
}

/** Enough for one request. */
const tableEntries = 64;

export function walkGates(config: ProxyConfig, { head }: WireRequest): GateWalk {
  const routed = createRouter(config).match(findField(head.headers, 'host') ?? '', head.uri);
  if (routed === null) return { site: null, gates: [], secondOpinion: null };
  const { site } = routed;
  const nobody = { contains: () => false };
  const measures = { hasChallenges: false, hasThrottles: false, on: () => 0 };
  const noName = (): Promise<never> => Promise.reject(new Error('names are not looked up here'));
  const nowMs = performance.now();
  const worker = createGateWorker({
    clock: { wallMs: () => Date.now(), monotonicMs: () => nowMs, sharedMs: (momentMs) => momentMs },
    given: { measures, banSafe: nobody, siteKeys: { current: null } },
    shared: openGateMemory(createGateMemory(tableEntries)),
    names: { reverse: noName, resolve4: noName, resolve6: noName },
    challengeSecret: randomBytes(32),
    onBan: () => {},
    onKeysWanted: () => {},
  });
  const { ofProtected, ofOthers } = openGates(worker)(config);
  const asked = site.isProtected ? ofProtected : ofOthers;
  const request = {
    head,
    exchange: { framing: { kind: 'none' as const }, isTls: false, isUpgrade: false },
    requestId: 'explain',
    atMs: Date.now(),
    startedMs: nowMs,
    give: () => {},
  };
  const decisions: Decided[] = [];
  for (const gate of asked) {
    const decision = gate.decide(request, site);
    if (decision !== null) decisions.push({ gate: gate.name, decision });
  }
  const names = asked.map(({ name }) => name);
  const notes = gateNotes(names, decisions, site.mode);
  const isOn = new Set(ofProtected.map(({ name }) => name));
  return {
    site: site.name,
    secondOpinion: site.secondOpinion,
    gates: gates.map(
      ({ name }) =>
        notes.find(({ gate }) => gate === name) ?? { gate: name, decision: isOn.has(name) ? 'not asked' : 'off' },
    ),
  };
}

function numbersOf(note: EventGate): string {
  const { zone, limit, window_seconds, remaining, retry_after_seconds, rule_id, status, dry_run } = note;
  const parts = [
    status === undefined ? '' : String(status),
    rule_id === undefined ? '' : `rule ${rule_id}`,
    zone === undefined ? '' : `limit ${zone}: ${limit} in ${window_seconds} s, ${remaining} left`,
    retry_after_seconds === undefined ? '' : `again in ${retry_after_seconds} s`,
    dry_run === true ? 'dry run' : '',
    note.decision === 'pass' || note.decision === 'flag' || note.enforced ? '' : 'recorded only',
  ];
  return parts.filter((part) => part !== '').join(', ');
}

export function formatGates({ site, gates: walked }: GateWalk): string {
  if (site === null) return 'Gates: none is asked, no site serves this host and path (404).';
  const lines = walked.map((note) => {
    const numbers = 'enforced' in note ? numbersOf(note) : '';
    return `  ${note.gate.padEnd(18)}${note.decision}${numbers === '' ? '' : ` (${numbers})`}`;
  });
  return [`Gates of the site ${site}, without the lists, bans and counters of a node:`, ...lines].join('\n');
}
