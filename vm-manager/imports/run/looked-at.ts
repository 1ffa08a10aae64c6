// What a report has looked at, where it says so: the lack of a sighting proves nothing about the rest. A report of one
// host, of one kind of files or of one tool says nothing of those that another report of its scope was about.
import type { Queryable } from '../../database.js';
import type { ReportFacts } from '../record.js';

/** What is known of a sighting, without its finding's texts. */
export interface Sighted {
  readonly tool: string;
  readonly source: string;
  readonly rule_id: string;
  readonly path: string | null;
  readonly url: string | null;
  readonly address: string | null;
}

/** The import that saw it last. */
export interface SightedIn extends Sighted {
  readonly commit: string | null;
  readonly ran_at: Date | null;
}

export type By = 'host' | 'site' | 'source' | 'tool' | 'framework' | 'node';

export interface Looked {
  /** Which part of what can be looked at a sighting belongs to. */
  readonly by: By;
  /** Of the parts that the report has looked at; filled while it is read. */
  readonly names: Set<string>;
  /** The names are of results only: a report without results does not say what it is of. */
  readonly isOfResults?: boolean;
  /** Of a part that was looked at, whether this was (one port of a host, say). */
  readonly covers?: (sighted: Sighted) => boolean;
}

const authority = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(?:[^/?#@\s]*@)?(\[[^\]]*\]|[^:/?#\s]+)(?::(\d{1,5}))?/i;
const usualPorts = new Set(['80', '443']);

export interface Authority {
  readonly scheme: string;
  readonly host: string;
  /** '' where the address names none. */
  readonly port: string;
}
/** Of an address, or of `host:port`; null: it has none. */
export function authorityOf(url: string): Authority | null {
  const [whole, scheme = '', host = '', port = ''] = authority.exec(url.trim()) ?? [];
  return whole === undefined || host === ''
    ? null
    : { scheme: scheme.toLowerCase(), host: host.toLowerCase().replace(/\.$/, ''), port };
}

export const hostOf = (url: string): string | null => authorityOf(url)?.host ?? null;
/** Host and port; the ports of HTTP and HTTPS are one, as an application that gets HTTPS stays the same. */
export function siteOf(url: string): string | null {
  const found = authorityOf(url);
  if (found === null) return null;
  return found.port === '' || usualPorts.has(found.port) ? found.host : `${found.host}:${found.port}`;
}

/** Beginnings of the ids of Checkov's checks that are of one framework each, as `check_type` names it. */
const frameworkOfRule: readonly (readonly [RegExp, string])[] = [
  [/^CKV2?_DOCKER_/, 'dockerfile'],
  [/^CKV2?_GHA_/, 'github_actions'],
  [/^CKV2?_(?:GITLABCI|GITLAB_CI)_/, 'gitlab_ci'],
  [/^CKV2?_AZUREPIPELINES_/, 'azure_pipelines'],
  [/^CKV2?_CIRCLECIPIPELINES_/, 'circleci_pipelines'],
  [/^CKV2?_BITBUCKETPIPELINES_/, 'bitbucket_pipelines'],
  [/^CKV2?_ARGO_/, 'argo_workflows'],
  [/^CKV2?_OPENAPI_/, 'openapi'],
  [/^CKV2?_ANSIBLE_/, 'ansible'],
  [/^CKV_SECRET_/, 'secrets'],
  [/^CVE-|^GHSA-|^BC_(?:CVE|VUL)_/, 'sca_package'],
  [/^CKV2?_K8S_/, 'kubernetes'],
];
const frameworkOfFile: readonly (readonly [RegExp, string])[] = [
  [/\.tf(?:vars)?(?:\.json)?$/i, 'terraform'],
  [/\.bicep$/i, 'bicep'],
  [/(?:^|\/)[^/]*dockerfile[^/]*$/i, 'dockerfile'],
  [/(?:^|\/)serverless\.ya?ml$/i, 'serverless'],
];
/** Frameworks whose checks have the same ids are one. */
export const frameworkNamed = (checkType: string): string =>
  /^(?:helm|kustomize)$/.test(checkType)
    ? 'kubernetes'
    : checkType.startsWith('sca_')
      ? 'sca_package'
      : checkType.replace(/^terraform_\w+$/, 'terraform');

/** By the check, else by the file; templates of several frameworks have one form, of which nothing is told. */
const frameworkOf = ({ rule_id: rule, path }: Sighted): string | null =>
  frameworkOfRule.find(([form]) => form.test(rule))?.[1] ??
  frameworkOfFile.find(([form]) => form.test(path ?? ''))?.[1] ??
  null;

const partOf: Readonly<Record<By, (sighted: Sighted) => string | null>> = {
  host: ({ url }) => (url === null ? null : hostOf(url)),
  site: ({ url }) => (url === null ? null : siteOf(url)),
  source: ({ source }) => source,
  tool: ({ tool }) => tool,
  framework: frameworkOf,
  node: ({ address }) => (address === null || !address.includes('/') ? null : (address.split('/')[0] ?? null)),
};

/** Whether the sighting is of a part that is none of these; what belongs to no part is of all. */
export function isOfAnother({ by, names }: Pick<Looked, 'by'> & { names: ReadonlySet<string> }, sighted: Sighted) {
  const part = partOf[by](sighted);
  return part !== null && !names.has(part);
}

/** Whether the report proves, by its silence, that the sighting is gone. */
export function wasLookedAt({ complete, inventory, looked }: ReportFacts, sighted: Sighted): boolean {
  const { path } = sighted;
  if (!complete || (inventory !== null && path !== null && !inventory.has(path))) return false;
  if (looked === undefined || looked === null) return true;
  return !isOfAnother(looked, sighted) && (looked.covers?.(sighted) ?? true);
}

/**
 * Who reads a report without results that names nothing it looked at has to go by what was seen before: where that is
 * of one part alone (one host, one tool), the report is of it, too; else it proves nothing.
 */
export async function settleParts(sql: Queryable, scopeKey: string, { looked }: ReportFacts): Promise<void> {
  if (looked === undefined || looked === null || looked.isOfResults !== true || looked.names.size > 0) return;
  const rows = await sql<Sighted[]>`
    select distinct o.tool, f.source, '' as rule_id, null as path, o.location ->> 'url' as url, null as address
    from vm_occurrences o join vm_findings f on f.id = o.finding_id
    where o.scope_key = ${scopeKey} and o.gone_at is null limit 10000`;
  const parts = new Set(rows.map((row) => partOf[looked.by](row)));
  const [only] = parts;
  if (parts.size === 1 && only !== undefined && only !== null) looked.names.add(only);
}

const namesMax = 1000;

/** As a run keeps it, for gates; null: it says nothing, or names too many. */
export const keptParts = ({ looked }: ReportFacts): { by: By; names: string[] } | null =>
  looked === undefined || looked === null || looked.names.size > namesMax
    ? null
    : { by: looked.by, names: [...looked.names] };
