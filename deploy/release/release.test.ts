// What a release promises: signatures that openssl and minisign accept, the same bytes twice, units that systemd has
// nothing to say about, a bill of materials and a provenance that can be read.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { usage } from '#cli/usage';
import { tarOf, sha256File } from './archives.js';
import { billOfMaterials } from './bill-of-materials.js';
import { bashCompletion, commandsOf, manualPage } from './command-pages.js';
import { isInstalled } from './commands.js';
import { buildPackage, units } from './debian-package.js';
import { importedPackages, packagesFor } from './npm-packages.js';
import { writeImage } from './oci-image.js';
import { provenance, provenanceType } from './provenance.js';
import {
  createReleaseKey,
  dsse,
  minisign,
  minisignPublicKey,
  openEnvelope,
  openReleaseKey,
  pemPublicKey,
} from './signature.js';

const root = join(import.meta.dirname, '../../..');
const without = (name: string, from = name): string | false =>
  isInstalled(name) ? false : `${name} is not installed: apt-get install ${from}`;
const epoch = 1_700_000_000;

function directoryOf(t: Test): string {
  const at = mkdtempSync(join(tmpdir(), 'gatehouse-release-'));
  t.teardown(() => rmSync(at, { recursive: true, force: true }));
  return at;
}

t.test('openssl alone verifies a signature, and refuses one changed byte', { skip: without('openssl') }, async (t) => {
  const at = directoryOf(t);
  const key = createReleaseKey();
  const text = Buffer.from('abc  file\n');
  const raw = Buffer.from(minisign(key, text, 'release 1').split('\n')[1] ?? '', 'base64').subarray(10);
  writeFileSync(join(at, 'pub.pem'), pemPublicKey(key));
  writeFileSync(join(at, 'sig'), raw);
  const verify = (bytes: Buffer): number | null => {
    writeFileSync(join(at, 'text'), bytes);
    spawnSync('openssl', ['dgst', '-blake2b512', '-binary', '-out', join(at, 'digest'), join(at, 'text')]);
    const args = ['pkeyutl', '-verify', '-rawin', '-pubin', '-inkey', join(at, 'pub.pem')];
    return spawnSync('openssl', [...args, '-sigfile', join(at, 'sig'), '-in', join(at, 'digest')]).status;
  };
  t.equal(verify(text), 0);
  t.not(verify(Buffer.from('abd  file\n')), 0);
});

t.test('minisign verifies a signature and its comment', { skip: without('minisign') }, async (t) => {
  const at = directoryOf(t);
  const key = createReleaseKey();
  writeFileSync(join(at, 'text'), 'abc  file\n');
  writeFileSync(join(at, 'key.pub'), minisignPublicKey(key));
  const verify = (signature: string) => {
    writeFileSync(join(at, 'text.minisig'), signature);
    return spawnSync('minisign', ['-V', '-p', join(at, 'key.pub'), '-m', join(at, 'text')], { encoding: 'utf8' });
  };
  const good = minisign(key, Buffer.from('abc  file\n'), 'gatehouse 1.0.0');
  const { status, stdout, stderr } = verify(good);
  t.equal(status, 0, stderr);
  t.match(stdout, /gatehouse 1\.0\.0/);
  t.not(verify(good.replace('1.0.0', '1.0.1')).status, 0, 'a changed comment');
  t.not(verify(minisign(createReleaseKey(), Buffer.from('abc  file\n'), 'x')).status, 0, 'another key');
});

t.test('the signing key is made once, readable by its owner only', async (t) => {
  const file = join(directoryOf(t), 'keys/release.pem');
  const first = openReleaseKey(file);
  t.equal(first.isNew, true);
  const second = openReleaseKey(file);
  t.equal(second.isNew, false);
  t.same(second.key.publicBytes, first.key.publicBytes);
  const { status } = spawnSync('sh', ['-c', `[ "$(stat -c %a "$1")" = 600 ]`, 'sh', file]);
  t.equal(status, 0);
});

t.test('provenance: in-toto in DSSE, opened by its key only', async (t) => {
  const [key, other] = [createReleaseKey(), createReleaseKey()];
  const statement = provenance({
    version: '1.0.0',
    commit: 'a'.repeat(40),
    isDirty: false,
    epoch,
    subjects: [{ name: 'x.deb', sha256: 'b'.repeat(64) }],
    packages: packagesFor(root, ['fastify']),
    node: { version: '22.0.0', sha256: 'c'.repeat(64) },
  });
  const envelope = dsse(key, provenanceType, statement);
  t.match(openEnvelope(envelope, pemPublicKey(key)), {
    _type: 'https://in-toto.io/Statement/v1',
    predicateType: 'https://slsa.dev/provenance/v1',
    subject: [{ name: 'x.deb', digest: { sha256: 'b'.repeat(64) } }],
  });
  t.equal(openEnvelope(envelope, pemPublicKey(other)), null);
  const changed = { ...envelope, payload: Buffer.from('{}').toString('base64') };
  t.equal(openEnvelope(changed, pemPublicKey(key)), null);
});

