// A labelled set for the template learner, made here: families of paths with the templates that they are of.
export interface Family {
  readonly name: string;
  readonly make: (random: Random) => string;
  readonly expected: readonly string[];
}

/** Numbers from 0 to below 1, the same for a seed (mulberry32, public domain). */
export type Random = () => number;

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const below = (random: Random, most: number): number => Math.floor(random() * most);
const pick = <T>(random: Random, list: readonly T[]): T => list[below(random, list.length)] as T;
const chars = (random: Random, alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet[below(random, alphabet.length)]).join('');

const hex = '0123456789abcdef';
const alphanumeric = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const uuid = (random: Random, version: string): string =>
  `${chars(random, hex, 8)}-${chars(random, hex, 4)}-${version}${chars(random, hex, 3)}-a${chars(random, hex, 3)}-` +
  chars(random, hex, 12);

/** Thirteen kinds of ids, as applications make them. */
export const idKinds: Readonly<Record<string, (random: Random) => string>> = {
  integer: (random) => String(1 + below(random, 100_000)),
  small: (random) => String(1 + below(random, 60)),
  snowflake: (random) => `1${chars(random, '0123456789', 17)}`,
  uuid4: (random) => uuid(random, '4'),
  uuid7: (random) => uuid(random, '7'),
  compactUuid: (random) => chars(random, hex, 31) + 'a',
  ulid: (random) => `01${chars(random, '0123456789ABCDEFGHJKMNPQRSTVWXYZ', 24)}`,
  objectid: (random) => `65${chars(random, hex, 22)}`,
  sha256: (random) => chars(random, hex, 64),
  nanoid: (random) => chars(random, `${alphanumeric}_-`, 21),
  prefixed: (random) => `cus_${chars(random, alphanumeric, 14)}`,
  numbered: (random) => `ORD-${10_000 + below(random, 80_000)}`,
  email: (random) => `${chars(random, 'abcdefghij', 6)}.${below(random, 99)}@example.org`,
};

const adjectives = 'red blue tiny grand quiet rapid solid warm cold bright dark soft brave calm eager fancy'.split(' ');
const nouns = 'shoe lamp chair bottle jacket phone table watch camera guitar helmet ladder mirror pillow'.split(' ');
function slug(random: Random): string {
  const tail = random() < 0.3 ? `-${below(random, 99)}` : '';
  return `${pick(random, adjectives)}-${pick(random, adjectives)}-${pick(random, nouns)}${tail}`;
}
const firstNames = (
  'alice bob carol dave erin frank grace heidi ivan judy mallory niaj olivia peggy rupert sybil trent victor walter ' +
  'xavier yvonne zoe amir bella cyrus dora elias fiona gustav hanna ingrid jonas karla lukas marta nils oskar paula ' +
  'quentin rosa stefan tilda ulrich vera wanda ximena yusuf zelda anton birgit carlos denise emil'
).split(' ');
const resources = (
  'orders carts payments refunds customers addresses products variants categories reviews coupons shipments ' +
  'warehouses suppliers invoices taxes employees roles teams projects tasks comments attachments messages channels ' +
  'devices alerts reports dashboards widgets plans subscriptions events tickets venues artists albums tracks labels ' +
  'genres'
).split(' ');
const localeTags = ['en-US', 'de-DE', 'fr-FR', 'pt-BR', 'es-MX', 'ja-JP', 'en-GB'];
const languageTags = ['en', 'de', 'fr', 'es', 'it', 'ja'];

const nameOfKind = (kind: string): string => (kind === 'email' ? 'email' : 'id');
const second = (outer: string, inner: string): string =>
  nameOfKind(outer) === nameOfKind(inner) ? `${nameOfKind(inner)}2` : nameOfKind(inner);

function ofIds(): Family[] {
  const families: Family[] = [];
  for (const [kind, id] of Object.entries(idKinds)) {
    const name = nameOfKind(kind);
    const add = (shape: string, make: Family['make'], ...expected: string[]): void =>
      void families.push({ name: `${kind}: ${shape}`, make, expected });
    add('leaf', (r) => `/api/v1/orders/${id(r)}`, `/api/v1/orders/{${name}}`);
    add('with what is below', (r) => `/users/${id(r)}/posts`, `/users/{${name}}/posts`);
    add(
      'beside /me and /search',
      (r) => pick(r, [`/users/${id(r)}`, `/users/${id(r)}`, '/users/me', '/users/search']),
      `/users/{${name}}`,
      '/users/me',
      '/users/search',
    );
    add(
      'a collection with four methods of use',
      (r) => pick(r, ['/things', `/things/${id(r)}`, `/things/${id(r)}/tags`, `/things/${id(r)}/owner`]),
      '/things',
      `/things/{${name}}`,
      `/things/{${name}}/tags`,
      `/things/{${name}}/owner`,
    );
    add('at the root', (r) => `/${id(r)}`, `/{${name}}`);
    for (const [innerKind, inner] of Object.entries(idKinds))
      add(
        `then ${innerKind}`,
        (r) => `/customers/${id(r)}/invoices/${inner(r)}`,
        `/customers/{${name}}/invoices/{${second(kind, innerKind)}}`,
      );
  }
  return families;
}

