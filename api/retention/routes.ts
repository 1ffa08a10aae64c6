import { Type } from '@sinclair/typebox';
import { Nullable, refusals, requirePrincipal, Time, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { believe, readClock } from './clock.js';

export type RetentionRouteParts = Pick<Parts, 'database' | 'audit' | 'now'>;

const ClockView = Type.Object({
  believed_at: Nullable(Time),
  refused_since: Nullable(Time),
});
const readSchema = {
  tags: ['operations'],
  summary: 'Whether pruning is refused because the clock has jumped ahead',
  response: { 200: ClockView, ...refusals },
};
const confirmSchema = {
  tags: ['operations'],
  summary: 'Says that the clock is right: the next run prunes by it',
  response: { 200: ClockView, ...refusals },
};

export function registerRetentionRoutes(app: App, { database: { sql }, audit, now }: RetentionRouteParts): void {
  const view = async () => {
    const { believedAt, refusedAt } = await readClock(sql);
    return { believed_at: believedAt?.toISOString() ?? null, refused_since: refusedAt?.toISOString() ?? null };
  };
  app.get('/api/retention', { schema: readSchema }, view);
  app.post('/api/retention/confirm', { schema: confirmSchema }, async (request) => {
    const { actor } = requirePrincipal(request);
    await sql.begin(async (tx) => {
      const at = new Date(now());
      await believe(tx, at);
      const summary = `said that the clock is right: ${at.toISOString()}`;
      await audit.record(tx, { actor, action: 'retention.confirm', summary });
    });
    return view();
  });
}
