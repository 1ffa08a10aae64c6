// Lock files of every format → exactly their packages; advisories beside them; and the corpus where it is there.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { together } from '../contract.js';
import { toCyclonedx } from '../report/cyclonedx.js';
import type { ScannerResult } from '../run/result.js';
import { readSets, withAdvisories } from './advisories.js';
import { ScaEngine } from './engine.js';
import { scaScanner } from './scanner.js';

const list = (files: Readonly<Record<string, string>>) => {
  const engine = new ScaEngine();
  const all = Object.entries(files).map(([path, text]) => engine.take({ path, bytes: Buffer.from(text) }));
  const { packages, notScanned, scanned } = together([...all, engine.end()]);
  return { purls: packages.map(({ purl }) => purl.slice(4)).sort(), packages, notScanned, scanned };
};

const formats: readonly (readonly [path: string, text: string, purls: readonly string[]])[] = [
  [
    'package-lock.json',
    '{"lockfileVersion":3,"packages":{"":{"dependencies":{"@a/b":"1"}},"node_modules/@a/b":{"version":"1.0.0"},' +
      '"node_modules/c":{"version":"2.0.0","name":"real"},"node_modules/w":{"link":true,"resolved":"w"},"w":{}}}',
    ['npm/%40a/b@1.0.0', 'npm/real@2.0.0'],
  ],
  [
    'package-lock.json',
    '{"lockfileVersion":1,"dependencies":{"a":{"version":"1.0.0","dependencies":{"b":{"version":"2.0.0"}}},' +
      '"c":{"version":"npm:d@3.0.0"},"e":{"version":"file:e"}}}',
    ['npm/a@1.0.0', 'npm/b@2.0.0', 'npm/d@3.0.0'],
  ],
  [
    'yarn.lock',
    '# yarn lockfile v1\n\n"@a/b@^1.0.0", "@a/b@^1.1.0":\n  version "1.2.0"\n\nc@npm:d@1:\n  ' +
      'version "1.0.0"\n\ne@file:e:\n  version "0"\n',
    ['npm/%40a/b@1.2.0', 'npm/d@1.0.0'],
  ],
  [
    'yarn.lock',
    '__metadata:\n  version: 8\n"a@npm:^1":\n  version: 1.0.0\n  resolution: ' +
      '"a@npm:1.0.0"\n"w@workspace:.":\n  version: 0\n  resolution: "w@workspace:."\n',
    ['npm/a@1.0.0'],
  ],
  [
    'pnpm-lock.yaml',
    'lockfileVersion: 5.4\npackages:\n  /@a/b/1.0.0_c@2:\n    dev: false\n  /d/3.0.0:\n    dev: true\n',
    ['npm/%40a/b@1.0.0'],
  ],
  [
    'pnpm-lock.yaml',
    "lockfileVersion: '9.0'\nimporters:\n  .:\n    dependencies:\n      a: {specifier: ^1, version: 1.0.0(b@2.0.0)}\n" +
      '    devDependencies:\n      t: {specifier: ^1, version: 1.0.0}\npackages:\n  a@1.0.0: {}\n  ' +
      'b@2.0.0: {}\n  t@1.0.0: {}\n' +
      'snapshots:\n  a@1.0.0(b@2.0.0):\n    dependencies:\n      b: 2.0.0\n  b@2.0.0: {}\n  t@1.0.0: {}\n',
    ['npm/a@1.0.0', 'npm/b@2.0.0'],
  ],
  [
    'bun.lock',
    '{"lockfileVersion": 1, "packages": {"a": ["a@1.0.0", "", {},], "w": ["w@workspace:w"],},}',
    ['npm/a@1.0.0'],
  ],
  [
    'requirements.txt',
    'A_b.c==1.0 ; python_version>"3"\nd[x]==2.0 --hash=sha256:aa\n-r other.txt\n',
    ['pypi/a-b-c@1.0', 'pypi/d@2.0'],
  ],
  ['Pipfile.lock', '{"default":{"a":{"version":"==1.0"}},"develop":{"b":{"version":"==1"}}}', ['pypi/a@1.0']],
  ['poetry.lock', '[[package]]\nname = "a"\nversion = "1.0"\n\n[metadata]\n', ['pypi/a@1.0']],
  [
    'uv.lock',
    'version = 1\n[[package]]\nname = "a"\nversion = "1"\n[[package]]\nname = "me"\nversion = ' +
      '"0"\nsource = { editable = "." }\n',
    ['pypi/a@1'],
  ],
  [
    'go.mod',
    'module m\ngo 1.21\nrequire (\n  x.test/a v1.0.0\n  x.test/b v2.0.0 // indirect\n)\nreplace ' +
      'x.test/a => x.test/c v1.1.0\nreplace x.test/b => ./b\n',
    ['golang/x.test/c@1.1.0'],
  ],
  ['go.sum', 'x.test/a v1.0.0 h1:x\nx.test/a v1.1.0/go.mod h1:x\n', ['golang/x.test/a@1.1.0']],
  ['Cargo.lock', 'version = 3\n[[package]]\nname = "a"\nversion = "1.0.0"\n', ['cargo/a@1.0.0']],
  ['gradle.lockfile', '# c\ng.h:a:1.0=classpath\nempty=\n', ['maven/g.h/a@1.0']],
  [
    'packages.lock.json',
    '{"dependencies":{"net8":{"A":{"type":"Direct","resolved":"1.0"},"P":{"type":"Project"}}}}',
    ['nuget/A@1.0'],
  ],
  ['packages.config', '<packages><package id="A" version="1.0"/></packages>', ['nuget/A@1.0']],
  [
    'composer.lock',
    '{"packages":[{"name":"v/a","version":"v1.0"}],"packages-dev":[{"name":"v/b","version":"1"}]}',
    ['composer/v/a@v1.0'],
  ],
  [
    'Gemfile.lock',
    'GEM\n  specs:\n    a (1.0)\n      b (~> 2)\n    b (2.0-x86_64-linux)\n\nDEPENDENCIES\n  a\n',
    ['gem/a@1.0', 'gem/b@2.0'],
  ],
  ['mix.lock', '%{\n  "a": {:hex, :a, "1.0", "x"},\n  "g": {:git, "x", "y"},\n}\n', ['hex/a@1.0']],
  [
    'pubspec.lock',
    'packages:\n  a:\n    dependency: transitive\n    source: hosted\n    version: "1.0"\n',
    ['pub/a@1.0'],
  ],
  ['Podfile.lock', 'PODS:\n  - A (1.0):\n    - A/B\n  - A/B (1.0)\n', ['cocoapods/A@1.0', 'cocoapods/A@1.0#B']],
  [
    'Package.resolved',
    '{"pins":[{"location":"https://x.test/a/b.git","state":{"version":"1.0"}}]}',
    ['swift/x.test/a/b@1.0'],
  ],
  ['conan.lock', '{"requires":["a/1.0#rev%1"]}', ['conan/a@1.0']],
  [
    'app.cdx.json',
    '{"bomFormat":"CycloneDX","components":[{"name":"a","version":"1","purl":"pkg:npm/a@1"}]}',
    ['npm/a@1'],
  ],
];

