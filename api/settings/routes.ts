import { Type, type TSchema } from '@sinclair/typebox';
import { ApplyReplySchema } from '../change/contract.js';
import { applyHead, type FlowParts } from '../change/flow.js';
import { ApiError, closed, refusals, requirePrincipal, type App } from '../http-kit/index.js';
import { changeSettings, type SettingsWriter } from './change.js';
import { applyMergePatch } from './merge-patch.js';
import { SettingsSchema, type Settings } from '#settings';
import { hideSecrets } from './secrets.js';
import { readHead } from './store.js';

export type SettingsParts = SettingsWriter & FlowParts;

/** What an answer carries: the object alone; version and ETag are headers, so that PUT(GET) is the plain round trip. */
const SettingsView = Type.Unsafe<Settings>({
  type: 'object',
  additionalProperties: true,
  description: 'the settings object; its schema is at GET /api/settings/schema',
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
  response: { 200: SettingsView, ...refusals },
};
const schemaSchema = {
  tags: ['settings'],
  summary: 'Types, defaults, ranges, units (x-unit) and who may change what (x-access)',
  response: { 200: Type.Unsafe<TSchema>({ type: 'object', additionalProperties: true }), ...refusals },
};
const putSchema = {
  tags: ['settings'],
  summary: 'Save the settings; activate with POST /api/apply',
  body: Partial,
  response: { 200: SettingsView, ...refusals },
};
const patchSchema = {
  tags: ['settings'],
  summary: 'Change some settings',
  consumes: ['application/merge-patch+json', 'application/json'],
  body: Patch,
  response: { 200: SettingsView, ...refusals },
};
const applySchema = {
  tags: ['settings'],
  summary: 'Make the saved settings active on every data-plane node, or say what would change',
  querystring: Type.Object({ dry_run: Type.Optional(Type.Boolean({ default: false })) }, closed),
  response: { 200: ApplyReplySchema, ...refusals },
};

function shown(
  stored: { readonly id: number; readonly etag: string; readonly settings: Settings },
  reply: { header(name: string, value: string): unknown },
): Settings {
  reply.header('etag', stored.etag);
  reply.header('x-settings-version', String(stored.id));
  return hideSecrets(stored.settings);
}

export function registerSettingsRoutes(app: App, parts: SettingsParts): void {
  const { sql } = parts.database;
  app.get('/api/settings', { schema: readSchema }, async (_, reply) => shown(await readHead(sql), reply));
  app.get('/api/settings/schema', { schema: schemaSchema }, async () => SettingsSchema);
  app.put('/api/settings', { schema: putSchema }, async (request, reply) => {
    const saved = await changeSettings(parts, requirePrincipal(request), {
      action: 'settings.update',
      ifMatch: request.headers['if-match'],
      // a member that is left out keeps its value: a page that knows fewer fields than we do cannot wipe the others
      propose: (current) => ({ ...current, ...request.body }),
    });
    return shown(saved.stored, reply);
  });
  app.patch('/api/settings', { schema: patchSchema }, async (request, reply) => {
    const saved = await changeSettings(parts, requirePrincipal(request), {
      action: 'settings.update',
      ifMatch: request.headers['if-match'],
      propose: (current) => applyMergePatch(current, request.body),
    });
    return shown(saved.stored, reply);
  });
  app.post('/api/apply', { schema: applySchema }, async (request) => {
    if (request.body !== undefined && request.body !== null && Object.keys(request.body).length > 0)
      throw new ApiError('validation_failed', 'Apply takes no body: it activates what was saved.');
    const isDryRun = request.query.dry_run ?? false;
    return applyHead(parts, requirePrincipal(request).actor, isDryRun, request.headers['if-match']);
  });
}
