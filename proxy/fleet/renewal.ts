// A node asks for its next certificate when two thirds of the life of this one are over, with a new key each time.
// While no control plane answers it asks again; the last third of the life is there for that.
import { generateKeyPairSync } from 'node:crypto';
import type { IdentityStore, NodeIdentity } from './identity.js';
import { askNodePort } from './node-port.js';

const shareOfLife = 2 / 3;
/** How far nodes that joined together spread their renewals, as a share of the life. */
const spread = 0.05;
const lookMsMax = 6 * 3_600_000;
const retryMs = 60_000;
const leastMs = 1_000;

export interface RenewalOptions {
  readonly identity: IdentityStore;
  readonly log: (level: 'info' | 'warn' | 'error', fields: object, message: string) => void;
  readonly nowMs?: () => number;
  /** Shorter in tests. */
  readonly retryMs?: number;
}

export class Renewal {
  private timer: NodeJS.Timeout | null = null;
  private readonly stop = new AbortController();
  private readonly jitter = Math.random() * spread;

  constructor(private readonly options: RenewalOptions) {}

  begin(): void {
    this.plan(this.dueInMs());
  }

  close(): void {
    this.stop.abort();
    if (this.timer !== null) clearTimeout(this.timer);
  }

  /** Asks one control plane after the other. Resolves with whether one issued. */
  async renew(): Promise<boolean> {
    const { identity, log } = this.options;
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const body = { public_key: publicKey.export({ type: 'spki', format: 'pem' }) as string };
    for (const address of identity.current.addresses)
      try {
        const answer = await askNodePort(address, '/node/v1/renew', identity.tls, body, this.stop.signal);
        const { certificate, addresses } = answer as Pick<NodeIdentity, 'certificate' | 'addresses'>;
        const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
        const known = [...new Set([...identity.current.addresses, ...addresses])];
        await identity.replace({ certificate, key, addresses: known });
        log('info', { until: new Date(identity.validity.toMs).toISOString() }, 'the node certificate was renewed');
        return true;
      } catch (error) {
        if (this.stop.signal.aborted) return false;
        const reason = error instanceof Error ? error.message : String(error);
        log('warn', { controlPlane: address, reason }, 'the node certificate was not renewed there');
      }
    return false;
  }

  private dueInMs(): number {
    const { fromMs, toMs } = this.options.identity.validity;
    return fromMs + (toMs - fromMs) * (shareOfLife + this.jitter) - (this.options.nowMs ?? Date.now)();
  }

  private plan(inMs: number): void {
    if (this.stop.signal.aborted) return;
    this.timer = setTimeout(() => void this.look(), Math.max(0, Math.min(inMs, lookMsMax))).unref();
  }

  private async look(): Promise<void> {
    if (this.dueInMs() > 0) return this.plan(this.dueInMs());
    const isRenewed = await this.renew().catch((error: unknown) => {
      this.options.log('error', { reason: String(error) }, 'the renewed node certificate could not be stored');
      return false;
    });
    // a life that is shorter than the difference of the clocks must not keep a control plane busy
    this.plan(isRenewed ? Math.max(leastMs, this.dueInMs()) : (this.options.retryMs ?? retryMs));
  }
}
