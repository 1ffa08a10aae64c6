// Where the rule set lies that tests of whole corpora compile: every one of them takes the same.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '#cli/environment/directories';
import { diskReader } from '../disk/disk-reader.js';
import { currentRuleSet, listRuleSets } from '../disk/rule-sets.js';
import { supportedVersionIn } from '../policy/crs.js';

const data = join(root, 'data');

/** CRS_DIR, else the one in use below data/crs, of either generation; null = none is unpacked. */
export function findCrs(): string | null {
  const named = process.env['CRS_DIR'] ?? '';
  return named !== '' && existsSync(join(named, 'rules')) ? named : currentRuleSet(data);
}

/** Of one generation (`4` or `3.3`): CRS_DIR or one below data/crs; null = there is none. */
export function findCrsOf(generation: '4' | '3.3'): string | null {
  const named = process.env['CRS_DIR'] ?? '';
  const places = [...(named === '' ? [] : [named]), ...listRuleSets(data).map(({ directory }) => directory)];
  return places.find((place) => supportedVersionIn(place, diskReader)?.startsWith(`${generation}.`) === true) ?? null;
}

/** Why a test that needs version 4 is skipped; false: it is there. */
export const withoutVersion4: string | false =
  findCrsOf('4') === null ? 'needs OWASP CRS v4: `bin/gatehouse rules update`, or CRS_DIR' : false;
