// The stand-in for a container engine as a program on the search path.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const program = join(import.meta.dirname, 'stand-in-docker.js');

/** Writes the program `docker` into a directory; what it remembers lies in `state`. */
export function makeEngine(directory: string, state: string): void {
  const command = `exec "${process.execPath}" "${program}" "${state}" "$GATEHOUSE_VERSION" "$@"`;
  writeFileSync(join(directory, 'docker'), `#!/bin/sh\n${command}\n`, { mode: 0o755 });
}
