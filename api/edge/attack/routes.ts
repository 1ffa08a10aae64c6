// Attack mode, as people see it: what the setting says, what every node makes of it, and what has changed when.
import { Type } from '@sinclair/typebox';
import { Nullable, refusals, Time, type App } from '../../http-kit/index.js';
import type { NodeAttack } from '../node-gates.js';
import type { EdgeParts } from '../routes.js';
import { sentenceOf } from './job.js';
import { listAttackChanges } from './store.js';

const changesMax = 100;

const schema = {
  tags: ['edge'],
  summary: 'Adaptive attack mode: the setting, the rate and the learned baseline of each node, and what changed when',
  response: {
    200: Type.Object({
      mode: Type.String({ description: 'attack_mode of the settings: off, auto or on' }),
      active: Type.Boolean({ description: 'whether the tight cap is in force on any node' }),
      spike_factor: Type.Number(),
      min_rpm: Type.Integer(),
      burst_events: Type.Integer(),
      burst_window: Type.String(),
      nodes: Type.Array(
        Type.Object({
          node: Type.String(),
          answers: Type.Boolean(),
          mode: Nullable(Type.String({ description: 'what the node serves by; another one until the next apply' })),
          active: Type.Boolean(),
          active_since: Nullable({
            ...Time,
            description: 'when the attack was seen; null: none, or the setting is on',
          }),
          requests_per_minute: Nullable(Type.Number({ description: 'of the last sixty seconds' })),
          baseline_rpm: Nullable(Type.Number()),
          threshold_rpm: Nullable(Type.Number({ description: 'beyond it, it is an attack; null: being learned' })),
          learned_minutes: Nullable(Type.Integer()),
        }),
      ),
      changes: Type.Array(
        Type.Object({
          at: Time,
          node: Type.String(),
          change: Type.String({ description: 'enter or leave' }),
          cause: Type.String({ description: 'rate: of requests; setting: attack_mode was changed' }),
          summary: Type.String(),
          rpm: Type.Number(),
          baseline_rpm: Type.Number(),
          threshold_rpm: Type.Number(),
        }),
      ),
    }),
    ...refusals,
  },
};

/** The last change that a node tells of, where that is the beginning of an attack. */
function sinceOf(attack: NodeAttack | null): string | null {
  const last = attack?.transitions.at(-1);
  return attack?.active === true && last?.kind === 'enter' ? new Date(last.atMs).toISOString() : null;
}

export function registerAttackRoute(app: App, { database: { sql }, nodeGates, currentSettings }: EdgeParts): void {
  app.get('/api/attack-mode', { schema }, async () => {
    const settings = await currentSettings();
    const figures = (await nodeGates?.figures()) ?? [];
    const nodes = figures.map(({ node, answer }) => ({
      node,
      answers: answer !== null,
      mode: answer?.attack?.mode ?? null,
      active: answer?.attack?.active ?? false,
      active_since: sinceOf(answer?.attack ?? null),
      requests_per_minute: answer?.attack?.rpm ?? null,
      baseline_rpm: answer?.attack?.baselineRpm ?? null,
      threshold_rpm: answer?.attack?.thresholdRpm ?? null,
      learned_minutes: answer?.attack?.learnedMinutes ?? null,
    }));
    const changes = await listAttackChanges(sql, changesMax);
    return {
      mode: settings.attack_mode,
      active: nodes.some(({ active }) => active),
      spike_factor: settings.attack_spike_factor,
      min_rpm: settings.attack_min_rpm,
      burst_events: settings.attack_burst_events,
      burst_window: settings.attack_burst_window,
      nodes,
      changes: changes.map((row) => ({
        at: row.at.toISOString(),
        node: row.node,
        change: row.change,
        cause: row.cause,
        summary: sentenceOf(row),
        rpm: row.rpm,
        baseline_rpm: row.baseline_rpm,
        threshold_rpm: row.threshold_rpm,
      })),
    };
  });
}
