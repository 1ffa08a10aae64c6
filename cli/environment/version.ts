// `gatehouse version`: which release this is, for people, installers and bug reports. It needs no
// `.env`, so it also works where nothing else does.
import { parseOptions } from '../command-line.js';
import { release } from './release.js';
import { wrongUsage } from '../refusal.js';

/** Prints `gatehouse 1.2.3`, or with --json an object of release, node, platform and arch. */
export async function runVersion(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions({
    args: [...args],
    allowPositionals: true,
    options: { json: { type: 'boolean' } },
  });
  if (positionals.length > 0) throw wrongUsage(`version takes --json or nothing; not ${positionals.join(' ')}.`);
  const { version: node, platform, arch } = process;
  console.log(
    values.json === true
      ? JSON.stringify({ release: release(), node: node.slice(1), platform, arch })
      : `gatehouse ${release()}`,
  );
  return 0;
}
