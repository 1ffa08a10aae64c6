// The core rule set of this machine: where it lies, what to tell of it, and taking another one into use. What is in use
// can change while the server runs (`bin/gatehouse rules`), so it is asked for whenever it is needed.
import { AsyncLocalStorage } from 'node:async_hooks';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  chooseRuleSet,
  currentRuleSet,
  listRuleSets,
  noticeOf,
  readRuleSetChoice,
  type RuleSetNotice,
} from '#compiler';
import type { Env } from '../env.js';

export interface RuleSets {
  /** null: there is none. */
  directory(): string | null;
  notice(): RuleSetNotice;
  /**
   * Takes one that is unpacked below the data directory into use for every compile from now on; returns what takes that
   * back. Throws Error with a message for people where that cannot be.
   */
  use(version: string): () => void;
  /**
   * Runs `work` as if that one were in use: for what it asks for itself, and for nobody else. Nothing is stored. Throws
   * as `use` does.
   */
  tryOut<T>(version: string, work: () => Promise<T>): Promise<T>;
}

const operatorsOwn = 'CRS_DIR names the rule set of this installation: change or unset it, and start again.';

/** One directory for good: tests, and CRS_DIR. */
export function fixedRuleSet(directory: string | null): RuleSets {
  return {
    directory: () => directory,
    notice: () => noticeOf(directory),
    use: () => {
      throw new Error(operatorsOwn);
    },
    tryOut: () => {
      throw new Error(operatorsOwn);
    },
  };
}

export function createRuleSets(env: Pick<Env, 'dataDirectory' | 'crsDirectory'>): RuleSets {
  if (env.crsDirectory !== null) return fixedRuleSet(env.crsDirectory);
  const data = resolve(env.dataDirectory);
  const tried = new AsyncLocalStorage<string>();
  const find = (version: string): { readonly directory: string; readonly newest: string } => {
    const present = listRuleSets(data);
    const found = present.find((one) => one.version === version);
    if (found !== undefined) return { directory: found.directory, newest: present[0]?.version ?? version };
    const versions = present.map((one) => one.version).join(', ');
    throw new Error(`There is no rule set ${version} below ${data}/crs (${versions}).`);
  };
  return {
    directory: () => tried.getStore() ?? currentRuleSet(data),
    notice: () => noticeOf(currentRuleSet(data)),
    tryOut: (version, work) => tried.run(find(version).directory, work),
    use(version) {
      const { newest } = find(version);
      const before = readRuleSetChoice(data) ?? { version: newest, by: 'release' as const };
      chooseRuleSet(data, { version, by: 'operator' });
      return () => chooseRuleSet(data, before);
    },
  };
}

/** The rule set of this machine; null when there is none. */
export async function findRuleSet(env: Pick<Env, 'dataDirectory' | 'crsDirectory'>): Promise<string | null> {
  const directory = createRuleSets(env).directory();
  return directory !== null && (await exists(join(directory, 'rules'))) ? directory : null;
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false, // absent or unreadable: both are no use
  );
}
