// Profiles that an organisation writes itself: some of the checks, in the manner of a profile of the product, and
// within limits that are never wider than the target's.
import { ApiError, Nullable, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { Name } from '../../assets/resources.js';
import type { Queryable } from '../../database.js';
import { endpoint, unfit, type Endpoint } from '../../kit/endpoint.js';
import { resourceEndpoints, type Resource } from '../../kit/resource.js';
import { checksOf, checkTexts } from '../checks/index.js';
import { profiles, type Profile } from '../model.js';

const closedBase = ['standard', 'full'] as const;
const profilesMax = 100;

export interface OwnProfile {
  readonly id: number;
  readonly version: number;
  readonly name: string;
  readonly base: Profile;
  readonly checks: readonly string[];
  readonly requests_max: number | null;
  readonly seconds_max: number | null;
  readonly browser: boolean;
}

/** What a scan runs: a profile of the product, or one of the organisation. */
export interface ChosenProfile {
  readonly name: string;
  readonly profile: Profile;
  readonly own: OwnProfile | null;
  /** Pages with scripts are opened in a browser, where there is one. */
  readonly browser: boolean;
}

/** Whether scans of it open a browser where nothing else is said: `quick` is to be quick. */
const usesBrowser = (profile: Profile): boolean => profile !== 'quick';

export const builtIn = (profile: Profile, browser = usesBrowser(profile)): ChosenProfile => ({
  ...{ name: profile, profile, own: null },
  browser,
});

/** Throws 422 where neither or both are named, 404 for one that is not there. */
export async function chooseProfile(
  sql: Queryable,
  given: { readonly profile?: Profile; readonly profile_id?: string; readonly browser?: boolean },
): Promise<ChosenProfile> {
  const { profile, profile_id: id } = given;
  if ((profile === undefined) === (id === undefined))
    throw unfit('/profile', id === undefined ? 'is missing' : 'is named twice', 'name profile, or profile_id');
  if (profile !== undefined) return builtIn(profile, given.browser);
  const [own] = /^\d{1,18}$/.test(id ?? '')
    ? await sql<OwnProfile[]>`select * from vm_scan_profiles where id = ${id ?? ''}`
    : [];
  if (own === undefined) throw new ApiError('not_found', `There is no profile ${id}.`);
  return { name: own.name, profile: own.base, own, browser: given.browser ?? own.browser };
}

const known: ReadonlySet<string> = new Set(checkTexts.map(({ id }) => id));

const own: Resource = {
  path: '/scans/profiles',
  noun: 'profile of scans',
  table: 'vm_scan_profiles',
  ofOrganisation: 'Profiles of scans',
  view: 'view_scans',
  edit: 'run_scans',
  visible: (sql) => sql`true`,
  only: ['create', 'patch'],
  columns: {
    name: { schema: Name, as: 'plain', write: 'always', required: true },
    base: { schema: OneOf(closedBase, 'full tries more variants'), as: 'plain', write: 'always', required: true },
    checks: {
      schema: Type.Array(Type.String({ maxLength: 60 }), {
        minItems: 1,
        maxItems: 200,
        uniqueItems: true,
        description: 'ids of GET /scans/checks',
      }),
      as: 'json',
      write: 'always',
      required: true,
    },
    requests_max: { schema: Nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 })), as: 'plain', write: 'always' },
    seconds_max: { schema: Nullable(Type.Integer({ minimum: 1, maximum: 86_400 })), as: 'plain', write: 'always' },
    browser: {
      schema: Type.Boolean({ description: 'pages with scripts are opened in a browser, where there is one' }),
      as: 'plain',
      write: 'always',
    },
  },
  check: async (tx, _, values, before) => {
    const unknown = ((values['checks'] ?? []) as string[]).find((id) => !known.has(id));
    if (unknown !== undefined) throw unfit('/checks', `names no check ${unknown}`, 'see GET /scans/checks');
    if ((profiles as readonly unknown[]).includes(values['name']))
      throw unfit('/name', 'is the name of a profile of the product', 'choose another one');
    const [count] = before === null ? await tx<{ n: number }[]>`select count(*)::int as n from vm_scan_profiles` : [];
    if ((count?.n ?? 0) >= profilesMax) throw new ApiError('conflict', `There are ${profilesMax} profiles already.`);
  },
};

export const profileEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/scans/profiles',
    permission: 'view_scans',
    kind: 'C',
    summary: 'Profiles of scans, of the product and of the organisation, and how many checks each has',
    answer: Type.Object({
      items: Type.Array(
        Type.Object({
          id: Nullable(Type.String({ description: 'of the organisation; null: of the product' })),
          name: Type.String(),
          base: OneOf(profiles),
          checks: Type.Integer(),
          check_ids: Type.Array(Type.String()),
          requests_max: Nullable(Type.Integer()),
          seconds_max: Nullable(Type.Integer()),
          browser: Type.Boolean(),
          version: Nullable(Type.Integer()),
        }),
      ),
    }),
    handle: async ({ sql }) => {
      const rows = await sql<OwnProfile[]>`select * from vm_scan_profiles order by name`;
      const ofProduct = profiles.map((name) => {
        const ids = checksOf(name).map(({ id }) => id);
        const none = { requests_max: null, seconds_max: null, version: null };
        return { id: null, name, base: name, checks: ids.length, check_ids: ids, browser: usesBrowser(name), ...none };
      });
      const ofOrganisation = rows.map(({ id, name, base, checks, requests_max, seconds_max, browser, version }) => ({
        ...{ id: String(id), name, base, checks: checks.length, check_ids: [...checks] },
        ...{ requests_max, seconds_max, browser, version },
      }));
      return { items: [...ofProduct, ...ofOrganisation] };
    },
  }),
  ...resourceEndpoints(own),
];
