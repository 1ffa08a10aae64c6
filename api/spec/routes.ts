// Specifications over HTTP: upload, list, read, compare, delete.
import { Type, type Static } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { ApiError, closed, Nullable, OneOf, refusals, requirePrincipal, Time, type App } from '../http-kit/index.js';
import { changeSettings } from '../settings/change.js';
import { lockSettings, readHead } from '../settings/store.js';
import type { Settings } from '#settings';
import { specBytesMax } from './document/read.js';
import { changesBetween, headOfSent, operationsOfStored } from './reading/read-there.js';
import { listFor, requireSite, requireStored, sentDocument, tags, type SpecParts } from './requests.js';
import {
  findSpecification,
  keyText,
  listSpecifications,
  namedBySettings,
  pruneSpecifications,
  removeSpecification,
  storeSpecification,
  type SpecRow,
} from './store.js';

export const ProblemView = Type.Object({
  severity: OneOf(['error', 'warning']),
  path: Type.String(),
  line: Type.Integer(),
  reason: Type.String(),
  fix: Type.String(),
});

const SpecView = Type.Object({
  id: Type.Integer(),
  site: Type.String(),
  name: Type.String(),
  version: Type.Integer(),
  at: Time,
  author: Type.String(),
  title: Type.String(),
  declared_version: Type.String({ description: '`info.version` of the document' }),
  openapi: Type.String(),
  format: OneOf(['json', 'yaml']),
  operations: Type.Integer(),
  sha256: Type.String(),
  in_settings: Type.Boolean({ description: 'the saved settings put this version in force with the next apply' }),
});

const ChangeView = Type.Object({
  kind: OneOf(['breaking', 'compatible']),
  code: Type.String(),
  operation: Type.String(),
  pointer: Type.String(),
  message: Type.String(),
});

const UploadQuery = Type.Object(
  {
    site: Type.Optional(
      Type.String({ maxLength: 100, description: 'name of the site; may be left out where there is only one' }),
    ),
    name: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
        description: 'a site may have several specifications, each with a name; `default` where nothing is said',
      }),
    ),
    activate: Type.Optional(
      Type.Boolean({ default: true, description: 'false: it is stored, and the settings stay as they are' }),
    ),
    base_path: Type.Optional(
      Type.String({ pattern: '^(/[^?#{}\\s]*)?$', maxLength: 1024, description: 'instead of the paths of `servers`' }),
    ),
  },
  closed,
);

const view = (row: SpecRow, named: ReadonlySet<string>): Static<typeof SpecView> => ({
  ...row,
  at: row.at.toISOString(),
  in_settings: named.has(keyText(row)),
});

const namedBy = (settings: Settings): Set<string> => new Set(settings.api_specs.map(keyText));

const uploadSchema = {
  tags,
  summary: 'Upload an OpenAPI 3.0, 3.1 or Swagger 2.0 document, JSON or YAML; in force after POST /api/apply',
  consumes: ['application/json', 'application/yaml', 'text/plain'],
  querystring: UploadQuery,
  body: Type.Unsafe<string>({
    description: 'the document itself; or JSON {"spec": text or object, "site": "…", "name": "…"}',
  }),
  response: {
    200: Type.Object({
      specification: SpecView,
      created: Type.Boolean({ description: 'false: the newest version has the same text' }),
      settings_version: Type.Integer(),
      changed: Type.Boolean({ description: 'whether the settings were changed' }),
      changes: Type.Array(ChangeView, { description: 'against the version before' }),
      problems: Type.Array(ProblemView),
    }),
    ...refusals,
  },
};

export function registerSpecRoutes(app: App, parts: SpecParts): void {
  registerUpload(app, parts);
  registerReading(app, parts);
  registerComparison(app, parts);
  registerRemoval(app, parts);
}

function registerUpload(app: App, parts: SpecParts): void {
  const { sql } = parts.database;
  const options = { bodyLimit: specBytesMax, config: { takesText: true }, schema: uploadSchema } as const;
  app.post('/api/spec', options, async (request, reply) => {
    const principal = requirePrincipal(request);
    const sent = sentDocument(request.body);
    const { head: sentHead, problems } = await headOfSent(sent.text);
    const { activate = true, base_path: basePath } = request.query;
    const head = await readHead(sql);
    const site = requireSite(head.settings, request.query.site ?? sent.site);
    const name = request.query.name ?? sent.name ?? 'default';
    const stored = await sql.begin(async (tx) => {
      await lockSettings(tx);
      const [before] = await listSpecifications(tx, site, name);
      const author = principal.actor.name;
      const at = new Date(parts.now());
      const result = await storeSpecification(tx, { site, name, author, at, text: sent.text, head: sentHead });
      const { row } = result;
      if (result.created) {
        const what = `version ${row.version} of the specification ${name} of ${site}`;
        const summary = `uploaded ${what}: ${row.operations} operations`;
        await parts.audit.record(tx, { actor: principal.actor, action: 'spec.upload', summary });
        await pruneSpecifications(tx, site, name);
      }
      return { ...result, before: before?.id === row.id ? undefined : before };
    });
    const settings = activate ? await activateVersion(parts, request, stored.row, basePath) : null;
    const after = settings?.stored ?? head;
    const before = stored.before === undefined ? null : await findSpecification(sql, stored.before.id);
    reply.header('etag', after.etag);
    return {
      specification: view(stored.row, namedBy(after.settings)),
      created: stored.created,
      settings_version: after.id,
      changed: settings?.changed ?? false,
      changes: before === null ? [] : await changesBetween(before.body, sent.text),
      problems: [...problems],
    };
  });
}

