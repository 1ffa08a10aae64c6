// What the routes of specifications have in common: the document that was sent, and the site that is meant.
import { ApiError } from '../http-kit/index.js';
import type { SettingsWriter } from '../settings/change.js';
import type { Settings } from '#settings';
import { isObject, textOf, type SpecProblem } from './document/problem.js';
import { readSpecification, type Specification } from './document/read.js';

export type SpecParts = SettingsWriter;

export const tags = ['specifications'];

/** Where settings have no sites, those of the environment (#proxy/contract): the first is that of everything else. */
export const siteNames = ({ sites }: Pick<Settings, 'sites'>): string[] =>
  sites.length > 0 ? sites.map(({ name }) => name) : ['customer', 'payment'];

/** Throws `validation_failed`. */
export function requireSite(settings: Pick<Settings, 'sites'>, wanted: string | undefined): string {
  const names = siteNames(settings);
  const [only = ''] = names;
  if (wanted === undefined && (names.length === 1 || settings.sites.length === 0)) return only;
  if (wanted !== undefined && names.includes(wanted)) return wanted;
  const known = names.slice(0, 20).join(', ');
  const reason = wanted === undefined ? 'is missing, and there are several sites' : `names no site`;
  throw new ApiError('validation_failed', `The site ${reason}. Known are ${known}.`, {
    errors: [{ path: '/site', reason, fix: `write one of ${known}` }],
  });
}

interface Sent {
  readonly text: string;
  readonly site: string | undefined;
  readonly name: string | undefined;
}

/** The document itself, or `{"spec": text or object, "site", "name"}` around it. */
export function sentDocument(body: unknown): Sent {
  const none = { site: undefined, name: undefined };
  const text = typeof body === 'string' ? body : '';
  if (!/^\s*\{/.test(text)) return { text, ...none };
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || value['openapi'] !== undefined || value['swagger'] !== undefined) return { text, ...none };
    const { spec, site, name } = value;
    if (spec === undefined) return { text, ...none };
    const inner = typeof spec === 'string' ? spec : JSON.stringify(spec, null, 2);
    return { text: inner, site: textOf(site) || undefined, name: textOf(name) || undefined };
  } catch {
    return { text, ...none }; // the reader tells what is wrong, with the line
  }
}

/** Throws `unfit` with every problem. */
export function requireSpecification(text: string): Specification {
  const result = readSpecification(text);
  if (result.kind === 'read') return result.specification;
  throw refusalOf(result.problems);
}

/** `unfit` with every problem. */
export function refusalOf(problems: readonly SpecProblem[]): ApiError {
  const shown = problems.slice(0, 3).map(({ line, path, reason }) => `line ${line}: ${path || 'it'} ${reason}`);
  return new ApiError('unfit', `The specification was not taken: ${shown.join('; ')}.`, {
    errors: problems.map(({ path, line, reason, fix }) => ({ path, reason: `${reason} (line ${line})`, fix })),
  });
}
