// What the API says about a scan of a running application, while it runs and after it.
import type { Item } from '../../../client/http.js';
import { showCount } from '../../../client/moments.js';

export type ActiveScan = Item<'GET /api/v1/scans'>;
export type Found = Item<'GET /api/v1/scans/{id}/findings'>;

interface ScanInput {
  readonly target_id?: string;
  readonly url?: string;
  readonly profile?: string;
  readonly notes?: readonly string[];
}

interface ScanResult {
  /** What was not done, and why. */
  readonly notes?: readonly string[];
  readonly phase?: 'login' | 'crawl' | 'checks' | 'firewall' | 'done';
  readonly requests?: number;
  readonly requests_per_second?: number;
  readonly slowed?: number;
  readonly seconds?: number;
  readonly pages?: number;
  readonly browser?: { readonly pages?: number; readonly requests?: number; readonly not_looked_at?: number };
  readonly forms?: number;
  readonly forms_done?: number;
  readonly findings?: number;
  readonly checks?: Readonly<Record<string, number>>;
  readonly left_out?: readonly { readonly url?: string; readonly reason?: string }[];
}

/** As the server says it (vm-manager/dast/targets/verify.ts): a proof holds for 90 days. */
const verifiedMs = 90 * 86_400_000;
export const isVerified = (at: string | null | undefined): boolean =>
  at != null && Date.now() - Date.parse(at) < verifiedMs;

/** Not counted yet is no nought. */
export const countOf = (count: number | undefined): string => (count === undefined ? '–' : showCount(count));

export const inputOf = ({ input }: Pick<ActiveScan, 'input'>): ScanInput => input ?? {};
export const resultOf = ({ result }: Pick<ActiveScan, 'result'>): ScanResult => result ?? {};
/** Of its beginning and of its run; the same is said once. */
export const notesOf = (scan: Pick<ActiveScan, 'input' | 'result'>): readonly string[] => [
  ...new Set([...(inputOf(scan).notes ?? []), ...(resultOf(scan).notes ?? [])]),
];
export const isOpen = ({ status }: Pick<ActiveScan, 'status'>): boolean => status === 'running' || status === 'queued';
