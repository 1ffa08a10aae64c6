// The scanners that the console offers, and what a scan says of itself.
import type { Item } from '../../client/http.js';
import type { VmPermission } from '../../client/vm-access.js';

export const kinds = ['secrets', 'sast', 'sca', 'iac', 'k8s'] as const;
export type Kind = (typeof kinds)[number];

export const permissions: Readonly<Record<Kind, { readonly view: VmPermission; readonly run: VmPermission }>> = {
  secrets: { view: 'view_code', run: 'run_code_scans' },
  sast: { view: 'view_code', run: 'run_code_scans' },
  sca: { view: 'view_code', run: 'run_code_scans' },
  iac: { view: 'view_code', run: 'run_code_scans' },
  k8s: { view: 'view_k8s', run: 'edit_k8s' },
};

export type Scan = Item<'GET /api/v1/secrets/scans'>;

/** `result` of a scan that has ended; before that all of it is missing. */
export interface ScanResult {
  readonly complete?: boolean;
  readonly files?: number;
  readonly files_scanned?: number;
  readonly findings?: number;
  readonly packages?: number;
  readonly not_scanned?: Readonly<Record<string, number>>;
  readonly fault_reasons?: readonly string[];
  readonly without_advisories?: readonly string[];
  readonly import_id?: string;
  readonly matched?: { readonly matches?: number };
}

export const resultOf = ({ result }: Pick<Scan, 'result'>): ScanResult => result ?? {};

/** What was found; of packages, what the advisories say of them. */
export const foundIn = (one: ScanResult): number | undefined => one.matched?.matches ?? one.findings;

/** Reasons and counts: of faults, or of what was left out on purpose. */
export const passedOf = (one: ScanResult, isFault: boolean): readonly (readonly [string, number])[] =>
  Object.entries(one.not_scanned ?? {}).filter(([reason]) => (one.fault_reasons ?? []).includes(reason) === isFault);
