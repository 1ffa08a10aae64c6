// The rule sets below a data directory and the one in use: whoever compiles (`up`, the commands, the control plane)
// asks here, so that all of them take the same. `crs/<version>/` is an unpacked rule set, `crs/current.json` names the
// one in use; without it the newest is.
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { supportedVersionIn } from '../policy/crs.js';
import { diskReader } from './disk-reader.js';

/** Who decided: `release` follows the version that this release of Gatehouse pins, the others stay. */
export type RuleSetChooser = 'release' | 'fallback' | 'operator';

export interface RuleSetChoice {
  readonly version: string;
  readonly by: RuleSetChooser;
}

export interface UnpackedRuleSet {
  readonly version: string;
  readonly directory: string;
}

const folderOf = (data: string): string => join(data, 'crs');
const choiceFile = (data: string): string => join(folderOf(data), 'current.json');
const isVersion = (name: string): boolean => /^\d+\.\d+\.\d+$/.test(name);

/** Where the rule set of a version lies, whether or not it is there. */
export const ruleSetFolder = (data: string, version: string): string => join(folderOf(data), version);

/** The rule sets that the settings support, newest first. */
export function listRuleSets(data: string): UnpackedRuleSet[] {
  const folder = folderOf(data);
  const names = existsSync(folder) ? readdirSync(folder).filter(isVersion) : [];
  return names
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    .map((version) => ({ version, directory: join(folder, version) }))
    .filter(({ directory }) => supportedVersionIn(directory, diskReader) !== null);
}

/** What was chosen; null where nothing was, and where the choice is not there any more or cannot be read. */
export function readRuleSetChoice(data: string): RuleSetChoice | null {
  const file = choiceFile(data);
  if (!existsSync(file)) return null;
  try {
    const { version, by } = JSON.parse(readFileSync(file, 'utf8')) as Partial<RuleSetChoice>;
    if (typeof version !== 'string' || !isVersion(version)) return null;
    if (!existsSync(join(ruleSetFolder(data, version), 'rules'))) return null;
    return { version, by: by === 'operator' || by === 'fallback' ? by : 'release' };
  } catch (error) {
    if (error instanceof SyntaxError) return null; // cut short by a power cut: the newest serves
    throw error;
  }
}

/** Written whole or not at all. */
export function chooseRuleSet(data: string, choice: RuleSetChoice): void {
  const file = choiceFile(data);
  mkdirSync(folderOf(data), { recursive: true });
  writeFileSync(`${file}.part`, `${JSON.stringify(choice)}\n`);
  renameSync(`${file}.part`, file);
}

/** The directory of the rule set in use; null: there is none. */
export function currentRuleSet(data: string): string | null {
  const choice = readRuleSetChoice(data);
  return choice === null ? (listRuleSets(data)[0]?.directory ?? null) : ruleSetFolder(data, choice.version);
}

/** What to tell of a rule set: its version, and what would be better. */
export interface RuleSetNotice {
  /** By its signature; null: there is none that the settings support. */
  readonly version: string | null;
  /** null: it is the recommended one or a newer one. */
  readonly recommended: string | null;
  readonly how: string | null;
}

const lockFile = new URL('../../../fixtures/crs.lock.json', import.meta.url); // from build/compiler/disk

/** The version that this release is tested with (fixtures/crs.lock.json). */
export function recommendedVersion(): string {
  return (JSON.parse(readFileSync(lockFile, 'utf8')) as { readonly version: string }).version;
}

/** `directory` null: there is no rule set. */
export function noticeOf(directory: string | null): RuleSetNotice {
  const version = directory === null ? null : supportedVersionIn(directory, diskReader);
  const recommended = recommendedVersion();
  const isFine = version !== null && version.localeCompare(recommended, 'en', { numeric: true }) >= 0;
  return isFine
    ? { version, recommended: null, how: null }
    : { version, recommended, how: 'bin/gatehouse rules update' };
}

/** `CRS 3.3.4; 4.25.1 recommended: bin/gatehouse rules update`. */
export function formatNotice({ version, recommended, how }: RuleSetNotice): string {
  const name = version === null ? 'no rule set' : `CRS ${version}`;
  return recommended === null ? name : `${name}; ${recommended} recommended: ${how}`;
}