t.test('a release carries every package that a program loads, also files that it asks for by a path', async (t) => {
  const at = directoryOf(t);
  const forms = [
    ["import { a } from 'fastify/lib/x.js';", 'fastify'],
    ["const b = await import('postgres');", 'postgres'],
    ["createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf')", 'dejavu-fonts-ttf'],
    ["require.resolve('@tree-sitter-grammars/tree-sitter-hcl/x.wasm')", '@tree-sitter-grammars/tree-sitter-hcl'],
  ] as const;
  writeFileSync(join(at, 'a.js'), forms.map(([text]) => text).join('\n'));
  t.strictSame(importedPackages([at]), forms.map(([, name]) => name).sort());
  // those of the package file: what a browser gets is in the bundle, of others only types or headers are needed
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const rooms = ['settings', 'engine', 'compiler', 'proxy', 'api', 'vm-manager', 'cli', 'console', 'fixtures/demo'];
  const carried = packagesFor(root, importedPackages(rooms.map((room) => join(root, 'build', room))));
  const notLoaded =
    /^(?:@codemirror\/.*|@solidjs\/.*|@tanstack\/.*|solid-js|uplot|uqr|node-addon-api|@opentelemetry\/sdk-trace-base)$/;
  for (const name of Object.keys(dependencies).filter((name) => !notLoaded.test(name)))
    t.ok(
      carried.some(({ path }) => path === `node_modules/${name}`),
      name,
    );
});

