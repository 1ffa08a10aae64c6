// /graph: attack chains over the findings that the caller may see, what to fix first, and how findings are classified.
import { Nullable, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { chainKinds } from '../chains/chain.js';
import { attackVersion, byWeakness, classifierVersion } from '../chains/classification/cwe-table.js';
import { stageLabels, stages } from '../chains/classification/stages.js';
import { techniqueNames } from '../chains/classification/techniques.js';
import { rankFixes, type Fix } from '../chains/fix-ranking.js';
import { narratorOf } from '../assistant/ask.js';
import { chainsAnswer } from '../chains/present.js';
import { reachable } from '../kit/caller.js';
import { endpoint, type Endpoint } from '../kit/endpoint.js';
import { explain, honouredIds, stepsOf } from './explain.js';
import { formatNames, formats } from './export/files.js';
import { historyEndpoints } from './history-endpoints.js';
import { currentChains } from './live-engine.js';
import { classify, ownCapabilities, OwnView } from './own/capabilities.js';
import { ruleEndpoints } from './own/rules.js';
import { loadApplications } from './rows.js';
import { scopeOf } from './scope.js';
import { ChainsView, FixView, ScopeQuery } from './shapes.js';
import { topology } from './topology/endpoints.js';
import { whatIf } from './what-if.js';

const closed = { additionalProperties: false } as const;

const viewFix = ({ hop, chains, dangerChains, maxChainRisk: [before, after], listed, reformed }: Fix) => ({
  vuln_id: hop.finding.id,
  title: hop.finding.title,
  application_id: hop.view.application.id,
  application: hop.view.application.name,
  severity: hop.finding.severity,
  score: hop.risk,
  chains_broken: chains,
  danger_chains_broken: dangerChains,
  max_chain_risk_before: before,
  max_chain_risk_after: after,
  listed_chains: listed,
  reformed_chains: reformed,
});

const chains: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/graph/attack-chains',
    permission: 'view_findings',
    kind: 'B',
    summary: 'Attack chains and toxic combinations over open findings, the proven and gravest first',
    query: ScopeQuery,
    answer: ChainsView,
    handle: async (call) => {
      const engine = await currentChains(call.host);
      return chainsAnswer(engine.read(await scopeOf(call, engine, call.query)));
    },
  }),
  endpoint({
    method: 'GET',
    path: '/graph/attack-chains/export',
    permission: 'view_findings',
    kind: 'X',
    summary: 'The chains that GET /graph/attack-chains lists as a file: CSV, JSON, STIX 2.1, SVG or Mermaid',
    query: Type.Object({ ...ScopeQuery.properties, format: Type.Optional(OneOf(formatNames)) }, closed),
    mediaType: 'text/csv; charset=utf-8',
    handle: async (call) => {
      const { format = 'csv', ...scope } = call.query;
      const engine = await currentChains(call.host);
      const { mediaType, ending, write } = formats[format];
      const day = call.now.toISOString().slice(0, 10);
      call.reply
        .type(mediaType)
        .header('content-disposition', `attachment; filename="attack-chains-${day}.${ending}"`)
        .header('content-security-policy', "default-src 'none'; sandbox");
      return write(chainsAnswer(engine.read(await scopeOf(call, engine, scope))), call.now);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/graph/attack-chains/explain',
    permission: 'view_findings',
    kind: 'B',
    reads: true,
    summary: 'A narrative of one chain by the ids of its findings, where a model is configured',
    body: Type.Object(
      {
        hop_vuln_ids: Type.Array(Type.Union([Type.String({ maxLength: 20 }), Type.Integer({ minimum: 1 })]), {
          minItems: 1,
          maxItems: 1000,
          description: 'the first eight distinct ids are looked at',
        }),
        name: Type.Optional(Type.String({ maxLength: 1000, description: 'is not read' })),
        kind: Type.Optional(OneOf(chainKinds)),
      },
      closed,
    ),
    handle: async (call) => {
      const { sql, reach, body } = call;
      const ids = honouredIds(body.hop_vuln_ids).filter((id) => /^[1-9]\d{0,17}$/.test(id));
      if (ids.length === 0) return explain(async () => null, []);
      const loaded = await loadApplications(
        sql,
        sql`${reachable(sql, reach, sql`a.id`, sql`a.project_id`)}
          and a.id in (select application_id from vm_findings where id in ${sql(ids)})`,
      );
      const steps = stepsOf(loaded, ids);
      const names = new Map(steps.map(({ view: { application: of } }) => [of.name, `application:${of.id}`]));
      const about = steps.map(({ finding }) => `finding:${finding.id}`).join(' ');
      return explain(async () => narratorOf(call, about, names), steps);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/graph/chokepoints',
    permission: 'view_findings',
    kind: 'B',
    summary: 'Which finding, once fixed, breaks most chains, worked out again without each',
    query: ScopeQuery,
    answer: Type.Object({ items: Type.Array(FixView) }, closed),
    handle: async (call) => {
      const engine = await currentChains(call.host);
      return { items: rankFixes(engine, await scopeOf(call, engine, call.query)).map(viewFix) };
    },
  }),
];

const tables: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/graph/capabilities',
    permission: 'view_findings',
    kind: 'A',
    summary: 'How weaknesses are classified, with the version of the table',
    answer: Type.Object({
      classifier_version: Type.Integer(),
      attack_version: Type.String(),
      items: Type.Array(
        Type.Object({
          cwe: Type.String(),
          stage: OneOf(stages),
          stage_label: Type.String(),
          capability: Type.String(),
          mitre: Type.String(),
          technique: Type.String(),
          label: Type.String(),
          pivot_class: Nullable(Type.String()),
        }),
      ),
      own: Type.Array(OwnView, { description: 'what the organisation says in its place' }),
    }),
    handle: async ({ sql, reach }) => ({
      own: await ownCapabilities(sql, reach),
      classifier_version: classifierVersion,
      attack_version: attackVersion,
      items: [...byWeakness]
        .sort(([one], [other]) => one - other)
        .map(([weakness, { stage, cap, mitre, label, pivot }]) => ({
          cwe: `CWE-${weakness}`,
          stage,
          stage_label: stageLabels[stage],
          capability: cap,
          mitre,
          technique: techniqueNames[mitre],
          label,
          pivot_class: pivot,
        })),
    }),
  }),
];

export const graphEndpoints: readonly Endpoint[] = [
  ...chains,
  whatIf,
  ...historyEndpoints,
  ...tables,
  classify,
  ...ruleEndpoints,
  topology,
];
