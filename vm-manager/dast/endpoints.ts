// /scans: begun, watched, stopped; what they covered and found, proved again; the switch that stops all of them.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { allOf } from '../database.js';
import { severityNames } from '../findings/words.js';
import { hasOneOf, SomeOf } from '../kit/comma-list.js';
import { endpoint, notFound, toId, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage } from '../kit/list.js';
import { runStatuses, RunView, viewRun, type Run } from '../kit/runs.js';
import { checkTexts } from './checks/index.js';
import { profiles } from './model.js';
import { resultEndpoints } from './outcome/endpoints.js';
import { fittingPatches, type FittingPatch } from './run/fitting-patch.js';
import { chooseProfile, profileEndpoints } from './run/profiles.js';
import { proveFinding } from './run/prove-finding.js';
import { beginScan, callbackList, stopHere } from './run/run-scan.js';
import { readSwitch, requireScan, scanKind, visibleRuns as visible, type ScanFindingRow } from './run/store.js';
import { groupScanEndpoint } from './targets/group-scan.js';
import { probeEndpoint } from './targets/probe.js';
import { retestEndpoint } from './run/retest.js';
import { requireTarget, targetEndpoints } from './targets/endpoints.js';
import { wafEntryOf, type TargetRow } from './targets/verify.js';

const closed = { additionalProperties: false } as const;
const FoundView = Type.Object({
  id: Type.String(),
  check: Type.String(),
  title: Type.String(),
  severity: OneOf(severityNames),
  cwe: Type.Integer(),
  remediation: Type.String(),
  method: Type.String(),
  url: Type.String(),
  param: Nullable(Type.String()),
  request: Type.String(),
  response: Type.String(),
  attack: Type.String(),
  proof: Type.String(),
  behind_waf: OneOf(['not_tried', 'exploitable', 'blocked', 'unknown']),
  behind_waf_note: Nullable(Type.String({ description: 'why it was not tried there' })),
  finding_id: Nullable(Type.String()),
  vpatch_id: Nullable(Type.String({ description: 'the virtual patch that stands before it; null: none was proposed' })),
  patch: Nullable(
    Type.Object(
      { fits: Type.Boolean(), strategy: Nullable(Type.String()), why: Type.String() },
      {
        description:
          'what POST /vpatches with its finding_id proposes; null: it is not exploitable behind the firewall',
      },
    ),
  ),
  proved_at: Time,
  still_there: Type.Boolean(),
});

const noteOf = (entry: ReturnType<typeof wafEntryOf>): string | null =>
  entry === null ? 'The target names no entry of the firewall: set its waf_url.' : entry.why || null;

type FoundRow = ScanFindingRow & { readonly vpatch_id?: number | null; readonly patch?: FittingPatch | undefined };

const viewFound = (row: FoundRow, entry: ReturnType<typeof wafEntryOf>) => ({
  id: String(row.id),
  check: row.check_id,
  title: row.title,
  severity: severityNames[row.severity] ?? 'info',
  cwe: row.cwe,
  remediation: checkTexts.find(({ id }) => id === row.check_id)?.remediation ?? '',
  method: row.method,
  url: row.url,
  param: row.param,
  request: row.proof.request,
  response: row.proof.response,
  attack: row.proof.attack,
  proof: row.proof.proof,
  behind_waf: row.behind_waf,
  behind_waf_note: row.behind_waf === 'not_tried' ? noteOf(entry) : null,
  finding_id: row.finding_id === null ? null : String(row.finding_id),
  vpatch_id: row.vpatch_id === null || row.vpatch_id === undefined ? null : String(row.vpatch_id),
  patch: row.patch ?? null,
  proved_at: row.proved_at.toISOString(),
  still_there: row.still_there,
});

