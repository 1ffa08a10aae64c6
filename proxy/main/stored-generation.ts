// `current.json`: what served last, read again at a start.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../contract/errors.js';
import { checkGenerationRequest } from '../contract/check-generation.js';
import { defaultLimits, defaultTimeouts, type ProxyConfig } from '../contract/index.js';
import type { GenerationPayload } from '../worker/messages.js';
import { sha256Of, toShared } from './artifacts.js';
import { localRulesServe, withLocalRules } from './payloads.js';

/** What `current.json` holds: enough to serve again with nothing else alive. */
export interface StoredGeneration {
  readonly id: number;
  readonly sha256: string;
  readonly selfTest: 'inspect' | 'skip';
  readonly config: ProxyConfig;
}

/** Limits that an older release did not know take their defaults: an update must not cost what served before it. */
function withDefaults(stored: StoredGeneration): StoredGeneration {
  const { config } = stored;
  return {
    ...stored,
    config: {
      ...config,
      limits: { ...defaultLimits, ...config.limits },
      timeouts: { ...defaultTimeouts, ...config.timeouts },
    },
  };
}

/**
 * The last active generation; 'none' before the first; 'unreadable' when there was one and nobody knows what it was.
 * Rules that are gone or damaged are replaced by those of `local`. `onProblem` hears of both; `whenUnreadable` says
 * what follows.
 */
export async function loadStored(
  dataDir: string,
  local: GenerationPayload,
  whenUnreadable: string,
  onProblem: (message: string) => void,
): Promise<GenerationPayload | 'none' | 'unreadable'> {
  const path = join(dataDir, 'current.json');
  let stored: StoredGeneration;
  try {
    stored = withDefaults(JSON.parse(await readFile(path, 'utf8')) as StoredGeneration);
    const problems = checkGenerationRequest({
      id: stored.id,
      sha256: stored.sha256,
      artifactPath: '',
      config: stored.config,
    });
    if (problems.length > 0) throw new Error(problems.map(({ path: at, message }) => `${at} ${message}`).join('; '));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'none';
    onProblem(`${path}, what served last, cannot be used (${messageOf(error)}); ${whenUnreadable}`);
    return 'unreadable';
  }
  try {
    const bytes = stored.sha256 === '' ? null : await readFile(join(dataDir, 'artifacts', stored.sha256));
    if (bytes !== null && sha256Of(bytes) !== stored.sha256) throw new Error('its artifact is damaged');
    return {
      id: stored.id,
      sha256: stored.sha256,
      artifact: bytes === null ? null : toShared(bytes),
      config: stored.config,
      selfTest: stored.selfTest,
    };
  } catch (error) {
    onProblem(`the rules that ${path} names cannot be used (${messageOf(error)}); ${localRulesServe}`);
    return withLocalRules(stored, local);
  }
}
