// `make release`: everything that is published, in dist/. `node build/deploy/release/main.js [--out DIR] [--version V]
// [--node FILE] [--node-sha256 HASH] [--key FILE] [--without-images] [--without-debs]`.
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { chartFileName, packageChart } from '../cluster/chart-archive.js';
import { normalize, pathsBelow, sha256File, tarOf } from './archives.js';
import { billOfMaterials } from './bill-of-materials.js';
import { isInstalled, ReleaseError, run } from './commands.js';
import { buildPackage, packageFileName } from './debian-package.js';
import { buildImage, imageNames, nativeFiles } from './images.js';
import { provenance, provenanceType } from './provenance.js';
import { dsse, minisign, minisignPublicKey, openReleaseKey, pemPublicKey, type ReleaseKey } from './signature.js';
import { downloadDependencies, librariesOf, packagesOwning } from './system-packages.js';
import { assembleTree, type ReleaseInput, type ReleaseTree } from './tree.js';

const root = resolve(import.meta.dirname, '../../..');
const machines: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' };
const say = (text: string): void => console.log(`release: ${text}`);

const { values: asked } = parseArgs({
  options: {
    out: { type: 'string', default: join(root, 'dist') },
    version: { type: 'string' },
    node: { type: 'string', default: process.execPath },
    'node-sha256': { type: 'string' },
    key: { type: 'string' },
    'without-images': { type: 'boolean', default: false },
    'without-debs': { type: 'boolean', default: false },
  },
});

function git(...args: string[]): string {
  return run('git', ['-c', 'safe.directory=*', ...args], { cwd: root }).trim();
}

/** Throws ReleaseError for a version that is none, and for a Node.js other than the one that was checked. */
function readInput(): ReleaseInput & { readonly nodeSha256: string; readonly nodeVersion: string } {
  const { version: own } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const version = asked.version ?? own;
  if (!/^\d+\.\d+\.\d+(?:[~+][0-9A-Za-z.]+)?$/.test(version))
    throw new ReleaseError(`the version ${version} is none; write it like 1.2.3 or 1.2.3~rc1.`);
  const node = resolve(asked.node);
  const nodeSha256 = sha256File(node);
  if (asked['node-sha256'] !== undefined && asked['node-sha256'] !== nodeSha256)
    throw new ReleaseError(`${node} has the SHA-256 ${nodeSha256}, not ${asked['node-sha256']}.`);
  const nodeVersion = run(node, ['--version']).trim().replace(/^v/, '');
  if (nodeVersion.startsWith('20.'))
    say(`Node.js ${nodeVersion} is past its end of life: name a supported one with --node FILE --node-sha256 HASH`);
  const epoch = Number(process.env['SOURCE_DATE_EPOCH'] ?? git('log', '-1', '--format=%ct'));
  return { root, version, epoch, node, nodeSha256, nodeVersion };
}

type Input = ReturnType<typeof readInput>;

function timed<T>(what: string, work: () => T): T {
  const sinceMs = performance.now();
  const result = work();
  say(`${what} (${((performance.now() - sinceMs) / 1000).toFixed(1)} s)`);
  return result;
}

function writeImages(input: Input, tree: ReleaseTree, bundle: string, work: string): Record<string, string> {
  const digests: Record<string, string> = {};
  mkdirSync(join(bundle, 'images'));
  for (const name of imageNames) {
    const own =
      name === 'data-plane'
        ? assembleTree(input, 'data-plane', join(work, 'tree-data-plane')).directory
        : tree.directory;
    const file = join(bundle, 'images', `${name}.tar`);
    digests[name] = timed(`image ${name}`, () => buildImage(input, name, own, join(work, 'image'), file));
  }
  return digests;
}

/** RELEASE: what the installer reads, one `name=value` a line. */
function writeRelease(input: Input, bundle: string, digests: Readonly<Record<string, string>>): void {
  const lines = [
    `version=${input.version}`,
    `commit=${git('rev-parse', 'HEAD')}`,
    `machine=${machines[process.arch] ?? process.arch}`,
    `package=${packageFileName(input.version)}`,
    `node=${input.nodeVersion}`,
    `node_sha256=${input.nodeSha256}`,
    ...Object.entries(digests).map(([name, digest]) => `image_${name.replace('-', '_')}=${digest}`),
  ];
  writeFileSync(join(bundle, 'RELEASE'), `${lines.join('\n')}\n`);
}

const listed = (bundle: string): string[] =>
  pathsBelow(bundle).filter((path) => statSync(join(bundle, path)).isFile() && !path.startsWith('SHA256SUMS'));

