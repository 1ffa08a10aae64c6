// Profiles for kinds of applications: what there is, what one would change, and taking it over as a version of the
// settings like any other.
import { findProfile, profiles, type Profile, type Settings } from '#settings';
import { Type } from '@sinclair/typebox';
import { ApiError, closed, refusals, requirePrincipal, type App } from '../http-kit/index.js';
import type { Change } from './diff.js';
import { applyMergePatch } from './merge-patch.js';
import { changeProven, type ProvingParts } from './prove.js';
import { diffForReaders, readHead } from './store.js';

const ChangeView = Type.Object({
  path: Type.String({ description: 'JSON pointer into the settings' }),
  kind: Type.Unsafe<Change['kind']>({ type: 'string', enum: ['added', 'removed', 'changed'] }),
  from: Type.Optional(Type.Unknown()),
  to: Type.Optional(Type.Unknown()),
});
const anyObject = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true });
const ProfileView = Type.Object({
  name: Type.String(),
  title: Type.String(),
  summary: Type.String(),
  settings: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description: 'a merge patch (RFC 7396) of ordinary settings',
  }),
  why: Type.Unsafe<Record<string, string>>({ ...anyObject, description: 'the reason, by setting' }),
  changes: Type.Array(ChangeView, { description: 'what it would change now; empty: it is in the settings already' }),
});

const listSchema = {
  tags: ['settings'],
  summary: 'Profiles for kinds of applications, with what each would change now',
  response: { 200: Type.Object({ items: Type.Array(ProfileView) }), ...refusals },
};
const applySchema = {
  tags: ['settings'],
  summary: 'Take the settings of a profile over as a new version; active after POST /api/apply',
  params: Type.Object({ name: Type.String({ maxLength: 64 }) }),
  querystring: Type.Object(
    { dry_run: Type.Optional(Type.Boolean({ default: false, description: 'say what would change, save nothing' })) },
    closed,
  ),
  response: {
    200: Type.Object({
      profile: Type.String(),
      saved: Type.Boolean({ description: 'false: a dry run, or nothing had to change' }),
      version: Type.Integer(),
      changes: Type.Array(ChangeView),
    }),
    ...refusals,
  },
};

const merged = (profile: Profile, current: Settings): Settings =>
  applyMergePatch(current, profile.settings) as Settings;

export function registerProfileRoutes(app: App, parts: ProvingParts): void {
  const { sql } = parts.database;
  app.get('/api/settings/profiles', { schema: listSchema }, async (_, reply) => {
    const { settings, etag } = await readHead(sql);
    reply.header('etag', etag);
    const items = profiles.map((profile) => ({
      ...profile,
      why: { ...profile.why } as Record<string, string>,
      changes: diffForReaders(settings, merged(profile, settings)),
    }));
    return { items };
  });
  app.post('/api/settings/profiles/:name', { schema: applySchema }, async (request, reply) => {
    const profile = findProfile(request.params.name);
    if (profile === null)
      throw new ApiError(
        'not_found',
        `There is no profile ${request.params.name}; there are ${profiles.map(({ name }) => name).join(', ')}.`,
      );
    const head = await readHead(sql);
    if (request.query.dry_run === true) {
      reply.header('etag', head.etag);
      const changes = diffForReaders(head.settings, merged(profile, head.settings));
      return { profile: profile.name, saved: false, version: head.id, changes };
    }
    let before = head.settings;
    const saved = await changeProven(parts, requirePrincipal(request), {
      action: 'settings.update',
      ifMatch: request.headers['if-match'],
      propose: (shown) => {
        before = shown;
        return merged(profile, shown);
      },
    });
    reply.header('etag', saved.stored.etag);
    const changes = diffForReaders(before, saved.stored.settings);
    return { profile: profile.name, saved: saved.changed, version: saved.stored.id, changes };
  });
}
