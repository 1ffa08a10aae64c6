// What a compile begins with: settings and the rule set, rule files, and where the compiler finds what they include.
import { join } from 'node:path';
import {
  currentRuleSet,
  diskReader,
  loadCoreRuleSet,
  renderPolicy,
  resolvePolicy,
  type Diagnostic,
  type SourceReader,
  type SourceText,
} from '#compiler';
import { defaultSettings } from '#settings';
import { dataDirectory } from '../environment/directories.js';
import { readSettings } from '../local-settings/settings-file.js';
import { Refusal } from '../refusal.js';
import { expandRules } from './load-rules.js';

/** The rule set to use: the argument, CRS_DIR, or the one in use below data/crs, which is what `up` takes. */
function findCrsDirectory(given: string | undefined): string {
  const named = given ?? process.env['CRS_DIR'];
  if (named !== undefined && named !== '') return named;
  const found = currentRuleSet(dataDirectory());
  if (found === null)
    throw new Refusal('There is no rule set: run `bin/gatehouse rules update`, set CRS_DIR, or give --crs DIR.');
  return found;
}

/** `unicode.mapping` is found wherever set-up put it. */
export function readerWithMapping(): SourceReader {
  const named = process.env['GATEHOUSE_UNICODE_MAPPING'] ?? '';
  const mapping = named === '' ? join(dataDirectory(), 'crs/unicode.mapping') : named;
  return {
    ...diskReader,
    read: (path) => diskReader.read(path) ?? (path === 'unicode.mapping' ? diskReader.read(mapping) : null),
  };
}

export interface PolicySources {
  /** null when the settings cannot be used. */
  readonly sources: readonly (SourceText | string)[] | null;
  readonly diagnostics: readonly Diagnostic[];
}

export interface SourceChoice {
  readonly settings: string | undefined;
  readonly rules: readonly string[];
  readonly crs: string | undefined;
}

/** Settings (or, without --rules, the defaults) first, then the rule files in the order given. */
export function gatherSources({ settings, rules, crs }: SourceChoice, reader: SourceReader): PolicySources {
  const files = expandRules(rules);
  if (settings === undefined && files.length > 0) return { sources: files, diagnostics: [] };
  const ruleSet = loadCoreRuleSet(findCrsDirectory(crs), reader);
  if (ruleSet.crs === null) return { sources: null, diagnostics: ruleSet.diagnostics };
  const chosen =
    settings === undefined
      ? defaultSettings()
      : readSettings(settings, (note) => console.error(`note: ${note}`), 'compile');
  const resolved = resolvePolicy(chosen, ruleSet.crs);
  return {
    sources: resolved.policy === null ? null : [...renderPolicy(resolved.policy), ...files],
    diagnostics: resolved.diagnostics,
  };
}
