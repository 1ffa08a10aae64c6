// A data-flow model: who and what there is (people, other systems, processes, stores), in which boundaries, what flows
// between them, and which data that is. The one form in which models are stored, whatever they were written in.
import { OneOf } from '#http-kit';
import { Type, type Static, type TSchema } from '@sinclair/typebox';
import { unfit } from '../kit/endpoint.js';

export const elementKinds = ['person', 'external', 'process', 'store'] as const;
export const boundaryKinds = ['internet', 'network', 'zone', 'cluster', 'host', 'organisation'] as const;
export const classifications = ['public', 'internal', 'confidential', 'restricted'] as const;
export const authentications = ['unknown', 'none', 'credentials', 'session', 'token', 'certificate'] as const;
export const answers = ['unknown', 'yes', 'no'] as const;
/** What an element does that rules ask for. */
export const traits = [
  'serves_pages',
  'parses_xml',
  'deserialises',
  'takes_files',
  'runs_commands',
  'runs_code',
  'templates',
  'asks_addresses',
  'authenticates',
  'administers',
  'logs',
  'multi_tenant',
  'redundant',
  'container',
  'model',
  'backup',
  'builds',
] as const;
export type Trait = (typeof traits)[number];

const closed = { additionalProperties: false } as const;
const Key = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._:-]{0,119}$',
  description: 'names it within the model; letters, digits, and . _ : -',
});
const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^[^\\u0000-\\u001f]*[^\\u0000-\\u0020][^\\u0000-\\u001f]*$',
});
const Words = Type.String({ maxLength: 2000 });
const Keys = Type.Array(Key, { maxItems: 200 });
const some = <T extends TSchema>(of: T) => Type.Optional(of);

const Boundary = Type.Object({ id: Key, name: Name, kind: some(OneOf(boundaryKinds)), parent: some(Key) }, closed);
const Element = Type.Object(
  {
    id: Key,
    name: Name,
    kind: OneOf(elementKinds),
    boundary: some(Key),
    technology: some(Type.String({ maxLength: 100 })),
    description: some(Words),
    internet: some(Type.Boolean({ description: 'reached from the internet' })),
    data: some(Keys),
    encrypted: some(OneOf(answers, 'of a store: at rest')),
    traits: some(Type.Array(OneOf(traits), { maxItems: traits.length })),
  },
  closed,
);
const Data = Type.Object(
  {
    id: Key,
    name: Name,
    classification: some(OneOf(classifications)),
    personal: some(Type.Boolean()),
    credentials: some(Type.Boolean()),
  },
  closed,
);
const Flow = Type.Object(
  {
    id: Key,
    name: Name,
    from: Key,
    to: Key,
    protocol: some(Type.String({ maxLength: 60 })),
    authentication: some(OneOf(authentications)),
    encrypted: some(OneOf(answers)),
    data: some(Keys),
    operations: some(
      Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
        maxItems: 500,
        description: 'methods and templates, such as GET /orders/{id}',
      }),
    ),
    open_operations: some(Type.Integer({ minimum: 0, description: 'of them answered without credentials' })),
    shadow_operations: some(Type.Integer({ minimum: 0, description: 'of them in no specification' })),
  },
  closed,
);

export const Dfd = Type.Object(
  {
    boundaries: some(Type.Array(Boundary, { maxItems: 60 })),
    elements: Type.Array(Element, { maxItems: 200 }),
    flows: some(Type.Array(Flow, { maxItems: 500 })),
    data: some(Type.Array(Data, { maxItems: 200 })),
    ignored: some(Type.Array(Key, { maxItems: 500, description: 'ids that derivation leaves out' })),
  },
  {
    ...closed,
    examples: [
      {
        boundaries: [{ id: 'cluster', name: 'Cluster', kind: 'cluster' }],
        elements: [
          { id: 'customer', name: 'Customer', kind: 'person', internet: true },
          { id: 'shop', name: 'Shop', kind: 'process', boundary: 'cluster', traits: ['serves_pages'] },
          {
            id: 'orders',
            name: 'Orders',
            kind: 'store',
            boundary: 'cluster',
            technology: 'PostgreSQL',
            data: ['order'],
          },
        ],
        flows: [
          {
            id: 'buy',
            name: 'Buys',
            from: 'customer',
            to: 'shop',
            protocol: 'https',
            authentication: 'session',
            encrypted: 'yes',
          },
          { id: 'store', name: 'Stores', from: 'shop', to: 'orders', authentication: 'credentials', data: ['order'] },
        ],
        data: [{ id: 'order', name: 'Orders', classification: 'confidential', personal: true }],
      },
    ],
  },
);
export type Dfd = Static<typeof Dfd>;
export type Boundary = Static<typeof Boundary>;
export type Element = Static<typeof Element>;
export type Flow = Static<typeof Flow>;
export type DataAsset = Static<typeof Data>;

export const emptyDfd: Dfd = { elements: [] };

function refuseTwice(list: readonly { readonly id: string }[], path: string, seen: Map<string, string>): void {
  for (const [at, { id }] of list.entries()) {
    const before = seen.get(id);
    if (before !== undefined)
      throw unfit(`${path}/${at}/id`, `is ${id}, as ${before} is`, 'give each thing its own id');
    seen.set(id, `${path}/${at}`);
  }
}

function refuseCircles(boundaries: readonly Boundary[], path: string): void {
  const parents = new Map(boundaries.map(({ id, parent }) => [id, parent]));
  for (const [at, { id }] of boundaries.entries()) {
    let up = parents.get(id);
    for (let steps = 0; up !== undefined; steps++, up = parents.get(up))
      if (up === id || steps > boundaries.length)
        throw unfit(`${path}/${at}/parent`, 'leads back to the boundary itself', 'name one that is further out');
  }
}

/** Throws 422 with a pointer for what names something that is not there, for an id that stands twice, and circles. */
export function checkDfd(dfd: Dfd, path = '/dfd'): Dfd {
  const { boundaries = [], elements, flows = [], data = [] } = dfd;
  const seen = new Map<string, string>();
  refuseTwice(boundaries, `${path}/boundaries`, seen);
  refuseTwice(elements, `${path}/elements`, seen);
  refuseTwice(flows, `${path}/flows`, seen);
  refuseTwice(data, `${path}/data`, new Map());
  const among = (list: readonly { readonly id: string }[]) => new Set(list.map(({ id }) => id));
  const [zones, ends, assets] = [among(boundaries), among(elements), among(data)];
  const need = (known: ReadonlySet<string>, id: string | undefined, at: string, what: string): void => {
    if (id !== undefined && !known.has(id))
      throw unfit(`${path}${at}`, `is ${id}, which is no ${what} of the model`, `add it, or name one of its ${what}s`);
  };
  boundaries.forEach(({ parent }, at) => need(zones, parent, `/boundaries/${at}/parent`, 'boundary'));
  refuseCircles(boundaries, `${path}/boundaries`);
  elements.forEach(({ boundary, data: held = [] }, at) => {
    need(zones, boundary, `/elements/${at}/boundary`, 'boundary');
    held.forEach((id, nth) => need(assets, id, `/elements/${at}/data/${nth}`, 'data asset'));
  });
  flows.forEach(({ from, to, data: carried = [] }, at) => {
    need(ends, from, `/flows/${at}/from`, 'element');
    need(ends, to, `/flows/${at}/to`, 'element');
    carried.forEach((id, nth) => need(assets, id, `/flows/${at}/data/${nth}`, 'data asset'));
  });
  return dfd;
}
