// A finding once more, by what has found it: the check of a scan, or the technique of an exploit. Nothing is closed by
// it: the run says whether it is there, and a whole scan resolves it.
import { ApiError } from '#http-kit';
import { visibleByApplication } from '../../assets/resources.js';
import { beginExploit } from '../../exploit/run-exploit.js';
import { wantedAgain } from '../../exploit/wanted.js';
import { endpoint, notFound, toId, type Call, type Endpoint } from '../../kit/endpoint.js';
import { inBackground } from '../../kit/runs/background.js';
import { insertRun, RunView, viewRun, type Run } from '../../kit/runs.js';
import { requireTarget } from '../targets/endpoints.js';
import { proveFinding } from './prove-finding.js';
import { scanKind, type ScanFindingRow } from './store.js';

export const retestKind = 'retest';

async function byCheck(call: Call, findingId: string, applicationId: number): Promise<Run | null> {
  const [row] = await call.sql<(ScanFindingRow & { target_id: string })[]>`
    select s.*, r.input ->> 'target_id' as target_id from vm_scan_findings s join vm_runs r on r.id = s.run_id
    where s.finding_id = ${findingId} and r.kind = ${scanKind} order by s.id desc limit 1`;
  if (row === undefined) return null;
  const target = await requireTarget(call.sql, call.reach, row.target_id);
  const [open] = await call.sql<{ id: number }[]>`
    select id from vm_runs where kind = ${retestKind} and status in ('queued', 'running')
      and input ->> 'target_id' = ${row.target_id} limit 1`;
  if (open !== undefined)
    throw new ApiError('conflict', `The retest ${open.id} of this target goes on: wait for it, or cancel it.`);
  const input = { vulnerability_id: findingId, check: row.check_id, target_id: row.target_id, url: row.url };
  const run = await call.audited(
    'vm.create',
    (made: Run) => `began the retest ${made.id} of the vulnerability ${findingId} (${row.check_id})`,
    async (tx) => {
      const { name: createdBy } = call.caller.actor;
      return insertRun(tx, { kind: retestKind, applicationId, input, createdBy, status: 'running' }, call.now);
    },
  );
  inBackground(call.host, run, async (signal) => {
    const proved = await proveFinding(call, target, row, signal);
    return { still_there: proved.still_there, behind_waf: proved.behind_waf, scan_finding: String(proved.id) };
  });
  return run;
}

async function byExploit(call: Call, findingId: string): Promise<Run | null> {
  const [row] = await call.sql<{ run_id: number }[]>`
    select run_id from vm_exploits where finding_id = ${findingId} and verdict = 'proven' order by run_id desc limit 1`;
  if (row === undefined) return null;
  const reach = call.caller.reach('run_exploit', true);
  if (reach === null) throw new ApiError('role_denied', 'An exploit has proven it: this needs run_exploit, too.');
  const acting = { ...call, caller: call.caller, reach };
  return beginExploit(acting, await wantedAgain(acting, String(row.run_id)));
}

export const retestEndpoint: Endpoint = endpoint({
  method: 'POST',
  path: '/vulnerabilities/:id/retest',
  permission: 'run_scans',
  kind: 'R',
  summary: 'Look for a finding once more by the check or the exploit that found it; 409 where neither did',
  status: 202,
  answer: RunView,
  handle: async (call) => {
    const id = toId(call.params['id'] ?? '', 'vulnerability');
    const [finding] = await call.sql<{ application_id: number; tool: string }[]>`
      select application_id, tool from vm_findings
      where id = ${id} and ${visibleByApplication('vm_findings')(call.sql, call.reach)}`;
    if (finding === undefined) throw notFound('vulnerability', id);
    const run = (await byCheck(call, id, finding.application_id)) ?? (await byExploit(call, id));
    if (run === null)
      throw new ApiError('conflict', `No scan or exploit of here has found it: let ${finding.tool} report again.`);
    return viewRun(run);
  },
});
