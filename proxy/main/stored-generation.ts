// `current.json`: what served last, read again at a start.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../contract/errors.js';
import { checkGenerationRequest } from '../contract/check-generation.js';
import type { ProxyConfig } from '../contract/index.js';
import type { GenerationPayload } from '../worker/messages.js';
import { sha256Of, toShared } from './artifacts.js';

/** What `current.json` holds: enough to serve again with nothing else alive. */
export interface StoredGeneration {
  readonly id: number;
  readonly sha256: string;
  readonly selfTest: 'inspect' | 'skip';
  readonly config: ProxyConfig;
}

/** What is there of what served last; `problem` is a sentence without its end, for people. */
export type Found =
  | { readonly kind: 'whole'; readonly payload: GenerationPayload }
  /** Before the first. */
  | { readonly kind: 'none' }
  /** There was one, and nobody knows what it was. */
  | { readonly kind: 'unreadable'; readonly problem: string }
  /** Its sites, gates and limits are known; its artifact is gone or damaged. */
  | { readonly kind: 'no rules'; readonly stored: StoredGeneration; readonly problem: string };

/** Reads `current.json` and the artifact that it names. Never rejects. */
export async function loadStored(dataDir: string): Promise<Found> {
  const path = join(dataDir, 'current.json');
  let stored: StoredGeneration;
  try {
    stored = JSON.parse(await readFile(path, 'utf8')) as StoredGeneration;
    // what an older release did not know gets its default there: an update must not cost what served before it
    const problems = checkGenerationRequest({
      id: stored.id,
      sha256: stored.sha256,
      artifactPath: '',
      config: stored.config,
    });
    if (problems.length > 0) throw new Error(problems.map(({ path: at, message }) => `${at} ${message}`).join('; '));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { kind: 'none' };
    return { kind: 'unreadable', problem: `${path}, what served last, cannot be used (${messageOf(error)})` };
  }
  try {
    const bytes = stored.sha256 === '' ? null : await readFile(join(dataDir, 'artifacts', stored.sha256));
    if (bytes !== null && sha256Of(bytes) !== stored.sha256) throw new Error('its artifact is damaged');
    const { id, sha256, config, selfTest } = stored;
    return {
      kind: 'whole',
      payload: { id, sha256, artifact: bytes === null ? null : toShared(bytes), config, selfTest },
    };
  } catch (error) {
    return { kind: 'no rules', stored, problem: `the rules that ${path} names cannot be used (${messageOf(error)})` };
  }
}