t.test('every format is read, exactly', async (t) => {
  for (const [path, text, purls] of formats) {
    t.equal(scaScanner.wants(`sub/${path}`), true, path);
    const found = list({ [`sub/${path}`]: text });
    t.same(found.purls, purls, path);
    t.same(found.scanned, [`sub/${path}`], `${path} counts as read`);
  }
});

t.test('a pom has the versions of its properties, its management and its parent', async (t) => {
  const parent =
    '<project><groupId>g</groupId><artifactId>p</artifactId><version>1</version><properties><v>2.0</v></properties>' +
    '<dependencyManagement><dependencies><dependency><groupId>x</groupId><artifactId>m</artifactId><' +
    'version>${v}</version>' +
    '</dependency></dependencies></dependencyManagement></project>';
  const child =
    '<project><parent><groupId>g</groupId><artifactId>p</artifactId><version>1</version></parent><ar' +
    'tifactId>c</artifactId>' +
    '<dependencies><dependency><groupId>x</groupId><artifactId>m</artifactId></dependency><dependenc' +
    'y><groupId>x</groupId>' +
    '<artifactId>open</artifactId></dependency><dependency><groupId>x</groupId><artifactId>r</artifactId>' +
    '<version>[1.0,2.0)</version></dependency></dependencies></project>';
  const { purls, notScanned } = list({ 'c/pom.xml': child, 'pom.xml': parent });
  t.same(purls, ['maven/x/m@2.0']);
  t.same(
    notScanned.map(({ path, isFault }) => [path, isFault]),
    [
      ['c/pom.xml: x:open', true],
      ['c/pom.xml: x:r', true],
    ],
  );
});

