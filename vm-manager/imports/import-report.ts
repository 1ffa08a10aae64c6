// The numbers of an import, which add up to what was read.

/** What came of the records of a report; counts are records, `closed` and `unverified_absence` are findings. */
export interface ImportReport {
  parsed: number;
  created: number;
  updated: number;
  reopened: number;
  unchanged: number;
  duplicates_in_file: number;
  dropped: number;
  dropped_by_reason: Record<string, number>;
  /** Records that nobody can read: one may be a finding. */
  unread: number;
  /** Findings whose severity is assumed. */
  unknown_severities: number;
  closed: number;
  unverified_absence: number;
  /** Of a preview: the import is refused without `confirm_close`. */
  needs_confirm_close?: boolean;
  problems: { at: string; detail: string }[];
}

/** Nothing read yet. */
export const emptyReport = (): ImportReport => ({
  parsed: 0,
  created: 0,
  updated: 0,
  reopened: 0,
  unchanged: 0,
  duplicates_in_file: 0,
  dropped: 0,
  dropped_by_reason: {},
  unread: 0,
  unknown_severities: 0,
  closed: 0,
  unverified_absence: 0,
  problems: [],
});

/** The scope was of an earlier release, which had one for all subjects of a tool. */
export const firstOfSubject = {
  at: 'the report',
  detail:
    'is the first since an earlier release, which did not tell images, directories and languages apart: what ' +
    'it does not have is kept, and closed by the next report of the same one',
} as const;

/** Why no finding came of a report, for people; null: some did, or are as before. */
export function whyNothing(
  report: ImportReport,
  of: { readonly isNoScan: boolean; readonly isWhole: boolean },
): string | null {
  const { parsed, created, updated, reopened, unchanged, duplicates_in_file: again, dropped, unread } = report;
  if (created + updated + reopened + unchanged + again > 0) return null;
  const bad = unread === 0 ? '' : `; ${unread} records cannot be read, and problems says which`;
  if (parsed > 0 && dropped > 0) {
    const by = Object.entries(report.dropped_by_reason)
      .sort(([, left], [, right]) => right - left)
      .map(([reason, count]) => `${count} ${reason}`);
    return `all ${dropped} records were left out (${by.join(', ')})${bad}`;
  }
  if (unread > 0) return `none of the ${unread} records can be read: problems says why of each`;
  if (of.isNoScan) return 'the report has no findings, and is of no scan: it says nothing about what is there';
  return of.isWhole
    ? 'the report has no findings: the tool has looked, and found nothing'
    : 'the report has no findings, and says itself that the tool did not come to its end';
}
