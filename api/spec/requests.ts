// What the routes of specifications have in common: the document that was sent, and the site that is meant.
import type { FastifyRequest } from 'fastify';
import type { Queryable } from '../db/client.js';
import { ApiError, requirePrincipal, type Principal } from '../http-kit/index.js';
import type { SettingsWriter } from '../settings/change.js';
import type { Settings } from '#settings';
import { findSpecification, isPlaceOfApplication, listOfSites, type SpecRow } from './store.js';

export type SpecParts = SettingsWriter;

export { sentDocument } from './document/sent.js';

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

/** Specifications of applications are in the same store; those without a right to all of it do not see them here. */
const seesApplications = (principal: Principal): boolean => principal.role === 'admin';

/** What GET /api/spec lists for somebody. */
export async function listFor(
  sql: Queryable,
  principal: Principal,
  asked: { readonly site?: string; readonly name?: string },
) {
  return listOfSites(sql, seesApplications(principal), asked);
}

/**
 * One stored version with its text. Throws `not_found`; also for one of an application of the vulnerability manager,
 * unless an administrator asks, who is never confined: /api/v1/api-security knows who reaches which application.
 */
export async function requireStored(
  sql: Queryable,
  request: FastifyRequest,
  id: number,
): Promise<SpecRow & { body: string }> {
  const row = await findSpecification(sql, id);
  if (row === null || (isPlaceOfApplication(row.site) && !seesApplications(requirePrincipal(request))))
    throw new ApiError('not_found', `There is no specification with the id ${id}.`);
  return row;
}
