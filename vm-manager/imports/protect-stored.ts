// Rows from before texts were masked and identities keyed, rewritten as an import of today writes them. Each batch is a
// transaction of its own, so that nobody waits for long. An import waits until the rows of its application are done:
// until then it would not recognise them.
import { json, type Sql, type Tx } from '../database.js';
import type { Source } from '../findings/words.js';
import { maskSecrets, maskValues } from '../secrets/mask.js';
import { RecordMask, type Keyed } from '../secrets/protect-record.js';
import type { Host } from '../host.js';
import { readIdentityKey } from '../secrets/identity-key.js';
import type { FindingRecord, Location } from './record.js';

const batchMax = 200;

/**
 * The key of identities, when the application's rows (null: all) are stored under it. Outside of transactions: the
 * batches are committed one by one.
 */
export async function readyForImport(
  { sql, secrets }: Pick<Host, 'sql' | 'secrets'>,
  applicationId: number | null,
): Promise<Keyed> {
  const keyed = await readIdentityKey(sql, secrets);
  await protectFindings(sql, keyed, applicationId);
  return keyed;
}

/** For the background: what is left of all tables. */
export async function protectStored(host: Pick<Host, 'sql' | 'secrets'>, signal: AbortSignal): Promise<string> {
  const keyed = await readIdentityKey(host.sql, host.secrets);
  const findings = await protectFindings(host.sql, keyed, null, signal);
  return `${findings} findings and ${await protectQuotations(host.sql, signal)} other rows were masked`;
}

interface StoredFinding {
  readonly id: number;
  readonly title: string;
  readonly source: Source;
  readonly tool: string;
  readonly rule_id: string;
  readonly cwes: readonly number[];
  readonly vuln_ids: readonly string[];
  readonly tags: readonly string[];
  readonly shown: string;
  readonly fingerprint: string;
  readonly cluster_key: string | null;
  readonly description: string;
  readonly location: Location;
  readonly fix: FindingRecord['fix'];
  readonly refs: readonly string[];
  readonly evidence: readonly unknown[];
  readonly extra: Readonly<Record<string, unknown>>;
}
interface StoredSighting {
  readonly id: number;
  readonly finding_id: number;
  readonly tool: string;
  readonly tool_key: string;
  readonly raw_hash: string;
  readonly location: Location;
}

const isDigest = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

/** Those of one application, or of all; returns how many findings were rewritten. */
async function protectFindings(
  sql: Sql,
  keyed: Keyed,
  applicationId: number | null,
  signal?: AbortSignal,
): Promise<number> {
  let done = 0;
  while (signal?.aborted !== true) {
    const count = await sql.begin(async (tx) => protectBatch(tx, keyed, applicationId));
    done += count;
    if (count < batchMax) break;
  }
  return done;
}

async function protectBatch(tx: Tx, keyed: Keyed, applicationId: number | null): Promise<number> {
  const within = applicationId === null ? tx`true` : tx`f.application_id = ${applicationId}`;
  const rows = await tx<StoredFinding[]>`
    select f.id, f.title, f.source, f.tool, f.rule_id, f.cwes, f.vuln_ids, f.tags, f.location as shown, f.fingerprint,
      f.cluster_key, coalesce(d.description, '') as description, coalesce(d.location, '{}') as location,
      coalesce(d.fix, '{}') as fix, coalesce(d.refs, '[]') as refs, coalesce(d.evidence, '[]') as evidence,
      coalesce(d.extra, '{}') as extra
    from vm_findings f left join vm_finding_details d on d.finding_id = f.id
    where not f.is_masked and ${within} order by f.application_id, f.id limit ${batchMax} for update of f`;
  if (rows.length === 0) return 0;
  const mask = new RecordMask(keyed);
  const changed = new Set<number>();
  const given = rows.map((row) => {
    const masked = mask.stored(row);
    if (JSON.stringify(masked) !== JSON.stringify(row)) changed.add(row.id);
    const fingerprint = isDigest(row.fingerprint) ? keyed(row.fingerprint) : row.fingerprint;
    const isOfSecret = row.location.kind === 'secret' && row.cluster_key !== null;
    return { ...masked, fingerprint, cluster_key: isOfSecret ? keyed(row.cluster_key) : row.cluster_key };
  });
  await tx`
    update vm_findings f set title = n.title, tool = n.tool, rule_id = n.rule_id, vuln_ids = n.vuln_ids, tags = n.tags,
      location = n.shown, fingerprint = n.fingerprint, cluster_key = n.cluster_key, is_masked = true
    from jsonb_to_recordset(${json(tx, given)}) as n(id bigint, title text, tool text, rule_id text, vuln_ids jsonb,
      tags jsonb, shown text, fingerprint text, cluster_key text) where f.id = n.id`;
  await tx`
    update vm_finding_details d set description = n.description, location = n.location, fix = n.fix, refs = n.refs,
      evidence = n.evidence, extra = n.extra
    from jsonb_to_recordset(${json(
      tx,
      given.filter(({ id }) => changed.has(id)),
    )}) as n(id bigint, description text,
      location jsonb, fix jsonb, refs jsonb, evidence jsonb, extra jsonb) where d.finding_id = n.id`;
  await protectSightings(tx, keyed, mask, rows, changed);
  return rows.length;
}

