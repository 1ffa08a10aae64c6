// The calibration of the detection engine over the API.
import { Type } from '@sinclair/typebox';
import { Nullable, refusals, Time, type App } from '../../http-kit/index.js';
import type { Parts } from '../../parts.js';
import { RungName } from '../views.js';
import { calibrate, evidenceMin } from './calibration.js';
import { readKnown, type SimulatedOf } from './cases.js';

const Count = Type.Integer({ minimum: 0 });
const Fraction = Nullable(Type.Number({ minimum: 0, maximum: 1 }));
const ShareView = Type.Object({
  hits: Count,
  of: Count,
  value: Fraction,
  low: Fraction,
  high: Fraction,
  enough: Type.Boolean(),
  note: Type.String({ description: 'says that there is not enough evidence; else empty' }),
});

const schema = {
  tags: ['detection engine'],
  summary: 'Precision and recall of each rung, from simulations and judged verdicts, with 95 % intervals (Wilson)',
  querystring: Type.Object({
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: 30, description: 'how far back' })),
  }),
  response: {
    200: Type.Object({
      since: Time,
      enabled: Type.Boolean({ description: 'whether the engine scores at all (ai_enabled)' }),
      note: Nullable(Type.String({ description: 'why no verdicts will come, and how to fix it; null: they will' })),
      evidence: Type.Object(
        {
          simulations: Count,
          simulated_clients: Count,
          marked_attack: Count,
          marked_false_positive: Count,
          needed: Count,
        },
        { description: 'what is known; below `needed` cases a share has no value' },
      ),
      rungs: Type.Array(
        Type.Object({
          rung: RungName,
          precision: ShareView,
          recall: ShareView,
        }),
        { description: 'each with the verdict or a stronger one' },
      ),
      waves: Type.Array(
        Type.Object({
          wave: Type.String(),
          clients: Count,
          reached: Type.Record(Type.String(), Count, { description: 'clients with this verdict or a stronger one' }),
        }),
      ),
      reliability: Type.Array(Type.Object({ from: Count, to: Count, attacks: ShareView }), {
        description: 'bands of risk: which share of known clients were attackers',
      }),
    }),
    ...refusals,
  },
};

const dayMs = 86_400_000;

/** Said as long as the engine is off: waves that are sent meanwhile get no verdicts, so they are no evidence. */
const offNote =
  'The detection engine is off, so no client gets a verdict and no wave that is sent now will count here. ' +
  'Set ai_enabled to true and apply, then send waves.';

export function registerCalibration(
  app: App,
  { database, now, currentSettings }: Pick<Parts, 'database' | 'now' | 'currentSettings'>,
  simulatedOf: SimulatedOf,
) {
  app.get('/api/ai/calibration', { schema }, async ({ query }) => {
    const since = new Date(now() - (query.days ?? 30) * dayMs);
    const { cases, simulations, marked } = await readKnown(database.sql, simulatedOf, since);
    const { rungs, waves, reliability } = calibrate(cases);
    const { ai_enabled: enabled } = await currentSettings();
    return {
      since: since.toISOString(),
      enabled,
      note: enabled ? null : offNote,
      evidence: {
        simulations,
        simulated_clients: cases.filter(({ wave }) => wave !== null).length,
        marked_attack: marked.attack,
        marked_false_positive: marked.false_positive,
        needed: evidenceMin,
      },
      rungs: [...rungs],
      waves: [...waves],
      reliability: [...reliability],
    };
  });
}