const runs: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/scans',
    permission: 'run_scans',
    kind: 'R',
    summary: 'Scan a target that is verified; 409 where it may not be scanned now',
    body: Type.Object(
      {
        target_id: Type.String({ maxLength: 20 }),
        profile: Type.Optional(OneOf(profiles)),
        profile_id: Type.Optional(
          Type.String({ maxLength: 20, description: 'a profile of the organisation, instead' }),
        ),
        browser: Type.Optional(
          Type.Boolean({
            description:
              'pages with scripts are opened in a browser, where there is one; absent: as the profile says (quick: no)',
          }),
        ),
      },
      closed,
    ),
    status: 202,
    answer: RunView,
    handle: async (call) => {
      const target = await requireTarget(call.sql, call.reach, call.body.target_id);
      return viewRun(await beginScan(call, target, await chooseProfile(call.sql, call.body)));
    },
  }),
  endpoint({
    method: 'GET',
    path: '/scans',
    permission: 'view_scans',
    kind: 'R',
    summary: 'Scans of running applications, newest first',
    query: Type.Object(
      {
        ...ListQuery,
        application_id: Type.Optional(Type.String({ maxLength: 20 })),
        target_id: Type.Optional(Type.String({ maxLength: 20 })),
        status: Type.Optional(SomeOf(runStatuses)),
      },
      closed,
    ),
    answer: List(RunView),
    handle: async ({ sql, reach, query }) => {
      const { application_id: id, target_id: target } = query;
      const where = allOf(sql, [
        sql`kind = ${scanKind}`,
        visible(sql, reach),
        id === undefined ? sql`true` : /^\d{1,18}$/.test(id) ? sql`application_id = ${id}` : sql`false`,
        target === undefined ? sql`true` : sql`input ->> 'target_id' = ${target}`,
        query.status === undefined ? sql`true` : hasOneOf(sql, 'status', query.status),
      ]);
      const sorts = { id: { column: 'id', type: 'number' } } as const;
      const page = await readPage<Run>(sql, { table: 'vm_runs', where, sorts, sort: '-id' }, query);
      return { ...page, items: page.items.map(viewRun) };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/scans/:id',
    permission: 'view_scans',
    kind: 'R',
    summary: 'One scan: how far it is, and what it covered so far',
    answer: RunView,
    handle: async ({ sql, reach, params }) => viewRun(await requireScan(sql, reach, params['id'] ?? '')),
  }),
  endpoint({
    method: 'POST',
    path: '/scans/:id/cancel',
    permission: 'run_scans',
    kind: 'S',
    summary: 'Stop a scan: no request leaves after a second; what it found is kept, nothing is closed by it',
    answer: RunView,
    handle: async (call) => {
      const { id } = await requireScan(call.sql, call.reach, call.params['id'] ?? '');
      const run = await call.audited('vm.transition', `stopped the scan ${id}`, async (tx) => {
        const [row] = await tx<Run[]>`
          update vm_runs set cancel_asked = true where id = ${id} and status in ('queued', 'running') returning *`;
        if (row === undefined) throw new ApiError('conflict', 'The scan is over.');
        return row;
      });
      stopHere(run.id);
      return viewRun(run);
    },
  }),
];

