// Every fifteen seconds, on the leader: what principals did since is taken up and judged; new findings become rows,
// events for other systems and, where the settings say so, bans.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Settings } from '#settings';
import type { Job } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { noteEvent } from '../siem/store.js';
import { blockOffender } from './block.js';
import { threatKinds, type Finding, type JudgeOptions } from './engine/finding.js';
import { objectsMax } from './engine/memory.js';
import { evaluationOf, type Evaluation } from './evaluation.js';
import { boundThreats, saveFinding, type ThreatRow } from './store.js';

export type ThreatParts = Pick<
  Parts,
  'database' | 'now' | 'nodeToken' | 'audit' | 'currentSettings' | 'measuresChanged'
>;

/** Answers come by way of several workers and nodes; what is younger may still be explained by one. */
export const settleMs = 15_000;

export function createThreatJob(parts: ThreatParts): Job {
  return {
    name: 'api-threats',
    everyMs: 15_000,
    timeoutMs: 120_000,
    async run({ nowMs, signal }) {
      const evaluation = await evaluationOf(parts);
      const windows = await evaluation.takeUp(nowMs, signal);
      const settings = await parts.currentSettings();
      const { api_bola_threshold: threshold, api_bola_window_sec: seconds, api_abuse_memory_hours: hours } = settings;
      const findings = await judgeSlowly(evaluation, {
        ...{ nowMs, threshold, windowMs: seconds * 1000, settleMs, memoryMs: hours * 3_600_000 },
      });
      await evaluation.keepGranted();
      let banned = 0;
      let fresh = 0;
      for (const finding of findings) {
        const kept = await keep(parts, evaluation, settings, finding, new Date(nowMs));
        if (kept.isNew) fresh += 1;
        if (kept.isBanned) banned += 1;
      }
      if (banned > 0) await parts.measuresChanged();
      await boundThreats(parts.database.sql, objectsMax);
      return `${windows} windows, ${fresh} new findings, ${findings.length - fresh} known ones, ${banned} bans`;
    },
  };
}

/** In parts, so that the API answers meanwhile. */
async function judgeSlowly({ engine }: Evaluation, options: JudgeOptions): Promise<Finding[]> {
  const steps = engine.judgeInSteps(options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

async function keep(
  { database, audit }: ThreatParts,
  { engine }: Evaluation,
  settings: Settings,
  finding: Finding,
  now: Date,
): Promise<{ readonly isNew: boolean; readonly isBanned: boolean }> {
  const othersAt = (address: string, principal: string): number => {
    const names = engine.memory.addresses.get(address);
    return names === undefined ? 0 : names.size - (names.has(principal) ? 1 : 0);
  };
  return database.sql.begin(async (tx) => {
    const { row, isNew, hasNews } = await saveFinding(tx, finding, threatKinds[finding.kind].owasp, now);
    // what was judged before, and whose ban somebody may have lifted, is no reason for another one
    const block = hasNews ? await blockOffender(tx, { audit, othersAt }, settings, row, finding, now) : null;
    if (isNew) await noteEvent(tx, 'api-threat', now, eventOf(row, finding, block?.until ?? null));
    return { isNew, isBanned: block !== null && block.until !== null };
  });
}

const eventOf = (row: ThreatRow, { clientIps, evidence }: Finding, until: Date | null) => ({
  site: row.site,
  kind: row.kind,
  severity: row.severity,
  reason: row.reason,
  client_ip: clientIps[0] ?? null,
  blocked_until: until?.toISOString() ?? null,
  details: {
    ...{ id: row.id, owasp: row.owasp, method: row.method, template: row.template, principal: row.principal },
    ...{ credential: row.credential, confidence: row.confidence, count: row.count, evidence: evidence.slice(0, 5) },
  },
});
