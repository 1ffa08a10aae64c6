// What specifications declare: those that the saved settings name (api_specs), so that the inventory knows them from
// the moment on when somebody uploads one.
import { segmentsOf } from '#proxy/contract';
import type { Settings } from '#settings';
import type { Queryable } from '../db/client.js';
import { readHead } from '../settings/store.js';
import { sitePrefixOf } from '../change/steps/specifications.js';
import { templatesOf } from '../spec/plan.js';
import { readableSpecification } from '../spec/reading/read-there.js';
import { findVersion } from '../spec/store.js';
import type { DeclaredOperation } from './fold.js';

type Entry = Settings['api_specs'][number];

export interface Declarations {
  /** Another text when the site's operations may be others; '' while it has none. */
  keyOf(site: string): string;
  /** Operations of all specifications of a site; empty: it has none. */
  operationsOf(site: string): Promise<readonly DeclaredOperation[]>;
}

/** Those of this moment. A version that is not stored any more declares nothing. */
export async function readDeclarations(sql: Queryable): Promise<Declarations> {
  const { settings } = await readHead(sql);
  const entriesOf = (site: string): readonly Entry[] => settings.api_specs.filter((entry) => entry.site === site);
  return {
    keyOf(site) {
      const prefix = sitePrefixOf(settings, site);
      return entriesOf(site)
        .map((entry) => JSON.stringify([entry.name, entry.version, entry.base_path, prefix]))
        .join('\n');
    },
    async operationsOf(site) {
      const prefix = sitePrefixOf(settings, site);
      const lists = await Promise.all(entriesOf(site).map((entry) => operationsOf(sql, entry, prefix)));
      return lists.flat();
    },
  };
}

async function operationsOf(sql: Queryable, entry: Entry, prefix: string): Promise<DeclaredOperation[]> {
  const row = await findVersion(sql, entry);
  const read = row === null ? null : await readableSpecification(row);
  if (read === null) return [];
  return read.model.operations.flatMap((operation) =>
    templatesOf(operation, entry.base_path, prefix).map((template) => ({
      method: operation.method,
      template,
      segments: segmentsOf(template),
    })),
  );
}
