// Addresses that somebody sends for the deny list.
import { setImmediate as turn } from 'node:timers/promises';
import { isHeldBy, readAddress } from '../addresses/address.js';
import type { Actor, ProblemField } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { parseNetworks } from './list-text.js';
import { addDenials, measureChunk, settleMeasures, type NewDenials } from '../measures/store.js';

export interface GivenList {
  readonly networks: readonly string[];
  /** With the place of each wrong entry in the request. */
  readonly problems: readonly ProblemField[];
}

export async function readGivenList(text: string, addresses: readonly string[]): Promise<GivenList> {
  const [fromText, fromList] = [await parseNetworks(text), await parseNetworks(addresses)];
  const describe = (entry: { readonly text: string; readonly reason: string }): string =>
    `${JSON.stringify(entry.text)} ${entry.reason}`;
  return {
    networks: [...new Set([...fromText.networks, ...fromList.networks])],
    problems: [
      ...fromText.problems.map((one) => ({ path: `/text line ${one.entry}`, reason: describe(one) })),
      ...fromList.problems.map((one) => ({ path: `/addresses/${one.entry - 1}`, reason: describe(one) })),
    ],
  };
}

/** The first of canonical networks that holds this address. */
export function findCovering(networks: readonly string[], ip: string): string | undefined {
  const address = readAddress(ip);
  return address === null ? undefined : networks.find(isHeldBy(address));
}

/** Some 10 ms. */
const slice = 5000;

/** The same of up to a million of them, between which others have their turn. */
export async function findCoveringOfMany(networks: readonly string[], ip: string): Promise<string | undefined> {
  for (let at = 0; at < networks.length; at += slice) {
    const found = findCovering(networks.slice(at, at + slice), ip);
    if (found !== undefined) return found;
    if (at + slice < networks.length) await turn();
  }
  return undefined;
}

/**
 * Part by part, so that the others of the embedded database's one connection get their turn. The entry of the audit log
 * comes with the first part: nobody is ever denied without one, and what an interruption left out can be sent again.
 */
export async function importDenials(
  { database, audit }: Pick<Parts, 'database' | 'audit'>,
  actor: Actor,
  given: NewDenials,
  now: Date,
): Promise<number> {
  const { subjects: networks, reason } = given;
  const what = networks.length === 1 ? networks[0] : `${networks.length} addresses and networks`;
  let added = 0;
  for (let at = 0; at < networks.length; at += measureChunk) {
    added += await database.sql.begin(async (tx) => {
      const fresh = await addDenials(tx, { ...given, subjects: networks.slice(at, at + measureChunk) }, now);
      if (at === 0)
        await audit.record(tx, {
          actor,
          action: 'threat.add',
          summary: `blocked ${what}${reason === '' ? '' : `: ${reason}`}`,
          details: { networks: networks.slice(0, 20) },
        });
      return fresh;
    });
  }
  await settleMeasures(database.sql, networks.length);
  return added;
}
