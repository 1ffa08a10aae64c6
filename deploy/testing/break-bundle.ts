// A release that never is healthy, of one that is: `node build/deploy/testing/break-bundle.js BUNDLE OUT VERSION KEY`.
// Its programs end at once; it is signed like any other.
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathsBelow, sha256File } from '../release/archives.js';
import { run } from '../release/commands.js';
import { packageFileName } from '../release/debian-package.js';
import { minisign, openReleaseKey } from '../release/signature.js';

const [from = '', out = '', version = '', keyFile = ''] = process.argv.slice(2);
const { key } = openReleaseKey(keyFile);
mkdirSync(out, { recursive: true });
const packed = readdirSync(from).find((name) => /^gatehouse_.*\.deb$/.test(name)) ?? '';
for (const name of readdirSync(from))
  if (name !== packed && !name.startsWith('SHA256SUMS') && name !== 'images')
    cpSync(join(from, name), join(out, name), { recursive: true });
const content = join(out, 'content');
run('dpkg-deb', ['-R', join(from, packed), content]);
writeFileSync(join(content, 'usr/lib/gatehouse/bin/gatehouse'), 'process.exit(1);\n');
run('dpkg-deb', ['-Znone', '--root-owner-group', '-b', content, join(out, packageFileName(version))]);
rmSync(content, { recursive: true });
const release = readFileSync(join(out, 'RELEASE'), 'utf8')
  .replace(/^version=.*$/m, `version=${version}`)
  .replace(/^package=.*$/m, `package=${packageFileName(version)}`);
writeFileSync(join(out, 'RELEASE'), release);
const files = pathsBelow(out).filter((path) => statSync(join(out, path)).isFile());
const sums = Buffer.from(files.map((path) => `${sha256File(join(out, path))}  ${path}\n`).join(''));
writeFileSync(join(out, 'SHA256SUMS'), sums);
writeFileSync(join(out, 'SHA256SUMS.minisig'), minisign(key, sums, `gatehouse ${version}`));
