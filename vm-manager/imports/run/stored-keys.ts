// Looking up what is stored by the keys of records, also under those of an earlier path (roots/former.ts).
import { json, type Queryable, type Tx } from '../../database.js';
import type { Status } from '../../findings/words.js';
import type { Prepared } from '../import-store.js';
import { isLifted } from '../roots/lift-stored.js';
import type { Supposed } from '../roots/lifts.js';
import type { ImportScope } from './scope.js';

export interface Finding {
  readonly finding_id: number;
  readonly status: Status;
}
export interface Sighting {
  readonly id: number;
  readonly tool_key: string;
  readonly raw_hash: string;
  /** Not gone. */
  readonly here: boolean;
  /** Of its finding. */
  readonly tool: string;
  readonly fingerprint: string;
}
export type Named = Finding & Pick<Sighting, 'fingerprint'>;
type Scope = Pick<ImportScope, 'applicationId' | 'scopeKey'>;

/** The newest first; most records have one. */
export const toolKeysOf = ({ toolKey, former }: Prepared): readonly string[] =>
  former.length === 0 ? [toolKey] : [toolKey, ...former.map((one) => one.toolKey)];
export const fingerprintsOf = ({ fingerprint, former }: Prepared): readonly string[] =>
  former.length === 0 ? [fingerprint] : [fingerprint, ...former.map((one) => one.fingerprint)];

export function firstOf<T>(known: ReadonlyMap<string, T>, keys: readonly string[]): T | undefined {
  for (const key of keys) {
    const found = known.get(key);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** In one value: five hundred parameters cost more than what they ask for. */
export async function readSightings(
  tx: Queryable,
  scope: Scope,
  keys: readonly string[],
  supposed: readonly Supposed[] = [],
): Promise<(Sighting & Finding)[]> {
  const mark = markOf(tx, scope, supposed);
  const isOwn = tx`case when d.location ->> 'path' = o.location ->> 'path' then ${mark} else '' end`;
  return tx<(Sighting & Finding)[]>`
    select o.id, o.tool_key || ${mark} as tool_key, o.raw_hash, o.finding_id, o.gone_at is null as here, f.status,
      f.tool, f.fingerprint || ${supposed.length === 0 ? tx`''` : isOwn} as fingerprint
    from vm_occurrences o join vm_findings f on f.id = o.finding_id
    ${supposed.length === 0 ? tx`` : tx`left join vm_finding_details d on d.finding_id = f.id`}
    where o.scope_key = ${scope.scopeKey}
      and o.tool_key in (select jsonb_array_elements_text(${json(tx, unmarked(keys, supposed))}))`;
}

export async function readNamed(
  tx: Queryable,
  scope: Scope,
  keys: readonly string[],
  supposed: readonly Supposed[] = [],
): Promise<Named[]> {
  const ofSighting = tx`
    coalesce((select max(${markOf(tx, scope, supposed)}) from vm_occurrences o join vm_finding_details d
      on d.finding_id = o.finding_id and d.location ->> 'path' = o.location ->> 'path' where o.finding_id = f.id), '')`;
  return tx<Named[]>`
    select f.id as finding_id, f.fingerprint || ${supposed.length === 0 ? tx`''` : ofSighting} as fingerprint, f.status
    from vm_findings f
    where f.application_id = ${scope.applicationId}
      and f.fingerprint in (select jsonb_array_elements_text(${json(tx, unmarked(keys, supposed))}))`;
}

/** What stands behind the key of a sighting (`o`) once the lifts are made that a preview supposes. */
const markOf = (tx: Queryable, scope: Scope, supposed: readonly Supposed[]) =>
  supposed.reduceRight(
    (rest, lift) => tx`case when ${isLifted(tx, scope, lift)} then ${lift.mark}::text else ${rest} end`,
    tx`''`,
  );

function unmarked(keys: readonly string[], supposed: readonly Supposed[]): readonly string[] {
  if (supposed.length === 0) return keys;
  const all = new Set(keys);
  for (const key of keys) for (const { mark } of supposed) if (key.endsWith(mark)) all.add(key.slice(0, -mark.length));
  return [...all];
}

interface KnownKey {
  readonly prepared: Prepared;
  readonly finding: { readonly id: number };
  readonly sighting: Sighting | null;
}

/** What was found under an earlier path gets the keys of its new one. */
export async function renewKeys(tx: Tx, { applicationId, scopeKey }: Scope, known: readonly KnownKey[]): Promise<void> {
  const former = known.filter(({ prepared }) => prepared.former.length > 0);
  if (former.length === 0) return;
  const findings = former.map(({ prepared, finding }) => ({
    id: finding.id,
    fingerprint: prepared.fingerprint,
    former: prepared.former.map((one) => one.fingerprint),
  }));
  await tx`
    update vm_findings f set fingerprint = n.fingerprint
    from jsonb_to_recordset(${json(tx, findings)}) as n(id bigint, fingerprint text, former jsonb)
    where f.id = n.id and n.former ? f.fingerprint and not exists (
      select 1 from vm_findings g where g.application_id = ${applicationId} and g.fingerprint = n.fingerprint)`;
  const sightings = former.flatMap(({ prepared, sighting }) =>
    sighting === null || sighting.tool_key === prepared.toolKey
      ? []
      : [{ id: sighting.id, tool_key: prepared.toolKey }],
  );
  if (sightings.length === 0) return;
  await tx`
    update vm_occurrences o set tool_key = n.tool_key
    from jsonb_to_recordset(${json(tx, sightings)}) as n(id bigint, tool_key text)
    where o.id = n.id and o.scope_key = ${scopeKey}`;
}
