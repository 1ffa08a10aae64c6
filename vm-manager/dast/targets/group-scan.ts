// A scan of each target of a group that may be scanned now; of the others it says why not.
import { ApiError, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { targetGroups, visibleByApplication } from '../../assets/resources.js';
import { endpoint, type Endpoint } from '../../kit/endpoint.js';
import { requireRow } from '../../kit/resource.js';
import { RunView, viewRun } from '../../kit/runs.js';
import { profiles } from '../model.js';
import { chooseProfile } from '../run/profiles.js';
import { beginScan } from '../run/run-scan.js';
import type { TargetRow } from './verify.js';

const closed = { additionalProperties: false } as const;
const targetsMax = 500;

export const groupScanEndpoint: Endpoint = endpoint({
  method: 'POST',
  path: '/target-groups/:id/scan',
  permission: 'run_scans',
  ofOrganisation: 'Target groups',
  kind: 'R',
  summary: 'Scan the targets of a group, each as POST /scans does; those that cannot be scanned now are listed',
  body: Type.Object(
    {
      profile: Type.Optional(OneOf(profiles)),
      profile_id: Type.Optional(Type.String({ maxLength: 20, description: 'a profile of the organisation, instead' })),
      browser: Type.Optional(Type.Boolean({ description: 'as of POST /scans' })),
    },
    closed,
  ),
  status: 202,
  answer: Type.Object({
    runs: Type.Array(RunView),
    skipped: Type.Array(Type.Object({ target_id: Type.String(), url: Type.String(), reason: Type.String() })),
  }),
  handle: async (call) => {
    const { sql, reach } = call;
    const group = await requireRow(sql, targetGroups, reach, call.params['id'] ?? '');
    const chosen = await chooseProfile(sql, call.body);
    const rows = await sql<TargetRow[]>`
      select vm_targets.* from vm_targets join vm_target_group_members m on m.target_id = vm_targets.id
      where m.group_id = ${group.id} and ${visibleByApplication('vm_targets')(sql, reach)}
      order by vm_targets.id limit ${targetsMax}`;
    if (rows.length === 0) throw new ApiError('conflict', 'The group has no targets: add some first.');
    const runs: ReturnType<typeof viewRun>[] = [];
    const skipped: { readonly target_id: string; readonly url: string; readonly reason: string }[] = [];
    for (const target of rows)
      try {
        runs.push(viewRun(await beginScan(call, target, chosen)));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        skipped.push({ target_id: String(target.id), url: target.url, reason: error.message });
      }
    const counts = `${runs.length} begun, ${skipped.length} left out`;
    await call.audited('vm.create', `had the targets of the group ${group.id} scanned: ${counts}`, async () => counts);
    return { runs, skipped };
  },
});
