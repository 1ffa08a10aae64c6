// What a worker lends to its gates, for tests: small tables and a clock that stands still until it is moved.
import { createGateMemory, openGateMemory } from '../../shared-state/gate-memory.js';
import type { BanRecord } from '../bans/auto-ban.js';
import type { NameService } from '../bots/crawlers.js';
import type { GateWorker } from '../gate.js';
import { Principals } from '../../features/principals.js';
import { ClientMeasures, PrincipalMeasures } from '../../shared-state/measure-tables.js';
import { createGateWorker, type GivenTables } from '../worker.js';

export interface TestWorker {
  readonly worker: GateWorker;
  readonly bans: BanRecord[];
  /** How often a key set was asked for. */
  keysWanted(): number;
  /** Moves both clocks on. */
  pass(ms: number): void;
}

const none = { contains: () => false };

/** Of the hashes of principals. */
export const testPrincipalKey = Buffer.alloc(32, 5);

/** Nobody has a name. */
export const noNames: NameService = {
  reverse: () => Promise.reject(Object.assign(new Error('no name'), { code: 'ENOTFOUND' })),
  resolve4: () => Promise.resolve([]),
  resolve6: () => Promise.resolve([]),
};

export function testGateWorker(
  given: Partial<GivenTables> = {},
  memory = createGateMemory(1024),
  names = noNames,
): TestWorker {
  const bans: BanRecord[] = [];
  let nowMs = 1_000_000;
  let wanted = 0;
  const worker = createGateWorker({
    clock: { wallMs: () => nowMs, monotonicMs: () => nowMs, sharedMs: () => nowMs },
    given: { measures: new ClientMeasures(), banSafe: none, siteKeys: { current: null }, ...given },
    shared: openGateMemory(memory),
    names,
    challengeSecret: Buffer.from('the secret of the test'),
    principals: { principals: new Principals(testPrincipalKey), principalMeasures: new PrincipalMeasures() },
    onBan: (ban) => bans.push(ban),
    onKeysWanted: () => {
      wanted += 1;
    },
  });
  return {
    worker,
    bans,
    keysWanted: () => wanted,
    pass: (ms) => {
      nowMs += ms;
    },
  };
}