/** What tells of a finding that its texts quote a credential. */
const ofFinding = (row?: StoredFinding) => ({
  source: row?.source ?? ('sast' as const),
  cwes: row?.cwes ?? [],
  rule_id: row?.rule_id ?? '',
});

async function protectSightings(
  tx: Tx,
  keyed: Keyed,
  mask: RecordMask,
  rows: readonly StoredFinding[],
  changed: ReadonlySet<number>,
): Promise<void> {
  const findings = new Map(rows.map((row) => [row.id, row]));
  const sightings = await tx<StoredSighting[]>`
    select id, finding_id, tool, tool_key, raw_hash, location from vm_occurrences
    where finding_id in ${tx([...findings.keys()])}`;
  const given = sightings.map((one) => ({
    ...mask.stored({ ...ofFinding(findings.get(one.finding_id)), ...one }),
    tool_key: isDigest(one.tool_key) ? keyed(one.tool_key) : one.tool_key,
    // a digest of the whole text would confirm a guess of the secret in it: the next report writes a new one
    raw_hash: changed.has(one.finding_id) ? '' : one.raw_hash,
  }));
  await tx`
    update vm_occurrences o set tool = n.tool, tool_key = n.tool_key, raw_hash = n.raw_hash, location = n.location
    from jsonb_to_recordset(${json(tx, given)}) as n(id bigint, tool text, tool_key text, raw_hash text, location jsonb)
    where o.id = n.id`;
}

/** Other tables that quote reports: their id, texts and JSON. */
const quoting = [
  { table: 'vm_runs', texts: ['error'], values: ['result', 'problems'] },
  { table: 'vm_events', texts: [], values: ['payload'] },
  { table: 'vm_outbox', texts: [], values: ['body'] },
  { table: 'vm_gate_evaluations', texts: [], values: ['snapshot'] },
  { table: 'vm_chain_history', texts: ['name'], values: [] },
  { table: 'vm_components', texts: ['name', 'version', 'purl'], values: [] },
  { table: 'vm_sboms', texts: ['name', 'serial', 'tool'], values: [] },
  { table: 'vm_sbom_components', texts: ['name', 'version', 'purl'], values: ['licences'] },
] as const;

/** Returns how many rows had a secret in them. */
async function protectQuotations(sql: Sql, signal?: AbortSignal): Promise<number> {
  let changed = 0;
  for (const { table, texts, values } of quoting) {
    const [known] = await sql<{ upto: number }[]>`select upto from vm_masked_tables where name = ${table}`;
    if (known?.upto === -1) continue;
    let upto = known?.upto ?? 0;
    for (;;) {
      if (signal?.aborted === true) return changed;
      const from = upto;
      const { last, count } = await sql.begin(async (tx) => {
        const names = ['id', ...texts, ...values];
        const rows = await tx<Record<string, unknown>[]>`
          select ${tx(names)} from ${tx(table)} where id > ${from} order by id limit ${batchMax}`;
        const masked = rows.map((row) => maskValues(row, (text) => maskSecrets(text)));
        const different = masked.filter((row, at) => JSON.stringify(row) !== JSON.stringify(rows[at]));
        for (const row of different) {
          const set = Object.fromEntries([
            ...texts.map((name) => [name, row[name]]),
            ...values.map((name) => [name, json(tx, row[name])]),
          ]) as Record<string, never>;
          await tx`update ${tx(table)} set ${tx(set)} where id = ${row['id'] as number}`;
        }
        const end = rows.length < batchMax ? -1 : Number(rows.at(-1)?.['id']);
        await tx`
          insert into vm_masked_tables (name, upto) values (${table}, ${end})
          on conflict (name) do update set upto = excluded.upto`;
        return { last: end, count: different.length };
      });
      changed += count;
      if (last === -1) break;
      upto = last;
    }
  }
  return changed;
}
