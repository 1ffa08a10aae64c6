// What each hop of a chain rests on: why it is a hop, what proves it, who saw it, and what stands before it. Read from
// the findings at the moment of the question; secrets are masked as they were when they were stored, and once more.
import { Nullable, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { stageLabels } from '../chains/classification/stages.js';
import type { Candidate } from '../chains/candidate.js';
import type { Queryable } from '../database.js';
import { maskValue } from '../runtime/mask.js';

const itemsMax = 5;
const proofs = ['runtime', 'exploit', 'none'] as const;

export const EvidenceView = Type.Object({
  vuln_id: Type.String(),
  why: Type.String({ description: 'a sentence: what it gives to an attacker, and what is known of it' }),
  capability: Type.String(),
  cwe: Type.Array(Type.String()),
  proof: OneOf(proofs),
  source: Type.String(),
  tool: Type.String(),
  rule_id: Type.String(),
  first_seen: Type.String(),
  last_seen: Type.String(),
  occurrences: Type.Integer({ description: 'sightings by tools that are not gone' }),
  runtime_events: Type.Integer(),
  last_event_at: Nullable(Type.String()),
  vpatch: Nullable(Type.Object({ id: Type.String(), rule_id: Type.Integer(), state: Type.String() })),
  items: Type.Array(Type.Unknown(), { description: `the newest ${itemsMax} pieces of evidence, secrets masked` }),
});

interface Row {
  readonly id: number;
  readonly cwes: readonly number[];
  readonly source: string;
  readonly tool: string;
  readonly rule_id: string;
  readonly first_seen: Date;
  readonly last_seen: Date;
  readonly evidence: readonly unknown[] | null;
  readonly occurrences: number;
  readonly events: number;
  readonly last_event: Date | null;
  readonly vpatch: { readonly id: number; readonly rule_id: number; readonly state: string } | null;
}

function whyOf({ finding, capability, risk, view }: Candidate): string {
  const known = [
    finding.runtimeConfirmed === true ? 'proven at run time' : null,
    finding.exploitConfirmed ? 'proven by an exploit' : null,
    finding.reachable ? 'reachable' : 'not known to be reachable',
    finding.mitigated === true ? 'behind a proven virtual patch' : null,
  ].filter((one) => one !== null);
  return (
    `${stageLabels[capability.stage]} on ${view.application.name} by ${capability.label}: ${known.join(', ')}; ` +
    `risk ${risk} of 100.`
  );
}

/** One entry for each hop, in their order; one statement for all of them. */
export async function readEvidence(sql: Queryable, hops: readonly Candidate[]) {
  const rows = await sql<Row[]>`
    select f.id, f.cwes, f.source, f.tool, f.rule_id, f.first_seen, f.last_seen, d.evidence,
      (select count(*)::int from vm_occurrences o where o.finding_id = f.id and o.gone_at is null) as occurrences,
      events.n as events, events.last_event,
      (select json_build_object('id', p.id, 'rule_id', p.rule_id, 'state', p.state)
        from vm_vpatch_findings l join vm_vpatches p on p.id = l.vpatch_id
        where l.finding_id = f.id and p.state in ('active', 'proven', 'stale') order by p.id desc limit 1) as vpatch
    from vm_findings f left join vm_finding_details d on d.finding_id = f.id
      left join lateral (select count(*)::int as n, max(at) as last_event from vm_runtime_events e
        where e.finding_id = f.id) events on true
    where f.id in ${sql(hops.map(({ finding }) => finding.id))}`;
  return hops.flatMap((hop) => {
    const row = rows.find(({ id }) => String(id) === hop.finding.id);
    if (row === undefined) return [];
    return [
      {
        vuln_id: hop.finding.id,
        why: whyOf(hop),
        capability: hop.capability.cap,
        cwe: row.cwes.map((one) => `CWE-${one}`),
        proof: hop.finding.runtimeConfirmed === true ? 'runtime' : hop.finding.exploitConfirmed ? 'exploit' : 'none',
        source: row.source,
        tool: row.tool,
        rule_id: row.rule_id,
        first_seen: row.first_seen.toISOString(),
        last_seen: row.last_seen.toISOString(),
        occurrences: row.occurrences,
        runtime_events: row.events,
        last_event_at: row.last_event?.toISOString() ?? null,
        vpatch: row.vpatch === null ? null : { ...row.vpatch, id: String(row.vpatch.id) },
        items: (row.evidence ?? []).slice(-itemsMax).map((one) => maskValue(one)),
      },
    ];
  });
}
