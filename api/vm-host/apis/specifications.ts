// Specifications as the vulnerability manager keeps and lints them: in the one store there is, never put in force.
import type { ApiGap, ApiPort, StoredSpecification } from '#vm-manager';
import { ApiError } from '../../http-kit/index.js';
import { lockSettings } from '../../settings/store.js';
import { moreRules, scanFurther } from '../../posture/scan/more-rules.js';
import { scanModel, scanRules } from '../../posture/scan/rules.js';
import { readText } from '../../spec/document/text.js';
import { requireSpecification } from '../../spec/requests.js';
import {
  findSpecification,
  keyText,
  listSpecifications,
  pruneSpecifications,
  specificationOf,
  storeSpecification,
  type SpecRow,
} from '../../spec/store.js';
import type { ApisParts } from './index.js';

const namesMax = 100;
const gapsMax = 10_000;

const namesOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));

function lint(body: string, sha256: string): ApiGap[] {
  const { model } = specificationOf({ sha256, body });
  const lineOf = readText(body).text?.lineOf ?? (() => 1);
  const found = [
    ...scanModel(model).map((one) => ({ ...one, ...scanRules[one.rule], severity: one.severity })),
    ...scanFurther(model).map((one) => ({ ...one, ...moreRules[one.rule] })),
  ];
  return found.slice(0, gapsMax).map(({ rule, severity, method, path, pointer, message, owasp, mend }) => ({
    ...{ rule, severity, method, template: path, pointer, message, owasp, mend },
    line: lineOf(namesOf(pointer)),
  }));
}

export function createSpecifications(parts: ApisParts): ApiPort['specifications'] {
  const { sql } = parts.database;
  const view = async (rows: readonly SpecRow[]): Promise<StoredSpecification[]> => {
    const named = new Set((await parts.currentSettings()).api_specs.map(keyText));
    return rows.map((row) => ({
      ...{ id: row.id, site: row.site, name: row.name, version: row.version, at: row.at, author: row.author },
      ...{ title: row.title, openapi: row.openapi, operations: row.operations, isInForce: named.has(keyText(row)) },
    }));
  };
  return {
    list: async (sites) => {
      if (sites === null) return view(await listSpecifications(sql));
      const wanted = new Set(sites);
      return view((await listSpecifications(sql)).filter(({ site }) => wanted.has(site)));
    },
    find: async (id) => {
      const row = await findSpecification(sql, id);
      return row === null ? null : ((await view([row]))[0] ?? null);
    },
    keep: async ({ site, name, text, author }) => {
      const specification = requireSpecification(text);
      const { row, created } = await sql.begin(async (tx) => {
        await lockSettings(tx);
        const names = new Set((await listSpecifications(tx, site)).map((one) => one.name));
        if (!names.has(name) && names.size >= namesMax)
          throw new ApiError('conflict', `There are ${namesMax} specifications of ${site}: use one of their names.`);
        const made = await storeSpecification(tx, {
          site,
          name,
          author,
          at: new Date(parts.now()),
          text,
          specification,
        });
        if (made.created) await pruneSpecifications(tx, site, name);
        return made;
      });
      const [kept] = await view([row]);
      return { specification: kept as StoredSpecification, created };
    },
    lint: async (id) => {
      const row = await findSpecification(sql, id);
      return row === null ? [] : lint(row.body, row.sha256);
    },
  };
}
