// The nightly self-test: the attacks whose rules can be named one by one go through the data plane to the site of
// `self_test_site`, and what each met is held against the night before. What no longer protects is an event for other
// systems and an entry of the audit log, with the ids of rules and the names of stages.
import { systemActor, type Job } from '../http-kit/index.js';
import { noteEvent } from '../siem/store.js';
import { compareSeen, type Lost, type SeenAttack } from './report.js';
import { begin, findTarget, run, type SimulationParts } from './simulator.js';
import { beginSelfTest, endSelfTest, lastSelfTest, lastTried, type SelfTestRow } from './store.js';
import { waves, type WaveType } from './waves.js';

const secondsMax = 60;
const dayMs = 86_400_000;
/** A site that is named is tried soon, and one that could not be reached is not left alone until the next night. */
const lookMs = 5 * 60_000;
const againMs = 3_600_000;
const severityOfLoss = 8;

/** In one sentence: which rules and stages, and how many attacks pass that did not. */
export function sentenceOf(lost: readonly Lost[]): string {
  const rules = [...new Set(lost.flatMap((one) => one.rule_ids))].sort((left, right) => left - right);
  const stages = [...new Set(lost.flatMap((one) => one.stages))];
  const passing = lost.filter(({ passes }) => passes).length;
  const parts = [
    rules.length === 0 ? '' : `rules ${rules.slice(0, 20).join(', ')}${rules.length > 20 ? ' and others' : ''}`,
    stages.length === 0 ? '' : `stages ${stages.join(', ')}`,
  ].filter((part) => part !== '');
  return `No longer protect: ${parts.join('; ') || 'none by name'}. ${passing} attacks pass that were stopped before.`;
}

/** Runs it now; null: no site is named for it. */
export async function selfTest(parts: SimulationParts, signal: AbortSignal): Promise<readonly Lost[] | null> {
  const { self_test_site: site } = await parts.currentSettings();
  if (site === '') return null;
  const { sql } = parts.database;
  const target = await findTarget(parts, site);
  const before = await lastSelfTest(sql, site);
  const id = await beginSelfTest(sql, site, new Date(parts.now()));
  try {
    const seen: SeenAttack[] = [];
    for (const wave of waves.values())
      if (wave.isPerRequest) seen.push(...(await sendOne(parts, { type: wave.type, site }, target, id, signal)));
    const lost = compareSeen(before?.seen ?? [], seen);
    const now = new Date(parts.now());
    await sql.begin(async (tx) => {
      await endSelfTest(tx, id, { seen, lost, error: null }, now);
      if (lost.length === 0) return;
      const reason = sentenceOf(lost);
      const name = 'The self-test found protection that is gone';
      await noteEvent(tx, 'self-test', now, { name, site, severity: severityOfLoss, reason, details: { id, lost } });
      const details = { self_test: id, site, lost: lost.slice(0, 100) };
      await parts.audit.record(tx, { actor: systemActor, action: 'self_test.lost', summary: reason, details });
    });
    return lost;
  } catch (error) {
    const told = error instanceof Error ? error.message : String(error);
    await endSelfTest(sql, id, { seen: null, lost: null, error: told.slice(0, 500) }, new Date(parts.now()));
    throw error;
  }
}

async function sendOne(
  parts: SimulationParts,
  { type, site }: { readonly type: WaveType; readonly site: string },
  target: Awaited<ReturnType<typeof findTarget>>,
  id: number,
  signal: AbortSignal,
): Promise<readonly SeenAttack[]> {
  const wave = waves.get(type);
  const wanted = { type, site, requests: wave?.requests ?? 0, seconds: secondsMax, rate: wave?.rate ?? 1 };
  const row = await begin(parts, wanted, systemActor, id);
  const report = await run(parts, row, target, signal);
  const { sent = 0, failed = 0, unrecorded = 0 } = report ?? {};
  if (report === null || sent < wanted.requests || failed + unrecorded > 0)
    throw new Error(`the wave ${type} did not come through: ${sent} sent, ${failed} failed, ${unrecorded} unrecorded`);
  return report.attacks;
}

const dueAfter = ({ started_at: at, seen }: SelfTestRow): number => at.getTime() + (seen === null ? againMs : dayMs);

export function createSelfTestJob(parts: SimulationParts): Job {
  return {
    name: 'self-test',
    everyMs: lookMs,
    timeoutMs: 10 * 60_000,
    async run({ nowMs, signal }) {
      const { self_test_site: site } = await parts.currentSettings();
      const last = site === '' ? null : await lastTried(parts.database.sql, site);
      const dueMs = last === null ? nowMs : dueAfter(last);
      // a test in the future was before the clock was set back
      if (last !== null && nowMs < dueMs && nowMs >= last.started_at.getTime())
        return `${last.seen === null ? 'the last did not come through; ' : ''}due at ${new Date(dueMs).toISOString()}`;
      const lost = await selfTest(parts, signal);
      if (lost === null) return 'no site is named for it (self_test_site)';
      return lost.length === 0 ? 'everything protects as before' : sentenceOf(lost);
    },
  };
}
