// Specifications of APIs, as a step of the road of a change: the versions that the settings name become what nodes
// enforce, and their methods and media types become allowed to their sites. The rule set allows GET, HEAD, POST and
// OPTIONS and a dozen media types; without this every declared PUT, and every body of `application/problem+json`, would
// be taken for an attack (rules 911100 and 920420).
import type { DeclaredGraphql, SchemaAction, SchemaPlan } from '#proxy/contract';
import type { Settings } from '#settings';
import type { Queryable } from '../../db/client.js';
import type { ApiModel } from '../../spec/document/model.js';
import { takesGraphql } from '../../spec/graphql.js';
import { planOf, templatesOf } from '../../spec/plan.js';
import { readableSpecification } from '../../spec/reading/read-there.js';
import { findVersion } from '../../spec/store.js';
import type { ApplyDiagnostic } from '../contract.js';
import { settingProblem } from './policy.js';

type Entry = Settings['api_specs'][number];

export interface SpecificationInForce {
  readonly entry: Entry;
  readonly model: ApiModel;
}

export interface SpecificationsInForce {
  readonly found: readonly SpecificationInForce[];
  readonly problems: readonly ApplyDiagnostic[];
}

/** Those that the settings name. One that is not stored any more stops an apply. */
export async function readSpecifications(
  sql: Queryable,
  { api_specs: entries }: Pick<Settings, 'api_specs'>,
): Promise<SpecificationsInForce> {
  const found: SpecificationInForce[] = [];
  const problems: ApplyDiagnostic[] = [];
  for (const [index, entry] of entries.entries()) {
    const { site, name, version } = entry;
    const row = await findVersion(sql, entry);
    if (row === null)
      problems.push(
        settingProblem(
          `/api_specs/${index}/version`,
          `there is no version ${version} of the specification ${name} of the site ${site}`,
          'Name a version that GET /api/spec lists, or take the entry out.',
        ),
      );
    else {
      const read = await readableSpecification(row);
      if (read !== null) found.push({ entry, model: read.model });
      else
        problems.push(
          settingProblem(
            `/api_specs/${index}/version`,
            `version ${version} of the specification ${name} of the site ${site} is refused by this release`,
            'Send the document again: the answer says what is wrong with it.',
          ),
        );
    }
  }
  return { found, problems };
}

const isBareType = (type: string): boolean => /^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}$/.test(type);

const union = (list: readonly string[], added: readonly string[]): string[] => [...new Set([...list, ...added])];

interface Wanted {
  readonly methods: readonly string[];
  readonly types: readonly string[];
}

function wantedBy(models: readonly ApiModel[]): Wanted {
  const operations = models.flatMap((model) => model.operations);
  return {
    methods: [...new Set(operations.map(({ method }) => method))],
    types: [...new Set(operations.flatMap(({ body }) => Object.keys(body?.content ?? {})))].filter(isBareType),
  };
}

/**
 * The settings with what specifications need. Where sites have lists of their own, or follow the installation's, the
 * site gets a longer one; the two sites of the environment have none, so the installation's grows.
 */
export function withSpecifications(settings: Settings, { found }: SpecificationsInForce): Settings {
  if (found.length === 0) return settings;
  const { allowed_methods: methods, allowed_content_types: types } = settings;
  if (settings.sites.length === 0) {
    const wanted = wantedBy(found.map(({ model }) => model));
    return {
      ...settings,
      allowed_methods: union(methods, wanted.methods),
      allowed_content_types: union(types, wanted.types),
    };
  }
  const sites = settings.sites.map((site) => {
    const models = found.filter(({ entry }) => entry.site === site.name).map(({ model }) => model);
    if (models.length === 0) return site;
    const wanted = wantedBy(models);
    const own = site.allowed_methods ?? methods;
    const ownTypes = site.allowed_content_types ?? types;
    const [all, allTypes] = [union(own, wanted.methods), union(ownTypes, wanted.types)];
    return {
      ...site,
      allowed_methods: all.length === own.length ? site.allowed_methods : all,
      allowed_content_types: allTypes.length === ownTypes.length ? site.allowed_content_types : allTypes,
    };
  });
  return { ...settings, sites };
}

/** Where a site begins, without a slash at the end; the two of the environment as #proxy/contract makes them. */
export function sitePrefixOf(settings: Settings, site: string): string {
  const found = settings.sites.find(({ name }) => name === site);
  const prefix = found?.prefix ?? (site === 'payment' ? '/payment' : '/');
  return prefix.replace(/\/+$/, '');
}

const enforces = (action: SchemaAction, entry: Entry): boolean =>
  action !== 'ignore' || entry.operations.some((one) => one.action !== 'ignore');

/** What nodes get; specifications that enforce nothing stay at home. */
export function plansFor(settings: Settings, { found }: SpecificationsInForce): SchemaPlan[] {
  return found.flatMap(({ entry, model }) => {
    const action = entry.action ?? settings.schema_action;
    if (!enforces(action, entry)) return [];
    return [planOf(model, { entry, action, prefix: sitePrefixOf(settings, entry.site) })];
  });
}

/** Paths that the specifications declare to take GraphQL, whatever is enforced of them. */
export function graphqlDeclaredIn(settings: Settings, { found }: SpecificationsInForce): DeclaredGraphql[] {
  return found.flatMap(({ entry, model }) => {
    const prefix = sitePrefixOf(settings, entry.site);
    const paths = model.operations
      .filter((operation) => takesGraphql(operation, model))
      .flatMap((operation) => templatesOf(operation, entry.base_path, prefix))
      .filter((path) => !path.includes('{'));
    return [...new Set(paths)].map((path) => ({ site: entry.site, path }));
  });
}