const results: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/scans/:id/findings',
    permission: 'view_findings',
    kind: 'A',
    summary: 'What a scan has found, with request, answer and proof',
    query: Type.Object(ListQuery, closed),
    answer: List(FoundView),
    handle: async ({ host, sql, reach, params, query, now }) => {
      const { id, input } = await requireScan(sql, reach, params['id'] ?? '');
      const [target] = await sql<TargetRow[]>`select * from vm_targets where id::text = ${String(input['target_id'])}`;
      const entry = target === undefined ? null : wafEntryOf(target, now);
      const sorts = { severity: { column: 'severity', type: 'number' } } as const;
      const where = sql`run_id = ${id}`;
      const page = await readPage<FoundRow>(sql, { table: 'vm_scan_findings', where, sorts, sort: '-severity' }, query);
      const ids = page.items.flatMap(({ finding_id: finding }) => (finding === null ? [] : [finding]));
      const patches =
        ids.length === 0
          ? []
          : await sql<{ finding_id: number; vpatch_id: number }[]>`
              select l.finding_id, max(l.vpatch_id) as vpatch_id from vm_vpatch_findings l
              join vm_vpatches p on p.id = l.vpatch_id and p.state <> 'disabled'
              where l.finding_id in ${sql(ids)} group by 1`;
      const byFinding = new Map(patches.map((one) => [one.finding_id, one.vpatch_id]));
      const fitting = await fittingPatches({ host, sql }, page.items);
      const items = page.items.map((row) => {
        const of = row.finding_id ?? 0;
        return viewFound({ ...row, vpatch_id: byFinding.get(of) ?? null, patch: fitting.get(of) }, entry);
      });
      return { ...page, items };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/scans/:id/prove',
    permission: 'run_scans',
    kind: 'R',
    summary: 'Prove one of its findings again, now, and behind the firewall where the target names its entry',
    body: Type.Object(
      { finding: Type.String({ maxLength: 20, description: 'the id in the list of the scan' }) },
      closed,
    ),
    answer: FoundView,
    handle: async (call) => {
      const run = await requireScan(call.sql, call.reach, call.params['id'] ?? '');
      const id = toId(call.body.finding, 'finding of a scan');
      const [row] = await call.sql<ScanFindingRow[]>`
        select * from vm_scan_findings where id = ${id} and run_id = ${run.id}`;
      if (row === undefined) throw notFound('finding of a scan', id);
      const target = await requireTarget(call.sql, call.reach, String(run.input['target_id']));
      const proved = await proveFinding(call, target, row);
      const patch = (await fittingPatches(call, [proved])).get(proved.finding_id ?? 0);
      return viewFound({ ...proved, patch }, wafEntryOf(target, call.now));
    },
  }),
  endpoint({
    method: 'GET',
    path: '/scans/checks',
    permission: 'view_scans',
    kind: 'C',
    summary: 'What scans look for, and what to do about it',
    answer: Type.Object({
      items: Type.Array(
        Type.Object({
          id: Type.String(),
          title: Type.String(),
          severity: OneOf(severityNames),
          cwe: Type.Integer(),
          description: Type.String(),
          remediation: Type.String(),
        }),
      ),
    }),
    handle: async () => ({
      items: checkTexts.map(({ id, title, severity, cwe, description, remediation }) => ({
        id,
        title,
        severity,
        cwe,
        description,
        remediation,
      })),
    }),
  }),
];

const SwitchView = Type.Object({
  halted: Type.Boolean(),
  reason: Type.String(),
  changed_by: Type.String(),
  changed_at: Nullable(Time),
});

const control: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/scan-switch',
    permission: 'view_scans',
    kind: 'B',
    summary: 'Whether all scans are stopped, by whom and why',
    answer: SwitchView,
    handle: async ({ sql }) => {
      const { changed_at: at, halted, reason, changed_by } = await readSwitch(sql);
      return { halted, reason, changed_by, changed_at: at?.toISOString() ?? null };
    },
  }),
  endpoint({
    method: 'PUT',
    path: '/scan-switch',
    permission: 'run_scans',
    ofOrganisation: 'Scans of all targets',
    kind: 'S',
    summary: 'Stop all scans at once, and let none begin; or let them again',
    body: Type.Object({ halted: Type.Boolean(), reason: Type.String({ minLength: 1, maxLength: 500 }) }, closed),
    answer: SwitchView,
    handle: async (call) => {
      const { halted, reason } = call.body;
      const by = call.caller.actor.name;
      await call.audited(
        'vm.transition',
        halted ? `stopped all scans: ${reason}` : `let scans run again: ${reason}`,
        (tx) =>
          tx`
          insert into vm_scan_switch (halted, reason, changed_by, changed_at)
          values (${halted}, ${reason}, ${by}, ${call.now})
          on conflict (singleton) do update set halted = excluded.halted, reason = excluded.reason,
            changed_by = excluded.changed_by, changed_at = excluded.changed_at`.then(() => undefined),
      );
      if (halted) stopHere('all');
      return { halted, reason, changed_by: by, changed_at: call.now.toISOString() };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/scan-callbacks/:token',
    permission: 'public',
    kind: 'B',
    summary: 'Where targets of scans end up that fetch what a request names; 404 for a token that no scan has issued',
    mediaType: 'text/plain; charset=utf-8',
    handle: async ({ params, reply }) => {
      const answer = callbackList.take(params['token'] ?? '');
      if (answer === null) throw new ApiError('not_found', 'No scan has issued this token.');
      reply.type('text/plain; charset=utf-8');
      return answer;
    },
  }),
];

export const scanEndpoints: readonly Endpoint[] = [
  ...targetEndpoints,
  ...runs,
  ...profileEndpoints,
  ...results,
  ...resultEndpoints,
  probeEndpoint,
  groupScanEndpoint,
  retestEndpoint,
  ...control,
];