function ofWords(): Family[] {
  const one = (name: string, make: Family['make'], ...expected: string[]): Family => ({ name, make, expected });
  const families = [
    one('resources beside each other', (r) => `/api/${pick(r, resources.slice(0, 20))}`, ...under('/api', 20)),
    one(
      'resources with ids',
      (r) => `/api/v2/${pick(r, resources.slice(0, 16))}/${below(r, 9000)}`,
      ...under('/api/v2', 16).map((path) => `${path}/{id}`),
    ),
    one('versions', (r) => `/v${1 + below(r, 3)}/users/${below(r, 9000)}`, ...v123('/v', '/users/{id}')),
    one(
      'versions as numbers',
      (r) => `/rest/api/${2 + below(r, 2)}/issue/X-${100 + below(r, 900)}`,
      ...[2, 3].map((v) => `/rest/api/${v}/issue/{id}`),
    ),
    one('actions', (r) => `/rpc/${pick(r, actions)}`, ...actions.map((action) => `/rpc/${action}`)),
    one(
      'custom methods',
      (r) => `/docs/${pick(r, ['pages:search', 'pages:batchGet'])}`,
      '/docs/pages:search',
      '/docs/pages:batchGet',
    ),
    one('names of people', (r) => `/people/${pick(r, firstNames)}`, '/people/{name}'),
    one('names of people and below', (r) => `/people/${pick(r, firstNames)}/followers`, '/people/{name}/followers'),
    one('logins', (r) => `/u/${pick(r, firstNames)}/orders/${below(r, 900)}`, '/u/{name}/orders/{id}'),
    one(
      'first and last names',
      (r) => pick(r, [`/api/users/${pick(r, firstNames)}-${pick(r, firstNames)}/posts`, '/api/users/me']),
      '/api/users/{slug}/posts',
      '/api/users/me',
    ),
    one('years', (r) => `/reports/${2015 + below(r, 10)}/summary`, '/reports/{year}/summary'),
    one('year and month', (r) => `/archive/${2015 + below(r, 10)}/${1 + below(r, 12)}`, '/archive/{year}/{id}'),
    one('one year', () => '/olympics/2024/medals', '/olympics/2024/medals'),
    one('a version by date', (r) => `/2024-06-20/charges/${below(r, 9000)}`, '/2024-06-20/charges/{id}'),
    one('days', (r) => `/rates/2026-0${1 + below(r, 9)}-1${below(r, 9)}`, '/rates/{date}'),
    one('one order only', () => '/orders/42', '/orders/{id}'),
    one('literals only', (r) => pick(r, ['/', '/login', '/health', '/metrics']), '/', '/login', '/health', '/metrics'),
  ];
  for (const base of ['/store', '/site/pages', '/m'])
    families.push(
      one(`${base}: locales`, (r) => `${base}/${pick(r, localeTags)}/faq`, `${base}/{locale}/faq`),
      one(`${base}: languages`, (r) => `${base}/${pick(r, languageTags)}/faq`, `${base}/{locale}/faq`),
    );
  for (const base of ['/blog', '/products', '/docs/guides', '/categories'])
    families.push(
      one(`${base}: slugs`, (r) => `${base}/${slug(r)}`, `${base}/{slug}`),
      one(`${base}: slugs and below`, (r) => `${base}/${slug(r)}/reviews`, `${base}/{slug}/reviews`),
      one(`${base}: slugs and ids`, (r) => `${base}/${slug(r)}/items/${below(r, 900)}`, `${base}/{slug}/items/{id}`),
      one(
        `${base}: slugs beside /latest`,
        (r) => pick(r, [`${base}/${slug(r)}`, `${base}/latest`]),
        `${base}/{slug}`,
        `${base}/latest`,
      ),
    );
  for (const word of resources)
    families.push(
      one(
        `${word}: literal and id`,
        (r) => pick(r, [`/${word}`, `/${word}/${below(r, 500)}`]),
        `/${word}`,
        `/${word}/{id}`,
      ),
    );
  return families;
}

const under = (base: string, count: number): string[] => resources.slice(0, count).map((name) => `${base}/${name}`);
const v123 = (before: string, after: string): string[] => [1, 2, 3].map((version) => `${before}${version}${after}`);
const actions = ['get-user', 'list-orders', 'create-order', 'cancelOrder', 'sendInvite', 'update-profile'].concat([
  'delete-account',
  'search-items',
  'add-to-cart',
  'remove-from-cart',
  'getPrices',
  'setAddress',
  'resend-mail',
]);

/** More than three hundred. */
export const families: readonly Family[] = [...ofIds(), ...ofWords()];
