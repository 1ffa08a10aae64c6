// The inventory and the specifications of this server's data plane, for the vulnerability manager.
import type { ApiPort } from '#vm-manager';
import type { Queryable } from '../../db/client.js';
import { selectBusiest, selectListed, selectPlaces, type Endpoint } from '../../inventory/store.js';
import { readDetail, toOperation } from './detail.js';
import { declaredOf, postureOf } from './posture.js';
import { knownHosts } from './hosts.js';
import type { ApisParts } from './parts.js';
import { createSpecifications } from './specifications.js';

const inOrder = (rows: readonly Endpoint[], wanted: readonly { site: string; method: string; template: string }[]) => {
  const keyOf = (one: { site: string; method: string; template: string }): string =>
    `${one.site}\n${one.method}\n${one.template}`;
  const byKey = new Map(rows.map((one) => [keyOf(one), one]));
  return wanted.flatMap((one) => byKey.get(keyOf(one)) ?? []);
};

const listedAtOnce = 1000;

async function listedOf(sql: Queryable, site: string, max: number) {
  const all: Awaited<ReturnType<typeof selectListed>> = [];
  while (all.length < max) {
    const last = all.at(-1);
    const count = Math.min(listedAtOnce, max - all.length);
    const rows = await selectListed(sql, site, [last?.method ?? '', last?.template ?? ''], count);
    for (const row of rows) all.push(row);
    if (rows.length < count) break;
  }
  return all;
}

export function createApis(parts: ApisParts): ApiPort {
  const { sql } = parts.database;
  return {
    operations: async (site, max) => (await selectBusiest(sql, site, max)).map(toOperation),
    listed: async (site, max) => listedOf(sql, site, max),
    described: async (places) => inOrder(await selectPlaces(sql, places), places).map(toOperation),
    detail: async (site, method, template) => readDetail(parts, { site, method, template }),
    declared: async (site) => declaredOf(parts, site),
    posture: async (site, gapsMax) => postureOf(parts, site, gapsMax),
    specifications: createSpecifications(parts),
    sites: async () => (await parts.currentSettings()).sites.map(({ name, host }) => ({ name, host })),
    hosts: async (max) => knownHosts(parts, max),
  };
}
