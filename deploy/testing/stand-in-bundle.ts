// Bundles for tests of the installer: signed and packed like a release, with a program in it that listens, backs up
// and restores in a few milliseconds. The real program is tested where it is made; here it is about the installer.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sha256File } from '../release/archives.js';
import { packageFileName, units } from '../release/debian-package.js';
import { minisign, minisignPublicKey, type ReleaseKey } from '../release/signature.js';

export const checkout = join(import.meta.dirname, '../../..');

/** Serves, or with `isBroken` answers 503 on every port; either way it notes in the database that it was there. */
const programOf = (version: string, isBroken: boolean, attack: number): string => `
import { createServer } from 'node:http';
import { appendFileSync, copyFileSync, existsSync, readFileSync } from 'node:fs';
const [command, ...args] = process.argv.slice(2);
const data = process.env.GATEHOUSE_DATA + '/database';
const settings = readFileSync(process.env.GATEHOUSE_ENV_FILE, 'utf8');
const port = (name) => Number(new RegExp('^(?:export )?' + name + ' *= *["\\']?(\\\\d+)', 'm').exec(settings)[1]);
if (command === 'backup') copyFileSync(data, args[args.indexOf('--to') + 1]);
else if (command === 'restore') copyFileSync(args[0], data);
else if (command === 'up') {
  if (!existsSync(data) || !readFileSync(data, 'utf8').includes('${version}\\n')) appendFileSync(data, '${version}\\n');
  for (const name of ['WAF_PORT', 'UI_PORT', 'API_PORT', 'GATEHOUSE_ADMIN_PORT'])
    createServer((request, answer) => {
      answer.statusCode = ${isBroken} ? 503 : request.url.includes('OR') ? ${attack} : 200;
      answer.setHeader('x-release', '${version}');
      answer.end();
    }).listen(port(name), '127.0.0.1');
  process.once('SIGTERM', () => process.exit(0));
} else process.exit(2);
`;

export interface BundleOptions {
  readonly version: string;
  readonly key: ReleaseKey;
  readonly isBroken?: boolean;
  /** What it answers an attack: 200 where an operator has chosen to only watch. */
  readonly attack?: number;
}

function write(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
}

/** Makes a bundle as the directory `at`. */
export function makeBundle(at: string, { version, key, isBroken = false, attack = 403 }: BundleOptions): void {
  const content = join(at, '../content');
  rmSync(content, { recursive: true, force: true });
  const home = join(content, 'usr/lib/gatehouse');
  write(join(home, 'bin/gatehouse'), programOf(version, isBroken, attack));
  write(join(home, 'package.json'), '{"type":"module"}');
  write(join(home, 'seed/version'), version);
  write(join(home, `seed/artifacts/${version}`), 'rules');
  mkdirSync(join(home, 'runtime'), { recursive: true });
  symlinkSync(process.execPath, join(home, 'runtime/node'));
  copyFileSync(join(checkout, '.env.example'), join(home, '.env.example'));
  copyFileSync(join(checkout, 'deploy/native/prepare-host.sh'), join(home, 'bin/prepare-host'));
  write(join(content, 'usr/bin/gatehouse'), readFileSync(join(checkout, 'deploy/native/gatehouse.sh'), 'utf8'), 0o755);
  for (const unit of units) write(join(content, `usr/lib/systemd/system/${unit}.service`), '[Service]\n');
  write(
    join(content, 'DEBIAN/control'),
    `Package: gatehouse\nVersion: ${version}\nArchitecture: all\nMaintainer: a <a@b.invalid>\nDescription: for tests\n`,
  );
  mkdirSync(at, { recursive: true });
  chmodSync(content, 0o755);
  const archive = join(at, packageFileName(version));
  const built = spawnSync('dpkg-deb', ['-Znone', '--root-owner-group', '-b', content, archive], { encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`dpkg-deb: ${built.stderr}`);
  for (const name of ['install.sh', 'uninstall.sh'])
    copyFileSync(join(checkout, 'deploy/install', name), join(at, name));
  copyFileSync(join(checkout, 'deploy/native/prepare-host.sh'), join(at, 'prepare-host.sh'));
  copyFileSync(join(checkout, '.env.example'), join(at, '.env.example'));
  const machine = spawnSync('uname', ['-m'], { encoding: 'utf8' }).stdout.trim();
  write(join(at, 'RELEASE'), `version=${version}\nmachine=${machine}\npackage=${packageFileName(version)}\n`);
  write(join(at, 'compose.yaml'), readFileSync(join(checkout, 'deploy/compose.yaml'), 'utf8'));
  write(join(at, 'images/control-plane.tar'), `control plane ${version}`);
  sealBundle(at, version, key);
}

/** Writes the signed list of the files. */
export function sealBundle(at: string, version: string, key: ReleaseKey): void {
  write(join(at, 'gatehouse-release.pub'), minisignPublicKey(key));
  const names = [
    '.env.example',
    'RELEASE',
    packageFileName(version),
    'compose.yaml',
    'images/control-plane.tar',
  ].concat(['install.sh', 'prepare-host.sh', 'uninstall.sh']);
  const sums = names.map((name) => `${sha256File(join(at, name))}  ${name}\n`).join('');
  write(join(at, 'SHA256SUMS'), sums);
  write(join(at, 'SHA256SUMS.minisig'), minisign(key, Buffer.from(sums), `gatehouse ${version}`));
}
