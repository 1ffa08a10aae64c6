// When a worker has a store for its leases: while rl_distributed is in force, and a store was named (REDIS_URL).
import { watchEvery, type Watch } from '../../../time/late-timers.js';
import type { SharingState } from '../../../shared-state/rates/sharing-state.js';
import { connectLeaseStore, type StoreAddress } from './lease-store.js';
import type { Leases } from './leases.js';

const turnEveryMs = 25;
const lookEveryMs = 250;

/** A worker without an address has nothing to look after; one with it has a timer more while limits are shared. */
export function shareLimits(leases: Leases, state: SharingState, address: StoreAddress | null): Watch {
  if (address === null) return { stop: () => leases.close() };
  let turns: Watch | null = null;
  const begin = (): void => {
    turns = watchEvery(turnEveryMs, (_nowMs, stoodStillMs) => leases.turn(stoodStillMs));
    leases.use(connectLeaseStore(address));
  };
  const end = (): void => {
    turns?.stop();
    turns = null;
    leases.close();
  };
  const looks = watchEvery(lookEveryMs, () => {
    if (state.isOn && turns === null) begin();
    else if (!state.isOn && turns !== null) end();
  });
  return {
    stop() {
      looks.stop();
      end();
    },
  };
}