t.test('the bill of materials names every package that runs, the same twice', async (t) => {
  const packages = packagesFor(root, importedPackages([join(root, 'build/api'), join(root, 'build/proxy')]));
  const input = {
    version: '1.0.0',
    epoch,
    packages,
    system: [{ name: 'libc6', version: '2.36-9+deb12u14', architecture: 'amd64' }],
    node: { version: '22.0.0', sha256: 'c'.repeat(64) },
    ruleSet: { version: '4.25.1', sha256: 'd'.repeat(64) },
  };
  const text = billOfMaterials(input);
  t.equal(text, billOfMaterials(input));
  const bill = JSON.parse(text) as {
    specVersion: string;
    serialNumber: string;
    components: { name: string; purl: string }[];
  };
  t.equal(bill.specVersion, '1.6');
  t.match(bill.serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const names = bill.components.map(({ name }) => name);
  for (const name of ['fastify', 're2', '@electric-sql/pglite', 'libc6', 'node', 'coreruleset'])
    t.ok(names.includes(name), name);
  for (const name of ['tap', 'typescript', 'esbuild', 'playwright-core'])
    t.notOk(names.includes(name), `${name} does not run`);
  t.match(bill.components.map(({ purl }) => purl).join(' '), /pkg:npm\/%40electric-sql\/pglite@/);
});

/** A tree as small as one can be. */
function smallTree(at: string): string {
  const tree = join(at, 'tree');
  for (const name of ['bin', 'runtime']) mkdirSync(join(tree, name), { recursive: true });
  writeFileSync(join(tree, 'bin/gatehouse'), 'program');
  writeFileSync(join(tree, 'runtime/node'), '#!/bin/sh\n', { mode: 0o700 });
  return tree;
}

t.test(
  'a package has the same bytes twice, whatever the times and modes of its files',
  { skip: without('dpkg-deb', 'dpkg') },
  async (t) => {
    const at = directoryOf(t);
    const tree = smallTree(at);
    const input = { root, version: '1.0.0', epoch, node: process.execPath };
    const build = (name: string): string => {
      buildPackage(input, tree, join(at, 'scratch'), join(at, name));
      return sha256File(join(at, name));
    };
    const first = build('a.deb');
    writeFileSync(join(tree, 'bin/gatehouse'), 'program');
    chmodSync(join(tree, 'bin/gatehouse'), 0o600);
    t.equal(build('b.deb'), first);
    const content = spawnSync('dpkg-deb', ['-c', join(at, 'a.deb')], { encoding: 'utf8' }).stdout;
    t.notMatch(content, /^.{3}[sS]|^.{6}[sS]/m, 'no setuid file');
    for (const unit of units) t.match(content, `usr/lib/systemd/system/${unit}.service`);
    t.notMatch(content, / (?!root\/root)\w+\/\w+ /, 'everything is of root');
  },
);

t.test('an image has the same digest twice, no secret and no root in its configuration', async (t) => {
  const at = directoryOf(t);
  const layers = ['system', 'program'].map((name) => join(at, name));
  for (const layer of layers) mkdirSync(join(layer, 'var/lib/gatehouse'), { recursive: true });
  mkdirSync(join(layers[0] ?? '', 'tmp'));
  writeFileSync(join(layers[1] ?? '', 'file'), 'x');
  const build = (name: string): string =>
    writeImage(
      {
        name: 'gatehouse/x',
        version: '1.0.0',
        epoch,
        layers,
        command: ['data-plane'],
        environment: { IN_CONTAINER: '1' },
        ports: [8080],
        volumes: ['/var/lib/gatehouse'],
        healthCheck: ['health', 'data-plane'],
        labels: {},
      },
      join(at, 'scratch'),
      join(at, name),
    );
  const digest = build('a.tar');
  writeFileSync(join(layers[1] ?? '', 'file'), 'x');
  t.equal(build('b.tar'), digest);
  const layout = join(at, 'layout');
  mkdirSync(layout);
  spawnSync('tar', ['-xf', join(at, 'a.tar'), '-C', layout]);
  const read = (path: string): never => JSON.parse(readFileSync(join(layout, path), 'utf8')) as never;
  const [ofDocker] = read('manifest.json') as { Config: string; RepoTags: string[]; Layers: string[] }[];
  t.same(ofDocker?.RepoTags, ['gatehouse/x:1.0.0']);
  const { config } = read(ofDocker?.Config ?? '') as {
    config: { User: string; Env: string[]; Healthcheck: { Test: string[] } };
  };
  t.equal(config.User, '10001:10001');
  t.same(config.Env, ['PATH=/usr/lib/gatehouse/runtime', 'IN_CONTAINER=1']);
  t.same(config.Healthcheck.Test.slice(-2), ['health', 'data-plane']);
  const listed = spawnSync('tar', ['-tvzf', join(layout, ofDocker?.Layers[0] ?? '')], { encoding: 'utf8' }).stdout;
  t.match(listed, /drwxr-x--- 10001\/10001 .*var\/lib\/gatehouse\/$/m);
  t.match(listed, /drwxrwxrwt 0\/0 .*\.\/tmp\/$/m);
  if (!isInstalled('skopeo')) return t.comment('skopeo is not installed: nobody else read the image');
  const { stdout, stderr } = spawnSync('skopeo', ['inspect', `oci-archive:${join(at, 'a.tar')}`], { encoding: 'utf8' });
  t.match(stdout, `"Digest": "${digest}"`, stderr);
});

t.test(
  'systemd has nothing to say about the units, and rates them 2.5 or better',
  { skip: without('systemd-analyze', 'systemd') },
  async (t) => {
    const at = directoryOf(t);
    for (const unit of units) {
      const source = join(root, `deploy/native/systemd/${unit}.service`);
      const rated = spawnSync('systemd-analyze', ['security', '--offline=true', '--no-pager', source], {
        encoding: 'utf8',
      });
      const level = Number(/Overall exposure level for \S+: ([\d.]+)/.exec(rated.stdout)?.[1]);
      t.ok(level <= 2.5, `${unit}: ${level}`);
      // a program that is there, since `verify` looks for it
      const copy = join(at, `${unit}.service`);
      const text = readFileSync(source, 'utf8').replace('ExecStart=/usr/bin/gatehouse', 'ExecStart=/bin/true');
      writeFileSync(copy, text.replace(/^Documentation=.*\n/m, ''));
      const verified = spawnSync('systemd-analyze', ['verify', copy], { encoding: 'utf8' });
      t.equal(verified.stdout + verified.stderr, '', unit);
      t.notMatch(text, /MemoryDenyWriteExecute=/);
    }
  },
);

t.test('completion knows every command of the help, and its flags', { skip: without('bash') }, async (t) => {
  const named = [...usage.matchAll(/^ {2}gatehouse ([a-z-]+)/gm)].map(([, name]) => name);
  t.same(
    commandsOf().map(({ name }) => name),
    named,
  );
  const file = join(directoryOf(t), 'completion');
  writeFileSync(file, bashCompletion());
  const complete = (...words: string[]): string[] => {
    const print = `printf '%s\\n' "\${COMPREPLY[@]}"`;
    const script = `. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gatehouse; ${print}`;
    return spawnSync('bash', ['-c', script, 'bash', file, 'gatehouse', ...words], { encoding: 'utf8' })
      .stdout.trim()
      .split('\n');
  };
  t.same(complete('dem'), ['demo', 'demo-data']);
  t.same(complete('up', '--waf-p'), ['--waf-port']);
  t.same(complete('backup', '--k'), ['--keep', '--key-file']);
  t.same(complete('rules', 'u'), ['update', 'use']);
  t.same(complete('health', 'con'), ['control-plane', 'console']);
  const page = manualPage('1.0.0', '2026-01-01');
  for (const name of named) t.match(page, `gatehouse ${String(name).replaceAll('-', '\\-')}`);
  if (!isInstalled('man')) return t.comment('man is not installed: the manual page was not formatted');
  writeFileSync(`${file}.8`, page);
  const env = { ...process.env, MANWIDTH: '80', MANPAGER: 'cat', LC_ALL: 'C.UTF-8' };
  const { stderr } = spawnSync('man', ['--warnings', '-l', `${file}.8`], {
    encoding: 'utf8',
    env,
  });
  t.equal(stderr, '', 'the formatter has nothing to say');
});

t.test('an archive does not depend on the order in which its files were made', async (t) => {
  const at = directoryOf(t);
  for (const [name, order] of [
    ['a', ['x', 'y']],
    ['b', ['y', 'x']],
  ] as const) {
    mkdirSync(join(at, name));
    for (const file of order) writeFileSync(join(at, name, file), file);
    tarOf(join(at, name), join(at, `${name}.tar`), epoch);
  }
  t.equal(sha256File(join(at, 'a.tar')), sha256File(join(at, 'b.tar')));
});
