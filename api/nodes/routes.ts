import { Type } from '@sinclair/typebox';
import { standingOf } from '../change/node-target.js';
import { Nullable, refusals, Time, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { readState } from '../settings/state.js';
import { listNodes } from './node-store.js';

export type NodeParts = Pick<Parts, 'database' | 'expectedOf'>;

const NodeView = Type.Object({
  url: Type.String(),
  state: Type.Unsafe<'active' | 'behind' | 'unreachable'>({
    type: 'string',
    enum: ['active', 'behind', 'unreachable'],
    description:
      'active: serves the active settings as they are meant in the environment of today; ' +
      'behind: the next reconciliation brings it there',
  }),
  generation: Nullable(Type.Integer({ description: 'the node’s own number of what it serves' })),
  ruleset: Type.String({ description: 'SHA-256 of the artifact it serves' }),
  workers: Type.Integer(),
  version: Nullable(Type.Integer({ description: 'settings version last put there' })),
  last_seen_at: Nullable(Time),
  last_asked_at: Time,
  detail: Type.String(),
});

const listSchema = {
  tags: ['data plane'],
  summary: 'Data-plane nodes: what each serves and when it was last seen',
  response: {
    200: Type.Object({
      items: Type.Array(NodeView),
      active_version: Nullable(Type.Integer()),
      generation: Type.Integer(),
    }),
    ...refusals,
  },
};

export function registerNodeRoutes(app: App, { database: { sql }, expectedOf }: NodeParts): void {
  app.get('/api/nodes', { schema: listSchema }, async () => {
    const state = await readState(sql);
    const expected = state.activeId === null ? null : await expectedOf(state.activeId);
    const items = (await listNodes(sql)).map((node) => {
      const standing = node.reachable
        ? standingOf(node, node, expected)
        : { state: 'unreachable' as const, detail: node.detail };
      return {
        url: node.url,
        ...standing,
        generation: node.generation,
        ruleset: node.ruleset,
        workers: node.workers,
        version: node.served_version,
        last_seen_at: node.last_seen_at?.toISOString() ?? null,
        last_asked_at: node.last_asked_at.toISOString(),
      };
    });
    return { items, active_version: state.activeId, generation: state.generation };
  });
}