function writeStatements(input: Input, tree: ReleaseTree, bundle: string, key: ReleaseKey): void {
  const node = { version: input.nodeVersion, sha256: input.nodeSha256 };
  const lock = JSON.parse(readFileSync(join(root, 'fixtures/crs.lock.json'), 'utf8')) as {
    version: string;
    archive: { sha256: string };
  };
  const system = packagesOwning(librariesOf(nativeFiles(tree.directory)));
  const ruleSet = { version: lock.version, sha256: lock.archive.sha256 };
  const { version, epoch } = input;
  writeFileSync(
    join(bundle, 'sbom.cdx.json'),
    billOfMaterials({ version, epoch, packages: tree.packages, system, node, ruleSet }),
  );
  const subjects = listed(bundle).map((path) => ({ name: path, sha256: sha256File(join(bundle, path)) }));
  const isDirty = git('status', '--porcelain') !== '';
  const statement = provenance({
    version,
    commit: git('rev-parse', 'HEAD'),
    isDirty,
    epoch,
    subjects,
    packages: tree.packages,
    node,
  });
  writeFileSync(join(bundle, 'provenance.dsse.json'), `${JSON.stringify(dsse(key, provenanceType, statement))}\n`);
}

function sign(input: Input, bundle: string, key: ReleaseKey): void {
  writeFileSync(join(bundle, 'gatehouse-release.pub'), minisignPublicKey(key));
  writeFileSync(join(bundle, 'gatehouse-release.pem'), pemPublicKey(key));
  const sums = listed(bundle).map((path) => `${sha256File(join(bundle, path))}  ${path}\n`);
  const text = Buffer.from(sums.join(''));
  writeFileSync(join(bundle, 'SHA256SUMS'), text);
  const comment = `gatehouse ${input.version} timestamp:${input.epoch}`;
  writeFileSync(join(bundle, 'SHA256SUMS.minisig'), minisign(key, text, comment));
}

function release(): void {
  const input = readInput();
  const out = resolve(asked.out);
  const name = `gatehouse-${input.version}-${process.platform}-${process.arch}`;
  const [work, bundle] = [join(out, 'work'), join(out, name)];
  if (!isInstalled('dpkg-deb')) throw new ReleaseError('dpkg-deb is needed; a release is built on Debian or Ubuntu.');
  for (const directory of [work, bundle]) {
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { recursive: true });
  }
  const keyFile = resolve(asked.key ?? join(root, 'data/release-key.pem'));
  const { key, isNew } = openReleaseKey(keyFile);
  if (isNew) say(`made the signing key ${keyFile}: keep it, every later release has to be signed by it`);
  const tree = timed('tree', () => assembleTree(input, 'whole', join(work, 'tree')));
  const debian = join(bundle, packageFileName(input.version));
  timed('package', () => buildPackage(input, tree.directory, join(work, 'package'), debian));
  const digests = asked['without-images'] ? {} : writeImages(input, tree, bundle, work);
  if (!asked['without-debs']) timed('packages that it needs', () => downloadDependencies(join(bundle, 'debs'), say));
  for (const file of ['install/install.sh', 'install/uninstall.sh', 'native/prepare-host.sh', 'compose.yaml'])
    copyFileSync(join(root, 'deploy', file), join(bundle, file.split('/').at(-1) ?? file));
  copyFileSync(join(root, '.env.example'), join(bundle, '.env.example'));
  const chart = chartFileName(input.version);
  packageChart(input, join(work, 'chart'), join(bundle, chart));
  writeRelease(input, bundle, digests);
  writeStatements(input, tree, bundle, key);
  sign(input, bundle, key);
  normalize(bundle, input.epoch);
  const archive = join(out, `${name}.tar`);
  timed('bundle', () => tarOf(out, archive, input.epoch, [name]));
  writeFileSync(`${archive}.sha256`, `${sha256File(archive)}  ${name}.tar\n`);
  copyFileSync(join(bundle, chart), join(out, chart));
  writeFileSync(join(out, `${chart}.sha256`), `${sha256File(join(out, chart))}  ${chart}\n`);
  rmSync(work, { recursive: true, force: true });
  for (const file of readdirSync(bundle)) say(`  ${name}/${file}`);
  for (const [image, digest] of Object.entries(digests)) say(`  ${image} ${digest}`);
  say(`${archive}: ${(statSync(archive).size / 1e6).toFixed(0)} MB, signed by key ${key.id.toString('hex')}`);
}

try {
  release();
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
}
