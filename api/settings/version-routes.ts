import { Type } from '@sinclair/typebox';
import { ApplyReplySchema } from '../change/contract.js';
import { applyHead } from '../change/flow.js';
import type { App, House } from '../parts.js';
import { ApiError } from '../http-kit/problem.js';
import { requirePrincipal } from '../auth/guard.js';
import { decodeCursor, Page, PageQuery, toPage } from '../http-kit/page.js';
import { closed, Nullable, refusals, Time } from '../http-kit/schema.js';
import { changeSettings } from './change.js';
import type { Change } from './diff.js';
import type { Settings } from './schema.js';
import { hideSecrets } from './secrets.js';
import {
  diffForReaders,
  listVersions,
  readState,
  requireVersion,
  versionsKept,
  type SettingsState,
  type SettingsVersion,
} from './store.js';

const ChangeView = Type.Object({
  path: Type.String(),
  kind: Type.Unsafe<Change['kind']>({ type: 'string', enum: ['added', 'removed', 'changed'] }),
  from: Type.Optional(Type.Unknown()),
  to: Type.Optional(Type.Unknown()),
});
const VersionView = Type.Object({
  id: Type.Integer(),
  at: Time,
  author: Type.String(),
  summary: Type.String(),
  changes: Type.Array(ChangeView),
  sha256: Type.String(),
  active: Type.Boolean({ description: 'serves traffic now' }),
  head: Type.Boolean({ description: 'what GET /api/settings shows' }),
  generation: Nullable(Type.Integer()),
  artifact_sha256: Nullable(Type.String()),
});
const VersionId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

function viewVersion(version: SettingsVersion, state: SettingsState) {
  const { id, author, summary, sha256, generation } = version;
  return {
    id,
    author,
    summary,
    sha256,
    generation,
    at: version.at.toISOString(),
    changes: [...version.changes],
    active: id === state.activeId,
    head: id === state.headId,
    artifact_sha256: version.artifactSha256,
  };
}

export function registerVersionRoutes(app: App, house: House): void {
  const { sql } = house.database;
  app.get(
    '/api/config/versions',
    {
      schema: {
        tags: ['settings'],
        summary: `Saved versions, newest first; ${versionsKept} are kept`,
        querystring: Type.Object(PageQuery, closed),
        response: { 200: Page(VersionView), ...refusals },
      },
    },
    async (request) => {
      const limit = request.query.limit ?? 50;
      const before =
        request.query.cursor === undefined ? null : decodeCursor(request.query.cursor, ['number'] as const)[0];
      const state = await readState(sql);
      return toPage(
        await listVersions(sql, limit + 1, before),
        limit,
        (version) => [version.id],
        (version) => viewVersion(version, state),
      );
    },
  );
  app.get(
    '/api/config/versions/:id',
    {
      schema: {
        tags: ['settings'],
        summary: 'One version with its settings',
        params: Type.Object({ id: VersionId }),
        response: {
          200: Type.Object({
            version: VersionView,
            settings: Type.Unsafe<Settings>({ type: 'object', additionalProperties: true }),
          }),
          ...refusals,
        },
      },
    },
    async (request) => {
      const version = await requireVersion(sql, request.params.id);
      return { version: viewVersion(version, await readState(sql)), settings: hideSecrets(version.settings) };
    },
  );
  app.get(
    '/api/config/diff',
    {
      schema: {
        tags: ['settings'],
        summary: 'What differs between two versions',
        querystring: Type.Object({ from: VersionId, to: VersionId }, closed),
        response: {
          200: Type.Object({ from: Type.Integer(), to: Type.Integer(), changes: Type.Array(ChangeView) }),
          ...refusals,
        },
      },
    },
    async (request) => {
      const [from, to] = [await requireVersion(sql, request.query.from), await requireVersion(sql, request.query.to)];
      return { from: from.id, to: to.id, changes: diffForReaders(from.settings, to.settings) };
    },
  );
  app.post(
    '/api/config/rollback',
    {
      schema: {
        tags: ['settings'],
        summary: 'Restore a version and make it active',
        body: Type.Object(
          {
            version: VersionId,
            apply: Type.Optional(Type.Boolean({ default: true, description: 'false: restore without activating' })),
          },
          closed,
        ),
        response: {
          200: Type.Object({
            version: Type.Integer(),
            restored: Type.Integer(),
            changed: Type.Boolean(),
            apply: Nullable(ApplyReplySchema),
          }),
          ...refusals,
        },
      },
    },
    async (request, reply) => {
      const principal = requirePrincipal(request);
      const wanted = await requireVersion(sql, request.body.version);
      if ((request.body.apply ?? true) && house.applySettings === null)
        throw new ApiError(
          'not_ready',
          'No data plane is connected to this server. Restore without activating with "apply": false.',
        );
      const saved = await changeSettings(house, principal, {
        action: 'config.rollback',
        ifMatch: request.headers['if-match'],
        propose: (current) => current,
        restore: {
          settings: wanted.settings,
          summary: `rollback to version ${wanted.id} (${wanted.summary})`.slice(0, 500),
        },
      });
      reply.header('etag', saved.stored.etag);
      const applied = (request.body.apply ?? true) ? await applyHead(house, principal.actor, false) : null;
      return { version: saved.stored.id, restored: wanted.id, changed: saved.changed, apply: applied };
    },
  );
}
