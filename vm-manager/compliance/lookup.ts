// Which control or framework a call names.
import type { FirewallAnswers } from '../host.js';
import { notFound, type Call } from '../kit/endpoint.js';
import { catalogueWith, findControl, type Framework } from './catalogue.js';

export const answersOf = async ({ host }: Call): Promise<FirewallAnswers | null> =>
  (await host.firewallAnswers?.()) ?? null;
export const catalogueOf = async (call: Call): Promise<readonly Framework[]> => catalogueWith(await answersOf(call));

/** Throws 404 for a control that no framework has. */
export async function requireControl(call: Call) {
  const key = call.params['id'] ?? '';
  const found = findControl(await catalogueOf(call), key);
  if (found === null) throw notFound('control', key.slice(0, 60));
  return found;
}
