// Where the rule set lies that tests of whole corpora compile: every one of them takes the same.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '#cli/environment/directories';

/** CRS_DIR, else the newest below data/crs; null = none is unpacked. */
export function findCrs(): string | null {
  const below = join(root, 'data/crs');
  const unpacked = existsSync(below)
    ? readdirSync(below)
        .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
        .map((name) => join(below, name))
    : [];
  const candidates = [process.env['CRS_DIR'] ?? '', ...unpacked];
  return (
    candidates.find(
      (candidate) => candidate !== '' && existsSync(join(candidate, 'rules/REQUEST-901-INITIALIZATION.conf')),
    ) ?? null
  );
}
