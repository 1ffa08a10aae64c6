// Reading the audit log: filters, pages, and a CSV export.
import { Type, type Static } from '@sinclair/typebox';
import type { Queryable } from '../db/client.js';
import {
  ApiError,
  checkAddress,
  escapeLike,
  listOf,
  Moment,
  SomeOf,
  parseRange,
  roles,
  toCsvLine,
} from '../http-kit/index.js';
import { auditActions } from './actions.js';
import type { AuditRow } from './chain.js';

export const auditFilters = {
  actor: Type.Optional(Type.String({ maxLength: 254 })),
  action: Type.Optional(
    Type.String({ maxLength: 100, description: 'exact, or a prefix that ends with a dot, such as user.' }),
  ),
  role: Type.Optional(SomeOf([...roles, 'system', 'none'], 'of the actor; system: the program itself')),
  source_ip: Type.Optional(Type.String({ maxLength: 64 })),
  from: Type.Optional(Moment('UTC')),
  to: Type.Optional(Moment('UTC, exclusive')),
  q: Type.Optional(Type.String({ maxLength: 200, description: 'words in the summary' })),
};
const Filters = Type.Object(auditFilters);
type GivenFilters = Static<typeof Filters>;

export type AuditFilters = Omit<GivenFilters, 'from' | 'to'> & {
  /** Entries of the vulnerability manager are left out: they name what only some may see. */
  readonly withoutVm?: boolean;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
};

const actions = Object.keys(auditActions);

/** Throws `validation_failed` for an action that no entry can have, with the names that there are. */
function checkAction(wanted: string | undefined): void {
  if (wanted === undefined) return;
  if (wanted.endsWith('.') ? actions.some((one) => one.startsWith(wanted)) : actions.includes(wanted)) return;
  throw new ApiError(
    'validation_failed',
    `/action must be one of ${actions.join(', ')}, or a beginning with its dot.`,
    {
      errors: [{ path: '/action', reason: `must be one of ${actions.join(', ')}, or a beginning with its dot` }],
    },
  );
}

/**
 * Refuses what no entry can fit before anything is answered: an export that has begun cannot be refused any more.
 */
export function readFilters(given: GivenFilters): AuditFilters {
  checkAction(given.action);
  checkAddress(given.source_ip, '/source_ip');
  return { ...given, ...parseRange(given) };
}

/** Newest first, below `beforeId`. */
export function selectEntries(sql: Queryable, wanted: AuditFilters, beforeId: number, limit: number) {
  const action =
    wanted.action === undefined
      ? sql``
      : wanted.action.endsWith('.')
        ? sql`and action like ${`${escapeLike(wanted.action)}%`}`
        : sql`and action = ${wanted.action}`;
  return sql<AuditRow[]>`
    select * from audit_entries where id < ${beforeId} ${action}
    ${wanted.withoutVm === true ? sql`and action not like 'vm.%'` : sql``}
    ${wanted.actor === undefined ? sql`` : sql`and actor = ${wanted.actor}`}
    ${wanted.role === undefined ? sql`` : sql`and role in ${sql([...listOf(wanted.role)])}`}
    ${wanted.source_ip === undefined ? sql`` : sql`and source_ip = ${wanted.source_ip}`}
    ${wanted.from === undefined ? sql`` : sql`and at >= ${wanted.from}`}
    ${wanted.to === undefined ? sql`` : sql`and at < ${wanted.to}`}
    ${wanted.q === undefined ? sql`` : sql`and summary ilike ${`%${escapeLike(wanted.q)}%`}`}
    order by id desc limit ${limit}`;
}

const columns = ['id', 'at', 'actor', 'role', 'source_ip', 'action', 'summary', 'details', 'hash'] as const;

/** The head, then one line an entry, newest first; read in pages, so that it may be of any length. */
export async function* exportLines(sql: Queryable, wanted: AuditFilters): AsyncGenerator<string> {
  yield toCsvLine(columns);
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const rows = await selectEntries(sql, wanted, before, 1000);
    for (const row of rows) yield toCsvLine(columns.map((column) => row[column]));
    const last = rows.at(-1);
    if (last === undefined) return;
    before = last.id;
  }
}
