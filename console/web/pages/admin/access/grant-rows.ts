// The rows in which roles are given to somebody, and what of them can be stored: pure.

export type Scope = 'org' | 'project' | 'application';

export interface GrantRow {
  readonly scope: Scope;
  readonly scope_id?: string;
  readonly role: string;
}

export const newGrant: GrantRow = { scope: 'org', role: 'viewer' };

/** Another scope is of another thing: what was chosen before does not name one of it. */
export function withPart(row: GrantRow, part: Partial<GrantRow>): GrantRow {
  const next = { ...row, ...part };
  if (part.scope === undefined || part.scope === row.scope) return next;
  const { scope_id: _, ...others } = next;
  return others;
}

/** Whether each says what it is for. */
export const areWhole = (rows: readonly GrantRow[]): boolean =>
  rows.every(({ scope, scope_id: id, role }) => role !== '' && (scope === 'org' || (id ?? '') !== ''));

const keyOf = ({ scope, scope_id: id, role }: GrantRow): string => JSON.stringify([scope, id ?? '', role]);

/** As the API takes them: each once. */
export const toGrants = (rows: readonly GrantRow[]): GrantRow[] => [
  ...new Map(rows.map((row) => [keyOf(row), row])).values(),
];
