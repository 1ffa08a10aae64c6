// Databases that are texts: dpkg (Debian, Ubuntu) and apk (Alpine, Wolfi).
import { blocksOf, installedMax, type Installed } from './database.js';

/** var/lib/dpkg/status; in status.d of distroless images there is no state, and what is listed is installed. */
export function readDpkg(text: string, hasStates: boolean): Installed[] {
  const found: Installed[] = [];
  for (const block of blocksOf(text)) {
    const name = block.get('Package') ?? '';
    const version = block.get('Version') ?? '';
    if (name === '' || version === '') continue;
    if (hasStates && block.get('Status')?.endsWith(' installed') !== true) continue;
    // `openssl (3.0.11-1)`: advisories name the source and its version
    const [, source = '', sourceVersion = ''] = /^(\S+)(?:\s+\((\S+)\))?/.exec(block.get('Source') ?? '') ?? [];
    found.push({ name, version, arch: block.get('Architecture') ?? '', source, sourceVersion });
    if (found.length > installedMax) throw new Error(`lists more than ${installedMax} packages`);
  }
  return found;
}

/** lib/apk/db/installed: P name, V version, A architecture, o origin. */
export function readApk(text: string): Installed[] {
  const found: Installed[] = [];
  for (const block of blocksOf(text)) {
    const name = block.get('P') ?? '';
    const version = block.get('V') ?? '';
    if (name === '' || version === '') continue;
    found.push({ name, version, arch: block.get('A') ?? '', source: block.get('o') ?? '', sourceVersion: version });
    if (found.length > installedMax) throw new Error(`lists more than ${installedMax} packages`);
  }
  return found;
}
