import { Type } from '@sinclair/typebox';
import { ApplyReplySchema, type ApplyReply } from '../change/contract.js';
import { applyHead, refuseDuringRollout } from '../change/flow.js';
import {
  ApiError,
  closed,
  decodeCursor,
  Nullable,
  Page,
  PageQuery,
  refusals,
  requirePrincipal,
  Time,
  toPage,
  type Actor,
  type App,
} from '../http-kit/index.js';
import { changeSettings } from './change.js';
import type { Change } from './diff.js';
import type { SettingsParts } from './routes.js';
import type { Settings } from '#settings';
import { hideSecrets } from './secrets.js';
import { readState, type SettingsState } from './state.js';
import { diffForReaders, listVersions, requireVersion, versionsKept, type SettingsVersion } from './store.js';

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

const listSchema = {
  tags: ['settings'],
  summary: `Saved versions, newest first; ${versionsKept} are kept`,
  querystring: Type.Object(PageQuery, closed),
  response: { 200: Page(VersionView), ...refusals },
};
const readSchema = {
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
};
const diffSchema = {
  tags: ['settings'],
  summary: 'What differs between two versions',
  querystring: Type.Object({ from: VersionId, to: VersionId }, closed),
  response: {
    200: Type.Object({ from: Type.Integer(), to: Type.Integer(), changes: Type.Array(ChangeView) }),
    ...refusals,
  },
};
const rollbackSchema = {
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
};

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

export function registerVersionRoutes(app: App, parts: SettingsParts): void {
  const { sql } = parts.database;
  app.get('/api/config/versions', { schema: listSchema }, async (request) => {
    const { cursor, limit = 50 } = request.query;
    const before = cursor === undefined ? null : decodeCursor(cursor, ['number'] as const)[0];
    const state = await readState(sql);
    return toPage(
      await listVersions(sql, limit + 1, before),
      limit,
      (version) => [version.id],
      (version) => viewVersion(version, state),
    );
  });
  app.get('/api/config/versions/:id', { schema: readSchema }, async (request) => {
    const version = await requireVersion(sql, request.params.id);
    return { version: viewVersion(version, await readState(sql)), settings: hideSecrets(version.settings) };
  });
  app.get('/api/config/diff', { schema: diffSchema }, async (request) => {
    const [from, to] = [await requireVersion(sql, request.query.from), await requireVersion(sql, request.query.to)];
    return { from: from.id, to: to.id, changes: diffForReaders(from.settings, to.settings) };
  });
  registerRollback(app, parts);
}

function registerRollback(app: App, parts: SettingsParts): void {
  app.post('/api/config/rollback', { schema: rollbackSchema }, async (request, reply) => {
    const principal = requirePrincipal(request);
    const { version, apply = true } = request.body;
    const wanted = await requireVersion(parts.database.sql, version);
    if (apply && parts.applySettings === null)
      throw new ApiError(
        'not_ready',
        'No data plane is connected to this server. Restore without activating with "apply": false.',
      );
    // before anything is saved: refused means that nothing has changed
    if (apply) await refuseDuringRollout(parts.database.sql);
    const saved = await changeSettings(parts, principal, {
      action: 'config.rollback',
      ifMatch: request.headers['if-match'],
      propose: (current) => current,
      restore: {
        settings: wanted.settings,
        summary: `rollback to version ${wanted.id} (${wanted.summary})`.slice(0, 500),
      },
    });
    reply.header('etag', saved.stored.etag);
    const applied = apply ? await applyRestored(parts, principal.actor, saved.stored.id) : null;
    return { version: saved.stored.id, restored: wanted.id, changed: saved.changed, apply: applied };
  });
}

/** As `applyHead`; what it refuses says that the restored settings are saved all the same. */
async function applyRestored(parts: SettingsParts, actor: Actor, version: number): Promise<ApplyReply> {
  return applyHead(parts, actor, false).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    const saved = `The restored settings are saved as version ${version} and not in force; what served before serves.`;
    throw new ApiError(error.code, `${error.message} ${saved}`, error.extras);
  });
}
