// The slow twin of the script in lease-store.ts: whole numbers of any size, one key after the other, no short cuts. A
// level counts in places × window in microseconds, so that nothing is rounded.
import type { LeaseAnswer, LeaseRequest, LeaseTerms } from '../lease-store.js';

interface SlowKey {
  level: bigint;
  atUs: bigint;
  readonly held: Map<string, { places: bigint; endUs: bigint }>;
}

const most = (left: bigint, right: bigint): bigint => (left > right ? left : right);
const least = (left: bigint, right: bigint): bigint => (left < right ? left : right);

export class SlowLeaseStore {
  private readonly keys = new Map<string, SlowKey>();

  forgetAll(): void {
    this.keys.clear();
  }

  /** `used` and `floor` need not be whole: places that came back meanwhile. */
  run({ holder, leaseMs, nodes }: LeaseTerms, request: LeaseRequest, nowUs: bigint): LeaseAnswer {
    const window = BigInt(request.windowMs) * 1000n;
    const [events, has] = [BigInt(request.events), BigInt(request.has)];
    const inWindow = (places: number): bigint => BigInt(Math.floor(places * Number(window)));
    const key = this.keys.get(request.id) ?? { level: 0n, atUs: nowUs, held: new Map() };
    this.keys.set(request.id, key);
    key.level = most(0n, key.level - most(0n, nowUs - key.atUs) * events);
    key.atUs = nowUs;
    key.held.delete(holder);
    for (const [name, { places, endUs }] of key.held) {
      if (endUs > nowUs) continue;
      key.level += places * window;
      key.held.delete(name);
    }
    let others = 0n;
    for (const { places } of key.held.values()) others += places;
    key.level = least(events * window, most(key.level, inWindow(request.floor)) + inWindow(request.used));
    const left = most(0n, (events * window - key.level - (others + has) * window) / window);
    const spare = left / BigInt(2 * nodes);
    const granted = least(left, most(BigInt(request.needed), least(BigInt(request.wanted), spare)));
    const mine = has + granted;
    if (mine > 0n) key.held.set(holder, { places: mine, endUs: nowUs + BigInt(leaseMs) * 1000n });
    return {
      granted: Number(granted),
      level: Number(key.level) / Number(window),
      held: Number(others + mine),
    };
  }
}
