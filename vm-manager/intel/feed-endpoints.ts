// /threat-intel/feeds of an operator's own: a mirror of a set by its address, fetched at a pace or now, or a file.
import { ApiError, OneOf } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import type { Host } from '../host.js';
import { violatedUnique } from '../database.js';
import { endpoint, notFound, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { checkReceiver } from '../kit/outgoing.js';
import { RunView, viewRun, type Run } from '../kit/runs.js';
import { receive } from '../kit/upload/receive.js';
import { FeedView, readFeeds, viewOwnFeed } from './endpoints.js';
import { fetchBytesMax, noteTry, reasonOf, storeFetched, type OwnFeed } from './fetch.js';
import { importSet } from './import-set.js';
import { recognise, setNames, unpack, type SetName } from './read-set.js';

const closed = { additionalProperties: false } as const;
const ofOrganisation = 'Feeds of threat intelligence';
const fileBytesMax = 256 * 1024 * 1024;
const upload = { bytesMax: fileBytesMax, fields: Type.Object({}, closed) };

const Create = Type.Object(
  {
    set: OneOf(setNames),
    url: Type.String({ maxLength: 1000, pattern: '^https?://\\S+$', description: 'of the file as it is published' }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' })),
    every_hours: Type.Optional(Type.Integer({ minimum: 1, maximum: 720, default: 24 })),
    enabled: Type.Optional(Type.Boolean()),
  },
  { ...closed, examples: [{ set: 'kev', url: 'https://mirror.example.org/kev.json', every_hours: 12 }] },
);

const isSet = (id: string): id is SetName => (setNames as readonly string[]).includes(id);

/** Throws 409 where a setting names an address for the set: the two would take turns. */
async function refuseBoth(host: Host, set: SetName): Promise<void> {
  const sources = await host.intelSources?.();
  if ((sources?.urls[set] ?? '') !== '')
    throw new ApiError('conflict', `The setting vm_${set}_url names an address for ${set}: empty it first.`);
}

async function ownFeed(call: Pick<Call, 'sql' | 'params'>): Promise<OwnFeed> {
  const id = call.params['id'] ?? '';
  if (!/^[1-9]\d{0,17}$/.test(id)) throw notFound('feed', id.slice(0, 60));
  const [row] = await call.sql<OwnFeed[]>`select * from vm_intel_feeds where id = ${id}`;
  if (row === undefined) throw notFound('feed', id);
  return row;
}

const create = endpoint({
  method: 'POST',
  path: '/threat-intel/feeds',
  permission: 'manage_intel',
  ofOrganisation,
  kind: 'C',
  summary: 'Name an address for a set that no setting has one for: EPSS, KEV or OSV as they are published, or a mirror',
  body: Create,
  status: 201,
  answer: FeedView,
  handle: async (call) => {
    const { body, host, sql, now, caller } = call;
    const { set, url, every_hours: hours = 24, enabled = true } = body;
    if (!URL.canParse(url) || new URL(url).username !== '' || new URL(url).password !== '')
      throw unfit('/url', 'is no address without credentials', 'write it as https://mirror.example.org/file');
    if (host.wayOut === undefined) throw new ApiError('not_ready', 'This server asks no other systems.');
    await refuseBoth(host, set);
    await checkReceiver(host.wayOut, url, '/url', 'is not encrypted');
    const name = body.name ?? new URL(url).host;
    try {
      const row = await call.audited(
        'vm.create',
        `named the feed ${name} for ${set}`,
        async (tx) => {
          const [made] = await tx<OwnFeed[]>`
            insert into vm_intel_feeds (set_name, name, url, every_hours, enabled, created_by, created_at)
            values (${set}, ${name}, ${url}, ${hours}, ${enabled}, ${caller.actor.name}, ${now}) returning *`;
          if (made === undefined) throw new Error('the feed was not stored');
          return made;
        },
        () => body,
      );
      const feeds = await readFeeds(sql);
      return viewOwnFeed(
        row,
        feeds.find((one) => one.name === set),
        now,
      );
    } catch (error) {
      if (violatedUnique(error) === null) throw error;
      throw new ApiError(
        'conflict',
        `There is a feed for ${set} already: delete it first, since a set has one source.`,
      );
    }
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/threat-intel/feeds/:id',
  permission: 'manage_intel',
  ofOrganisation,
  kind: 'C',
  summary: 'Delete a feed of your own; what its set says stays until another one comes',
  status: 204,
  handle: async (call) => {
    const id = call.params['id'] ?? '';
    if (isSet(id))
      throw new ApiError('conflict', `${id} is one of the published sets: its address is the setting vm_${id}_url.`);
    const row = await ownFeed(call);
    await call.audited('vm.delete', `deleted the feed ${row.id} (${row.name})`, async (tx) => {
      const gone = await tx`delete from vm_intel_feeds where id = ${row.id}`;
      if (gone.count === 0) throw notFound('feed', id);
    });
  },
});

/** The set, where it is fetched from (empty: nowhere), and the row where it is a feed of the operator's own. */
async function sourceOf(call: Call): Promise<{ set: SetName; url: string; own: OwnFeed | null }> {
  const id = call.params['id'] ?? '';
  if (isSet(id)) return { set: id, url: (await call.host.intelSources?.())?.urls[id] ?? '', own: null };
  const own = await ownFeed(call);
  return { set: own.set_name, url: own.url, own };
}

async function fromFile(call: Call, set: SetName): Promise<Run> {
  const sent = await receive<Static<typeof upload.fields>>(call.request, upload);
  try {
    const file = await unpack({ path: sent.file, bytes: sent.bytes });
    const found = await recognise(file);
    if (found !== set) throw unfit('file', `is ${found}, and the feed is of ${set}`, `send it to ${found}`);
    return await call.audited(
      'vm.import',
      (made: Run) => `imported the set ${set} from a file (run ${made.id})`,
      (tx) => importSet(tx, set, { file, bytes: sent.bytes, by: call.caller.actor.name }, call.now),
      ({ result }) => result,
    );
  } finally {
    await sent.discard();
  }
}

async function fromAddress(call: Call, { set, url, own }: Awaited<ReturnType<typeof sourceOf>>): Promise<Run> {
  const { host, now, caller } = call;
  const sources = await host.intelSources?.();
  if (url === '' || sources === undefined)
    throw new ApiError('conflict', `No address is named for ${set}: set vm_${set}_url, add a feed, or send the file.`);
  if (own !== null) await refuseBoth(host, set);
  try {
    const run = await storeFetched(host, set, await sources.download(url, fetchBytesMax), now, caller.actor);
    if (own !== null) await noteTry(host, own.id, now, null);
    return run;
  } catch (error) {
    if (own !== null) await noteTry(host, own.id, now, reasonOf(error));
    throw error;
  }
}

const sync = endpoint({
  method: 'POST',
  path: '/threat-intel/feeds/:id/sync',
  permission: 'manage_intel',
  ofOrganisation,
  kind: 'R',
  summary:
    'Fetch a set now, or take it from the file that comes along; findings are ranked again, and what rose is reported',
  upload,
  status: 202,
  answer: Type.Intersect([RunView, Type.Object({ report: Type.Unknown() })]),
  handle: async (call) => {
    const source = await sourceOf(call);
    const type = call.request.headers['content-type'] ?? '';
    const run =
      type === '' || /\bjson\b/i.test(type) ? await fromAddress(call, source) : await fromFile(call, source.set);
    return { ...viewRun(run), report: { ...run.result, problems: run.problems } };
  },
});

export const feedEndpoints: readonly Endpoint[] = [create, remove, sync];
