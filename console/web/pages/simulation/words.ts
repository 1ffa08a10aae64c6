// What a simulation and a self-test are, as the API says them.
import type { Item } from '../../client/http.js';
import type { Tone } from '../../kit/basics.js';

export type Run = Item<'GET /api/ai/simulate'>;
export type Report = NonNullable<Run['report']>;
export type Attack = Report['attacks'][number];
export type Wave = Run['type'];
export type SelfTest = Item<'GET /api/ai/self-tests'>;

export const statusTones: Readonly<Record<Run['status'], Tone>> = {
  running: 'info',
  ended: 'good',
  stopped: 'warn',
  failed: 'danger',
};

/** A verdict of the detection engine as a report holds it. */
export interface ReportVerdict {
  readonly id: number;
  readonly address: string;
  readonly verdict: string;
  readonly risk: number;
  readonly signals: readonly string[];
}

/** The document says nothing of their form: what does not have it is left out. */
export const verdictsIn = ({ verdicts }: Report): readonly ReportVerdict[] =>
  verdicts.filter((one): one is ReportVerdict => {
    const { id, address, verdict, risk, signals } = (one ?? {}) as Partial<ReportVerdict>;
    const isNamed = typeof id === 'number' && typeof address === 'string' && typeof verdict === 'string';
    return isNamed && typeof risk === 'number' && Array.isArray(signals);
  });

/** Whether an IPv4 address is in a network of 256 addresses, `198.18.7.0/24`. */
export const isClientOf = (address: string, network: string): boolean =>
  address.slice(0, address.lastIndexOf('.')) === network.slice(0, network.lastIndexOf('.'));