function activateVersion(
  parts: SpecParts,
  request: FastifyRequest,
  { site, name, version }: SpecRow,
  basePath: string | undefined,
) {
  return changeSettings(parts, requirePrincipal(request), {
    action: 'spec.activate',
    ifMatch: request.headers['if-match'],
    propose: (shown) => {
      const known = shown.api_specs.find((one) => one.site === site && one.name === name);
      const entry = {
        ...(known ?? { site, name }),
        version,
        ...(basePath === undefined ? {} : { base_path: basePath }),
      };
      const others = shown.api_specs.filter((one) => one !== known);
      return {
        ...shown,
        api_specs:
          known === undefined ? [...others, entry] : shown.api_specs.map((one) => (one === known ? entry : one)),
      };
    },
  });
}

const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const IdParams = Type.Object({ id: Id });

function registerReading(app: App, { database: { sql } }: SpecParts): void {
  const listSchema = {
    tags,
    summary: 'Stored specifications, every version, the newest of a name first',
    querystring: Type.Object(
      { site: Type.Optional(Type.String({ maxLength: 100 })), name: Type.Optional(Type.String({ maxLength: 64 })) },
      closed,
    ),
    response: { 200: Type.Object({ items: Type.Array(SpecView) }), ...refusals },
  };
  app.get('/api/spec', { schema: listSchema }, async (request) => {
    const named = namedBy((await readHead(sql)).settings);
    const rows = await listFor(sql, requirePrincipal(request), request.query);
    return { items: rows.map((row) => view(row, named)) };
  });
  const OperationView = Type.Object({
    method: Type.String(),
    path: Type.String(),
    base_paths: Type.Array(Type.String()),
    operation_id: Nullable(Type.String()),
    summary: Type.String(),
    deprecated: Type.Boolean(),
    security: Nullable(Type.Array(Type.Array(Type.String()))),
  });
  const readSchema = {
    tags,
    summary: 'One stored version: its text as it was sent, and its operations',
    params: IdParams,
    response: {
      200: Type.Object({ specification: SpecView, text: Type.String(), operations: Type.Array(OperationView) }),
      ...refusals,
    },
  };
  app.get('/api/spec/:id', { schema: readSchema }, async (request) => {
    const { body, ...row } = await requireStored(sql, request, request.params.id);
    const operations = await operationsOfStored(body);
    return { specification: view(row, namedBy((await readHead(sql)).settings)), text: body, operations };
  });
}

function registerComparison(app: App, { database: { sql } }: SpecParts): void {
  const schema = {
    tags,
    summary: 'What changed between two stored versions, for clients of the older one; breaking changes first',
    querystring: Type.Object({ from: Id, to: Id }, closed),
    response: {
      200: Type.Object({
        from: SpecView,
        to: SpecView,
        breaking: Type.Integer(),
        compatible: Type.Integer(),
        changes: Type.Array(ChangeView),
      }),
      ...refusals,
    },
  };
  app.get('/api/spec/compare', { schema }, async (request) => {
    const [{ body: _old, ...from }, { body: _new, ...to }] = await Promise.all([
      requireStored(sql, request, request.query.from),
      requireStored(sql, request, request.query.to),
    ]);
    const changes = await changesBetween(_old, _new);
    const named = namedBy((await readHead(sql)).settings);
    const breaking = changes.filter(({ kind }) => kind === 'breaking').length;
    return {
      from: view(from, named),
      to: view(to, named),
      breaking,
      compatible: changes.length - breaking,
      changes,
    };
  });
}

function registerRemoval(app: App, parts: SpecParts): void {
  const { sql } = parts.database;
  const schema = {
    tags,
    summary: 'Delete a stored version that no kept version of the settings names',
    params: IdParams,
    response: { 204: Type.Null(), ...refusals },
  };
  app.delete('/api/spec/:id', { schema }, async (request, reply) => {
    const { actor } = requirePrincipal(request);
    await sql.begin(async (tx) => {
      await lockSettings(tx);
      const row = await requireStored(tx, request, request.params.id);
      const { site, name, version } = row;
      if ((await namedBySettings(tx)).has(keyText(row)))
        throw new ApiError(
          'conflict',
          `Version ${version} of ${name} of ${site} is named by versions of the settings that are kept, and could ` +
            'not be rolled back to without it. Take it out of api_specs; it can be deleted when those are gone.',
        );
      await removeSpecification(tx, row.id);
      const summary = `deleted version ${version} of the specification ${name} of ${site}`;
      await parts.audit.record(tx, { actor, action: 'spec.delete', summary });
    });
    return reply.code(204).send(null);
  });
}
