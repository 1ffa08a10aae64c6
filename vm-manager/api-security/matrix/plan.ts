// Which operations are asked, at which addresses. Only what the owner is shown, or what has no parameter, is asked: an
// identity is never guessed, so that nobody's object is come upon by chance.
import type { Attempt } from '../../exploit/attempt.js';
import { operationKey, type ApiPort } from '../../apis/port.js';
import { templateOf } from '../../dast/http/forms.js';
import { OperationIndex, pathOf, type Operation } from '../operations.js';

export const operationsMax = 300;
const listedMax = 5000;
const writing: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

export interface Planned {
  readonly method: string;
  readonly template: string;
  /** null: no address of it is known. */
  readonly url: string | null;
  readonly needsCredentials: boolean | null;
  /** Why it is not asked; empty: it is. */
  readonly why: string;
}

interface Known extends Pick<Operation, 'method' | 'template' | 'id'> {
  readonly needsCredentials: boolean | null;
}

async function knownOf(apis: ApiPort | undefined, site: string): Promise<Known[]> {
  if (apis === undefined) return [];
  const all = new Map<string, Known>();
  for (const one of await apis.declared(site))
    all.set(operationKey(one.method, one.template), { ...one, id: operationKey(one.method, one.template) });
  for (const { method, template } of await apis.listed(site, listedMax)) {
    const id = operationKey(method, template);
    if (!all.has(id)) all.set(id, { method, template, id, needsCredentials: null });
  }
  return [...all.values()];
}

/** Operations of the inventory, of specifications and of pages that the owner was shown; the safe ones first. */
export async function planOf(apis: ApiPort | undefined, site: string, attempt: Attempt): Promise<Planned[]> {
  const known = await knownOf(apis, site);
  const index = new OperationIndex(known);
  const { pages, forms } = await attempt.crawl('owner');
  const addresses = new Map<string, string>();
  const found = new Map<string, Known>(known.map((one) => [one.id, one]));
  for (const [url, { status }] of pages) {
    if (status >= 300) continue;
    const path = pathOf(url) ?? '/';
    const template = templateOf(path);
    const [id = operationKey('GET', template)] = index.find('GET', path);
    if (!found.has(id)) found.set(id, { method: 'GET', template, id, needsCredentials: null });
    if (!addresses.has(id)) addresses.set(id, url);
  }
  for (const { method, url, isProtected } of forms) {
    const template = templateOf(pathOf(url.replaceAll('{', '%7B').replaceAll('}', '%7D')) ?? '/');
    const id = operationKey(method, template);
    if (!found.has(id)) found.set(id, { method, template, id, needsCredentials: isProtected ?? null });
  }
  const { origin } = new URL(attempt.parts.plan.base);
  const planned = [...found.values()].map(({ method, template, id, needsCredentials }): Planned => {
    const url = addresses.get(id) ?? (template.includes('{') ? null : `${origin}${template}`);
    const at = { method, template, url, needsCredentials };
    if (writing.has(method)) return { ...at, why: 'it changes what the target stores' };
    if (method !== 'GET') return { ...at, why: 'it is no operation that gives something' };
    if (url === null) return { ...at, why: 'the first identity is shown no address of it' };
    const refusal = attempt.client.judge(url, 'GET');
    return { ...at, why: refusal === null ? '' : `the target does not allow it: ${refusal.replaceAll('_', ' ')}` };
  });
  return planned
    .sort((one, other) => Number(one.why !== '') - Number(other.why !== '') || (one.template < other.template ? -1 : 1))
    .slice(0, operationsMax);
}
