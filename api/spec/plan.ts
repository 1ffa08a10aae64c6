// A specification → what a node enforces of it, under one entry of the settings (api_specs).
import type { PlannedOperation, SchemaAction, SchemaPlan } from '#proxy/contract';
import type { Settings } from '#settings';
import type { ApiModel, ApiOperation } from './document/model.js';

export interface PlanOptions {
  readonly entry: Pick<
    Settings['api_specs'][number],
    'site' | 'name' | 'base_path' | 'response_action' | 'unknown_paths' | 'operations'
  >;
  readonly action: SchemaAction;
  /** Of the site, without a slash at its end; '' for the root. */
  readonly prefix: string;
}

const isUnder = (path: string, prefix: string): boolean => path === prefix || path.startsWith(`${prefix}/`);

/**
 * Whole paths as clients send them. Servers of a document name the public address as a rule, which has the prefix of
 * the site in it; where they do not, the document speaks of what is below the prefix.
 */
export function templatesOf(
  operation: Pick<ApiOperation, 'basePaths' | 'path'>,
  basePath: string | null,
  prefix: string,
): string[] {
  const bases = basePath === null ? operation.basePaths : [basePath.replace(/\/+$/, '')];
  return [
    ...new Set(bases.map((base) => (prefix === '' || isUnder(base, prefix) ? base : prefix + base) + operation.path)),
  ];
}

function actionOf({ method, path }: ApiOperation, wanted: PlanOptions['entry']['operations']): SchemaAction | null {
  const own = wanted.find((one) => one.path === path && one.method === method);
  return (own ?? wanted.find((one) => one.path === path && one.method === '*'))?.action ?? null;
}

export function planOf(model: ApiModel, { entry, action, prefix }: PlanOptions): SchemaPlan {
  const operations = model.operations.map(
    (one): PlannedOperation => ({
      method: one.method,
      templates: templatesOf(one, entry.base_path, prefix),
      action: actionOf(one, entry.operations),
      parameters: one.parameters,
      body: one.body,
      responses: one.responses,
    }),
  );
  return {
    name: entry.name,
    site: entry.site,
    action,
    responseAction: entry.response_action,
    unknownPaths: entry.unknown_paths,
    operations,
    definitions: model.definitions,
  };
}
