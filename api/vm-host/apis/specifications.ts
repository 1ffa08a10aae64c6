// Specifications as the vulnerability manager keeps and lints them: in the one store there is, never put in force.
import type { ApiPort, LintedSpecification, StoredSpecification } from '#vm-manager';
import { ApiError } from '../../http-kit/index.js';
import { lockSettings } from '../../settings/store.js';
import { refusalOf } from '../../spec/reading/read-there.js';
import {
  findSpecification,
  keyText,
  listNewest,
  listSpecifications,
  pageOfSites,
  pruneSpecifications,
  storeSpecification,
  type SpecificationHead,
  type SpecRow,
} from '../../spec/store.js';
import type { ApisParts } from './parts.js';
import { takeGaps } from './posture.js';
import { reading } from './reading/reading-thread.js';

const namesMax = 100;

const view = (row: SpecRow, inForce: ReadonlySet<string>): StoredSpecification => ({
  ...{ id: row.id, site: row.site, name: row.name, version: row.version, at: row.at, author: row.author },
  ...{ title: row.title, openapi: row.openapi, operations: row.operations, isInForce: inForce.has(keyText(row)) },
});

export function createSpecifications(parts: ApisParts): ApiPort['specifications'] {
  const { sql } = parts.database;
  const inForce = async () => new Set((await parts.currentSettings()).api_specs.map(keyText));
  return {
    list: async (sites, page) => {
      const named = await inForce();
      const { rows, total } = await pageOfSites(sql, sites, page);
      return { items: rows.map((row) => view(row, named)), total };
    },
    find: async (id) => {
      const row = await findSpecification(sql, id);
      return row === null ? null : view(row, await inForce());
    },
    read: async (text, site) =>
      reading.with(
        async (ask) => {
          const reply = await ask({ kind: 'read', text }, 'head', 'problems');
          if (reply.kind === 'problems') throw refusalOf(reply.problems);
          return { text, sha256: reply.head.sha256, head: reply.head };
        },
        { of: site },
      ),
    newestSame: async ({ site, name, read }) => {
      const [newest] = await listSpecifications(sql, site, name);
      return newest?.sha256 === read.sha256 ? view(newest, await inForce()) : null;
    },
    keep: async (tx, { site, name, author, read: { text, head } }) => {
      await lockSettings(tx);
      const names = new Set((await listNewest(tx, site, namesMax + 1)).map((one) => one.name));
      if (!names.has(name) && names.size >= namesMax)
        throw new ApiError('conflict', `There are ${namesMax} specifications of ${site}: use one of their names.`);
      const at = new Date(parts.now());
      const given = { site, name, author, at, text, head: head as SpecificationHead };
      const { row, created } = await storeSpecification(tx, given);
      if (created) await pruneSpecifications(tx, site, name);
      // what is new is named by no settings
      return { specification: view(row, new Set()), created };
    },
    lint: async (id, gapsMax): Promise<LintedSpecification> => {
      const row = await findSpecification(sql, id);
      if (row === null) return { high: 0, medium: 0, low: 0, total: 0, gaps: [] };
      return reading.with(
        async (ask) => {
          const { total, of } = await ask({ kind: 'lint', sha256: row.sha256, body: row.body }, 'count');
          return { ...of, total, gaps: await takeGaps(ask, total, gapsMax) };
        },
        { of: row.site },
      );
    },
  };
}
