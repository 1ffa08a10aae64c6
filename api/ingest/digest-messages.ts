// What the process that takes records apart is asked, and what it answers.
import type { ErrorCode, ErrorExtras } from '../http-kit/problem.js';
import type { SiteForm } from '../inventory/templates/form.js';
import { unpack, type RecordBytes } from './body.js';
import { digestExchanges, type Digest, type DigestSettings, type FormOf } from './digest.js';
import { readRecords, type ReadRecords, type RecordKind } from './reading.js';

export interface DigestJob {
  readonly body: RecordBytes;
  readonly kind: RecordKind;
  readonly nowMs: number;
  readonly settings: Omit<DigestSettings, 'source'>;
}

/** Records of a request, read and summed up. */
export interface ReadDigest extends Digest, Pick<ReadRecords, 'source' | 'rejected' | 'rejectedTotal' | 'warnings'> {
  /** Records that could be used. */
  readonly accepted: number;
}

export type ToDigestProcess =
  /** The form of a site from now on; of all sites none: they are forgotten. */
  | { readonly kind: 'forms'; readonly forms: ReadonlyMap<string, SiteForm> | null }
  | { readonly kind: 'job'; readonly job: DigestJob };

export type FromDigestProcess =
  | { readonly kind: 'digest'; readonly digest: ReadDigest }
  | {
      readonly kind: 'refused';
      readonly code: ErrorCode;
      readonly detail: string;
      readonly errors: ErrorExtras['errors'];
    };

/** Throws ApiError for a body that cannot be read. */
export function digestBody({ body, kind, nowMs, settings }: DigestJob, formOf: FormOf): ReadDigest {
  const { source, exchanges, rejected, rejectedTotal, warnings } = readRecords(unpack(body), kind, nowMs);
  const digest = digestExchanges(exchanges, { ...settings, source }, formOf);
  return { ...digest, source, rejected, rejectedTotal, warnings, accepted: exchanges.length };
}
