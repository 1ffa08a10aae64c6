// GET /api/spec/preview, GET /api/spec/:id/preview, POST /api/spec/preview: what `block` would do to requests that were
// recorded, before it is switched on. Nothing is stored or changed.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Type, type Static } from '@sinclair/typebox';
import { schemaActions, type SchemaAction, type SchemaPlan } from '#proxy/contract';
import { defaultSettings, requireSettings, type Settings } from '#settings';
import { ApiError, closed, OneOf, refusals, type App } from '../../http-kit/index.js';
import { sitePrefixOf } from '../../change/steps/specifications.js';
import { readHead } from '../../settings/store.js';
import type { ApiModel } from '../document/model.js';
import { specBytesMax } from '../document/read.js';
import { planOf } from '../plan.js';
import { readableSpecification, specificationOf, specificationOfSent } from '../reading/read-there.js';
import { requireSite, requireStored, sentDocument, tags, type SpecParts } from '../requests.js';
import { findVersion } from '../store.js';
import { Preview } from './check.js';
import { readLive, readRecorded } from './read.js';
import { PreviewView, summaryOfLimits, viewPreview } from './views.js';

type Entry = Settings['api_specs'][number];

const options = {
  unknown_paths: Type.Optional(OneOf(schemaActions, 'for requests of paths that nobody declares; as the settings say')),
  base_path: Type.Optional(
    Type.String({ pattern: '^(/[^?#{}\\s]*)?$', maxLength: 1024, description: 'instead of the paths of `servers`' }),
  ),
  hours: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 8760, default: 168, description: `how far back; ${summaryOfLimits}` }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'groups of each list' })),
};
const site = Type.Optional(Type.String({ maxLength: 100 }));
const SiteQuery = Type.Object({ site, ...options }, closed);
const VersionQuery = Type.Object(options, closed);
const DocumentQuery = Type.Object({ site, name: Type.Optional(Type.String({ maxLength: 64 })), ...options }, closed);

type Asked = Static<typeof VersionQuery>;

/** What is tried in the place of the entry of the same name; null: the saved settings as they are. */
interface Candidate {
  readonly name: string;
  readonly version: number | null;
  readonly model: ApiModel;
}

interface Tried {
  readonly entry: Entry;
  readonly version: number | null;
  readonly model: ApiModel;
  readonly action: SchemaAction;
}

const entryOf = (name: string, siteName: string): Entry => {
  const [entry] = requireSettings({
    ...defaultSettings(),
    api_specs: [{ site: siteName, name, version: 1 }],
  }).api_specs;
  return entry as Entry;
};

/** Every specification of the site, as if schema_action were block. */
async function triedOf(
  sql: SpecParts['database']['sql'],
  settings: Settings,
  siteName: string,
  candidate: Candidate | null,
): Promise<Tried[]> {
  const tried: Tried[] = [];
  const own = settings.api_specs.filter((entry) => entry.site === siteName);
  for (const entry of own) {
    if (entry.name === candidate?.name) continue;
    const row = await findVersion(sql, entry);
    const action = entry.action ?? 'block';
    const read = row === null ? null : await readableSpecification(row);
    if (read !== null) tried.push({ entry, version: entry.version, model: read.model, action });
  }
  if (candidate === null) return tried;
  const entry = own.find(({ name }) => name === candidate.name) ?? entryOf(candidate.name, siteName);
  return [...tried, { ...candidate, entry, action: 'block' }];
}

const planned = (settings: Settings, { entry, model, action }: Tried, asked: Asked): SchemaPlan =>
  planOf(model, {
    action,
    prefix: sitePrefixOf(settings, entry.site),
    entry: {
      ...entry,
      base_path: asked.base_path ?? entry.base_path,
      unknown_paths: asked.unknown_paths ?? entry.unknown_paths,
    },
  });

/** Requests between two turns of the event loop: about 10 ms. */
const requestsATurn = 500;

async function preview(
  { database: { sql }, now }: SpecParts,
  siteName: string,
  candidate: Candidate | null,
  asked: Asked,
): Promise<Static<typeof PreviewView>> {
  const { settings } = await readHead(sql);
  const tried = await triedOf(sql, settings, siteName, candidate);
  if (tried.length === 0)
    throw new ApiError('not_found', `No specification of the site ${siteName} is in the settings.`, {
      errors: [{ path: '/site', reason: 'has no specification', fix: 'upload one, or send the document to preview' }],
    });
  const since = new Date(now() - (asked.hours ?? 168) * 3_600_000);
  const plans = tried.map((one) => planned(settings, one, asked));
  const checking = new Preview(plans);
  let count = 0;
  for (const request of await readRecorded(sql, siteName, since)) {
    checking.take(request);
    if ((count += 1) % requestsATurn === 0) await nextTurn();
  }
  const isCounted = settings.api_specs.some(
    (entry) => entry.site === siteName && (entry.action ?? settings.schema_action) !== 'ignore',
  );
  const specifications = tried.map(({ entry, version, action }, index) => ({
    ...{ name: entry.name, version, action, unknown_paths: plans[index]?.unknownPaths ?? 'ignore' },
  }));
  const live = isCounted ? await readLive(sql, siteName, since) : null;
  return viewPreview({ site: siteName, specifications, since, limit: asked.limit ?? 100 }, checking.done(), live);
}

const response = { 200: PreviewView, ...refusals };

export function registerPreview(app: App, parts: SpecParts): void {
  const { sql } = parts.database;
  const ofSettings = {
    tags,
    summary: 'What of the recorded requests would fail if schema_action were block, with the saved settings',
    querystring: SiteQuery,
    response,
  };
  app.get('/api/spec/preview', { schema: ofSettings }, async ({ query }) =>
    preview(parts, requireSite((await readHead(sql)).settings, query.site), null, query),
  );
  const ofVersion = {
    tags,
    summary: 'The same with a stored version in the place of the one that the settings name',
    params: Type.Object({ id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) }),
    querystring: VersionQuery,
    response,
  };
  app.get('/api/spec/:id/preview', { schema: ofVersion }, async (request) => {
    const { params, query } = request;
    const row = await requireStored(sql, request, params.id);
    const { model } = await specificationOf(row);
    return preview(parts, row.site, { name: row.name, version: row.version, model }, query);
  });
  const ofDocument = {
    tags,
    summary: 'The same with a document that is sent, and not stored',
    consumes: ['application/json', 'application/yaml', 'text/plain'],
    querystring: DocumentQuery,
    body: Type.Unsafe<string>({
      description: 'the document itself; or JSON {"spec": text or object, "site": "…", "name": "…"}',
    }),
    response,
  };
  const takesText = { bodyLimit: specBytesMax, config: { takesText: true }, schema: ofDocument } as const;
  app.post('/api/spec/preview', takesText, async ({ body, query }) => {
    const sent = sentDocument(body);
    const { model } = await specificationOfSent(sent.text);
    const wanted = requireSite((await readHead(sql)).settings, query.site ?? sent.site);
    return preview(parts, wanted, { name: query.name ?? sent.name ?? 'default', version: null, model }, query);
  });
}
