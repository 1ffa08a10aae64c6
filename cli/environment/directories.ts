// Where commands keep what they may throw away.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's root: this file runs from build/compiler/cli/. */
export const projectRoot = join(fileURLToPath(new URL('.', import.meta.url)), '../../..');

/**
 * Compiled Hyperscan databases by content; GATEHOUSE_DATA moves it with everything else that is written at run time.
 */
export function automataCacheDirectory(): string {
  return join(process.env.GATEHOUSE_DATA ?? join(projectRoot, 'data'), 'cache/automata');
}
