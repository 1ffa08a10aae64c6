import { Type, type TSchema } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { ApplyReplySchema } from '../change/contract.js';
import { applyHead, type FlowParts } from '../change/flow.js';
import { ApiError, closed, refusals, requirePrincipal, type App } from '../http-kit/index.js';
import { notesHeader, readGiven, type Note } from './given.js';
import { applyMergePatch } from './merge-patch.js';
import { findNotEnforced } from './not-enforced.js';
import { changeProven, type ProvenSave, type ProvingParts } from './prove.js';
import { SettingsSchema, type Settings } from '#settings';
import { hideSecrets } from './secrets.js';
import { readHead } from './store.js';

export type SettingsParts = ProvingParts & FlowParts;

const readHeaders = {
  etag: { type: 'string', description: 'for If-Match of the next save' },
  'x-settings-version': { type: 'integer', description: 'number of the version' },
  'x-settings-not-enforced': {
    type: 'string',
    description:
      'absent, or names separated by ", ": settings that are on, or have a value of their own, and that nothing ' +
      'enforces yet (`x-enforced-by` is null in the schema). Nobody may take them for protection',
  },
};
const savedHeaders = {
  ...readHeaders,
  'x-settings-notes': {
    type: 'string',
    description:
      'absent, or JSON: a list of {path, note} with JSON pointers. What was read under an old name, which ids were ' +
      'given, what the checks of changed rules warn of, which of the settings sent nothing enforces yet',
  },
};

/** What an answer carries: the object alone; the rest are headers, so that PUT(GET) is the plain round trip. */
const view = (headers: object) =>
  Type.Unsafe<Settings>({
    type: 'object',
    additionalProperties: true,
    description: 'the settings object; its schema is at GET /api/settings/schema',
    headers,
  });
/** The whole check, with defaults and rules between fields, is the handler's: a second one here would drift from it. */
const Partial = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: 'the settings object; members left out keep their value',
});
const Patch = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: 'JSON merge patch (RFC 7396); null restores a default',
});

const readSchema = {
  tags: ['settings'],
  summary: 'The settings object; secrets show as eight asterisks',
  response: { 200: view(readHeaders), ...refusals },
};
const schemaSchema = {
  tags: ['settings'],
  summary: 'Types, defaults, ranges, units (x-unit) and who may change what (x-access)',
  response: { 200: Type.Unsafe<TSchema>({ type: 'object', additionalProperties: true }), ...refusals },
};
const putSchema = {
  tags: ['settings'],
  summary: 'Save the settings; activate with POST /api/apply. Changed rules have to compile and to pass their tests',
  body: Partial,
  response: { 200: view(savedHeaders), ...refusals },
};
const patchSchema = {
  tags: ['settings'],
  summary: 'Change some settings; changed rules have to compile and to pass their tests',
  consumes: ['application/merge-patch+json', 'application/json'],
  body: Patch,
  response: { 200: view(savedHeaders), ...refusals },
};
const applySchema = {
  tags: ['settings'],
  summary: 'Make the saved settings active on every data-plane node, or say what would change',
  querystring: Type.Object({ dry_run: Type.Optional(Type.Boolean({ default: false })) }, closed),
  response: { 200: ApplyReplySchema, ...refusals },
};

type Headers = { header(name: string, value: string): unknown };

export function shown(
  stored: { readonly id: number; readonly etag: string; readonly settings: Settings },
  reply: Headers,
): Settings {
  reply.header('etag', stored.etag);
  reply.header('x-settings-version', String(stored.id));
  const notEnforced = findNotEnforced(stored.settings);
  if (notEnforced.length > 0) reply.header('x-settings-not-enforced', notEnforced.join(', '));
  return hideSecrets(stored.settings);
}

/** The same after a save, with what there is to say about it. */
function shownSaved(saved: ProvenSave, sent: object, notes: readonly Note[], reply: Headers): Settings {
  const notEnforced = findNotEnforced(saved.stored.settings).filter((name) => name in sent);
  const header = notesHeader([
    ...notes,
    ...saved.warnings.map(({ path, reason }) => ({ path, note: reason })),
    ...notEnforced.map((name) => ({ path: `/${name}`, note: 'is stored, and nothing enforces it yet' })),
  ]);
  if (header !== null) reply.header('x-settings-notes', header);
  return shown(saved.stored, reply);
}

export function registerSettingsRoutes(app: App, parts: SettingsParts): void {
  const { sql } = parts.database;
  app.get('/api/settings', { schema: readSchema }, async (_, reply) => shown(await readHead(sql), reply));
  app.get('/api/settings/schema', { schema: schemaSchema }, async () => SettingsSchema);
  const save = async (
    request: FastifyRequest,
    reply: Headers,
    merge: (current: Settings, body: Record<string, unknown>) => unknown,
  ): Promise<Settings> => {
    const { settings } = await readHead(sql);
    const { body, notes } = await readGiven(sql, settings, request.body as Record<string, unknown>);
    const saved = await changeProven(parts, requirePrincipal(request), {
      action: 'settings.update',
      ifMatch: request.headers['if-match'],
      propose: (current) => merge(current, body),
    });
    return shownSaved(saved, body, notes, reply);
  };
  // a member that is left out keeps its value: a page that knows fewer fields than we do cannot wipe the others
  app.put('/api/settings', { schema: putSchema }, (request, reply) =>
    save(request, reply, (current, body) => ({ ...current, ...body })),
  );
  app.patch('/api/settings', { schema: patchSchema }, (request, reply) => save(request, reply, applyMergePatch));
  app.post('/api/apply', { schema: applySchema }, async (request) => {
    if (request.body !== undefined && request.body !== null && Object.keys(request.body).length > 0)
      throw new ApiError('validation_failed', 'Apply takes no body: it activates what was saved.');
    const isDryRun = request.query.dry_run ?? false;
    return applyHead(parts, requirePrincipal(request).actor, isDryRun, request.headers['if-match']);
  });
}