t.test('ranges are told, and are never taken for versions', async (t) => {
  const open = list({ 'requirements.txt': 'a>=1.0\nb==2.0\nc\n' });
  t.same(open.purls, ['pypi/b@2.0']);
  t.equal(open.notScanned.filter(({ isFault }) => isFault).length, 2);
  const manifest = '{"dependencies": {"a": "^1.0.0"}}';
  t.match(list({ 'package.json': manifest }).notScanned, [{ path: 'package.json', isFault: true }]);
  const lock = formats[0]?.[1] ?? '';
  t.same(
    list({ 'w/package.json': manifest, 'package-lock.json': lock }).notScanned,
    [],
    'a workspace has its lock above',
  );
  t.same(list({ 'package.json': '{"dependencies": {}}' }).notScanned, [], 'what needs nothing needs no lock');
});

t.test('what is none of its format throws, which the scan counts', async (t) => {
  for (const [path, text] of [
    ['package-lock.json', '{'],
    ['package-lock.json', '[]'],
    ['package-lock.json', '{}'],
    ['pnpm-lock.yaml', 'a: 1'],
    ['Cargo.lock', 'a = ['],
    ['pom.xml', '<project>'],
    ['go.mod', 'nothing'],
    [
      'package-lock.json',
      `{"lockfileVersion":1,"dependencies":${'{"a":{"dependencies":'.repeat(90)}{}${'}}'.repeat(90)}}`,
    ],
  ] as const)
    t.throws(() => list({ [path]: text }), `${path} ${text.slice(0, 20)}`);
});

const advisory = (id: string, ecosystem: string, name: string, fixed: string) =>
  JSON.stringify({
    id,
    modified: '2026-01-01T00:00:00Z',
    summary: `Hole in ${name}`,
    aliases: [`CVE-${id.slice(-4)}-1234`],
    affected: [
      { package: { ecosystem, name }, ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed }] }] },
    ],
  });

t.test('packages beside advisories: what is affected, what is not, and what nobody can tell', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-osv-test-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  writeFileSync(
    join(directory, 'npm.jsonl'),
    `${advisory('GHSA-2026', 'npm', '@a/b', '1.1.0')}\n${advisory('GHSA-2025', 'npm', 'real', '1.0.0')}\n`,
  );
  const found = list({ 'package-lock.json': formats[0]?.[1] ?? '', 'requirements.txt': 'd==1.0\n' });
  const result: ScannerResult = {
    scanner: scaScanner,
    findings: [],
    packages: found.packages,
    objects: [],
    scanned: found.scanned,
    lookedAt: [],
    notScanned: [],
    notScannedByReason: {},
    faultReasons: [],
    complete: true,
  };
  const compared = withAdvisories(result, await readSets(directory));
  t.match(compared.findings, [{ rule: 'GHSA-2026', path: 'package-lock.json', message: /Fixed Version: 1.1.0/ }]);
  t.equal(compared.findings.length, 1, 'a version that is fixed is no finding');
  t.equal(compared.complete, false, 'nothing is known of the packages of Python');
  t.match(Object.keys(compared.notScannedByReason), ['packages without advisories: none is here for pypi']);
  const bill = toCyclonedx({ files: 1, bytes: 1, seconds: 1, stopped: null, results: [compared] });
  t.match(bill, { vulnerabilities: [{ id: 'GHSA-2026', affects: [{ ref: 'pkg:npm/%40a/b@1.0.0' }] }] });
});

t.test('a file system that lies in a directory lists what its distribution has installed', (t) => {
  const status = 'Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nSource: glibc\nVersion: 2.36-9\n';
  const found = list({
    'root/usr/lib/os-release': 'ID=other\nVERSION_ID=1\n',
    'root/etc/os-release': 'ID=debian\nVERSION_ID="12"\n',
    'root/var/lib/dpkg/status': status,
    'box/lib/apk/db/installed': 'P:musl\nV:1.2.4-r2\nA:x86_64\n\n',
    'doc/os-release': 'ID=nothing\n',
  });
  t.same(found.purls, [
    'apk/musl@1.2.4-r2?arch=x86_64',
    'deb/debian/libc6@2.36-9?arch=amd64&distro=debian-12&upstream=glibc',
  ]);
  t.same([...found.scanned].sort(), ['box/lib/apk/db/installed', 'root/var/lib/dpkg/status']);
  t.throws(() => list({ 'a/var/lib/rpm/Packages': 'no database' }), 'one that cannot be read is a fault');
  for (const [path, wanted] of [
    ['a/var/lib/rpm/rpmdb.sqlite', true],
    ['usr/lib/sysimage/rpm/Packages.db', true],
    ['a/b/etc/os-release', true],
    ['var/lib/dpkg/status.d/base', true],
    ['os-release', false],
    ['src/status', false],
    ['var/lib/dpkg/info/a.list', false],
  ] as const)
    t.equal(scaScanner.wants(path), wanted, path);
  t.end();
});
