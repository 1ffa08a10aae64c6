// The engine of images: what the layers together have, packages exactly, and nothing that is not said.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { testMsMax } from '#api/testing/waiting';
import { madeChecked } from '../testing/made-secrets.js';
import { nothing, type FoundPackage } from '../contract.js';
import { bounded, packagesMax } from '../run/bounded.js';
import { scan } from '../run/scan.js';
import type { ScannerResult } from '../run/result.js';
import { imageSource } from './image-source.js';
import { readLayout } from './layout.js';
import { visibleOf, whiteoutOf, type LayerFacts } from './merge.js';
import { imageScanner } from './scanner.js';
import { dpkg, imageOf, type MadeImage } from './testing/made-image.js';
import { berkeleyDatabase } from './testing/berkeley-database.js';
import { rpmDatabase } from './testing/rpm-database.js';

t.setTimeout(testMsMax);
const debian = 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n';

async function written(bytes: Buffer, work: (path: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-image-'));
  try {
    await writeFile(join(directory, 'image'), bytes);
    await work(join(directory, 'image'));
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function scanned(made: MadeImage): Promise<ScannerResult> {
  let found: ScannerResult | undefined;
  await written(await imageOf(made), async (path) => {
    const source = imageSource(path, await readLayout(path));
    const { results } = await scan(source, [imageScanner], () => undefined, new AbortController().signal);
    found = results[0];
  });
  if (found === undefined) throw new Error('no result');
  return found;
}

const purls = ({ packages }: ScannerResult): string[] => packages.map(({ purl, layer }) => `${layer} ${purl}`).sort();
const named = ({ findings }: ScannerResult): string[] => findings.map(({ rule, address }) => `${rule} ${address}`);
const secret = (seed: number): string => `token = '${madeChecked('ghp_', seed)}'\n`;

t.test('a scan has an end of packages, and says so', (t) => {
  const one = (n: number) =>
    ({ purl: `pkg:deb/p${n}@1`, name: `p${n}`, version: '1', path: 'status', line: null }) as unknown as FoundPackage;
  const all = { ...nothing, packages: Array.from({ length: packagesMax + 5 }, (_, n) => one(n)) };
  const { packages, notScanned } = bounded(all, packagesMax);
  t.equal(packages.length, packagesMax);
  t.match(notScanned, [{ path: 'status', reason: /packages beyond 20000/, isFault: true }]);
  t.match(bounded({ ...nothing, packages: [one(1)] }, 0), { packages: [], notScanned: [{ isFault: true }] });
  t.end();
});

t.test('packages of each database, with their layer, source and release', async (t) => {
  const cases: readonly (readonly [string, MadeImage, readonly string[]])[] = [
    [
      'dpkg: what is removed again is gone, what stays is of the layer that brought it',
      {
        layers: [
          [
            { name: './etc/os-release', data: debian },
            { name: './var/lib/dpkg/status', data: dpkg({ libc6: '2.36-9', curl: '7.88-1' }) },
          ],
          [
            {
              name: 'var/lib/dpkg/status',
              data:
                `${dpkg({ libc6: '2.36-9', nano: '7.2-1' })}\nPackage: libssl3\nStatus: install ok installed\n` +
                'Source: openssl (3.0.11-1)\nArchitecture: amd64\nVersion: 3.0.11-1+b2\n\n' +
                'Package: gone\nStatus: deinstall ok config-files\nVersion: 1\n',
            },
          ],
        ],
      },
      [
        '1 pkg:deb/debian/libc6@2.36-9?arch=amd64&distro=debian-12',
        '2 pkg:deb/debian/libssl3@3.0.11-1%2Bb2?arch=amd64&distro=debian-12&upstream=openssl@3.0.11-1',
        '2 pkg:deb/debian/nano@7.2-1?arch=amd64&distro=debian-12',
      ],
    ],
    [
      'distroless: a file a package',
      {
        layers: [
          [
            { name: 'usr/lib/os-release', data: debian },
            { name: 'var/lib/dpkg/status.d/base', data: 'Package: base-files\nVersion: 12.4\nArchitecture: amd64\n' },
            { name: 'var/lib/dpkg/status.d/base.md5sums', data: 'Package: no\nVersion: 1\n' },
          ],
        ],
      },
      ['1 pkg:deb/debian/base-files@12.4?arch=amd64&distro=debian-12'],
    ],
    [
      'layers packed with Zstandard, in more than one block',
      {
        ...{ form: 'oci', isPacked: 'zstd' },
        layers: [
          [
            { name: 'etc/os-release', data: debian },
            { name: 'big', data: 'x'.repeat(300_000) },
            { name: 'var/lib/dpkg/status', data: dpkg({ zsh: '5.9-4' }) },
          ],
        ],
      },
      ['1 pkg:deb/debian/zsh@5.9-4?arch=amd64&distro=debian-12'],
    ],
    [
      'apk',
      {
        form: 'oci',
        isPacked: true,
        layers: [
          [
            { name: 'etc/os-release', data: 'ID=alpine\nVERSION_ID=3.19.1\n' },
            {
              name: 'lib/apk/db/installed',
              data: 'C:x\nP:libcrypto3\nV:3.1.4-r5\nA:x86_64\no:openssl\n\nP:musl\nV:1.2.4-r2\n',
            },
          ],
        ],
      },
      [
        '1 pkg:apk/alpine/libcrypto3@3.1.4-r5?arch=x86_64&distro=alpine-3.19.1&upstream=openssl',
        '1 pkg:apk/alpine/musl@1.2.4-r2?distro=alpine-3.19.1',
      ],
    ],
    [
      'languages: lock files, and what is installed',
      {
        layers: [
          [
            {
              name: 'app/package-lock.json',
              data: '{"lockfileVersion":3,"packages":{"":{},"node_modules/a":{"version":"1.0.0"}}}',
            },
            { name: 'usr/lib/node_modules/npm/package.json', data: '{"name":"npm","version":"10.1.0"}' },
          ],
          [
            {
              name: 'usr/lib/python3/dist-packages/Req_x-2.0.dist-info/METADATA',
              data: 'Metadata-Version: 2.1\nName: Req_x\nVersion: 2.0\n\nText: no\n',
            },
          ],
        ],
      },
      ['1 pkg:npm/a@1.0.0', '1 pkg:npm/npm@10.1.0', '2 pkg:pypi/req-x@2.0'],
    ],
  ];
  for (const [name, made, expected] of cases) {
    const result = await scanned(made);
    t.same(purls(result), [...expected].sort(), name);
    t.equal(result.complete, true, `${name}: ${JSON.stringify(result.notScanned)}`);
  }
});

/** Packages.db as RPM writes it: a page of slots, then blobs. */
function ndbOf(blobs: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(4096);
  head.write('RpmP');
  head.writeUInt32LE(1, 12);
  for (let at = 32; at < 4096; at += 16) head.write('Slot', at);
  const bodies = blobs.map((blob, at) => {
    const blocks = Math.ceil((blob.length + 28) / 16);
    const body = Buffer.alloc(blocks * 16);
    body.write('BlbS');
    body.writeUInt32LE(at + 1, 4);
    body.writeUInt32LE(blob.length, 12);
    blob.copy(body, 16);
    return body;
  });
  let block = 4096 / 16;
  bodies.forEach((body, at) => {
    head.writeUInt32LE(at + 1, 32 + at * 16 + 4);
    head.writeUInt32LE(block, 32 + at * 16 + 8);
    block += body.length / 16;
  });
  return Buffer.concat([head, ...bodies]);
}

function headerOf(texts: Readonly<Record<number, string>>): Buffer {
  const data = Buffer.from(
    Object.values(texts)
      .map((text) => `${text}\u0000`)
      .join(''),
  );
  const head = Buffer.alloc(8);
  head.writeUInt32BE(Object.keys(texts).length, 0);
  head.writeUInt32BE(data.length, 4);
  let at = 0;
  const index = Object.entries(texts).map(([tag, text]) => {
    const entry = Buffer.alloc(16);
    [Number(tag), 6, at, 1].forEach((value, place) => entry.writeUInt32BE(value, place * 4));
    at += Buffer.byteLength(text) + 1;
    return entry;
  });
  return Buffer.concat([head, ...index, data]);
}

t.test('RPM: SQLite, NDB and Berkeley DB are read, and damage makes the scan incomplete', async (t) => {
  const release = { name: 'etc/os-release', data: 'ID=rocky\nVERSION_ID=9.3\n' };
  const sqlite = await scanned({ layers: [[release, { name: 'var/lib/rpm/rpmdb.sqlite', data: rpmDatabase() }]] });
  t.equal(sqlite.packages.length, 60, 'each package once, and no key');
  t.ok(
    purls(sqlite).includes(
      '1 pkg:rpm/rocky/pack23@1.23-3.el9?arch=x86_64&distro=rocky-9.3&epoch=1&upstream=source11-1.23-3.el9.src.rpm',
    ),
    'also one that goes on in other pages',
  );
  t.equal(sqlite.complete, true);
  const blobs = [headerOf({ 1000: 'zypper', 1001: '1.14', 1002: '150' }), headerOf({ 1000: 'gpg-pubkey' })];
  const ndb = await scanned({
    layers: [
      [
        { name: 'etc/os-release', data: 'ID="opensuse-leap"\nVERSION_ID="15.5"\n' },
        { name: 'usr/lib/sysimage/rpm/Packages.db', data: ndbOf(blobs) },
      ],
    ],
  });
  t.same(purls(ndb), ['1 pkg:rpm/opensuse/zypper@1.14-150?distro=opensuse-leap-15.5']);
  const long = headerOf({ 1000: 'bash', 1001: '4.2.46', 1002: '35', 1011: 'v'.repeat(2000) });
  for (const isLittle of [true, false]) {
    const data = berkeleyDatabase([Buffer.alloc(4), ...blobs, long], isLittle);
    const bdb = await scanned({ layers: [[release, { name: 'var/lib/rpm/Packages', data }]] });
    t.same(purls(bdb), [
      '1 pkg:rpm/rocky/bash@4.2.46-35?distro=rocky-9.3',
      '1 pkg:rpm/rocky/zypper@1.14-150?distro=rocky-9.3',
    ]);
    t.equal(bdb.complete, true);
  }
  const berkeley = berkeleyDatabase([long, long]);
  const looped = Buffer.from(berkeley);
  looped.writeUInt32LE(2, 2 * 512 + 16);
  looped.writeUInt16LE(1, 2 * 512 + 22);
  const damaged: readonly (readonly [name: string, path: string, data: Buffer, reason: RegExp])[] = [
    ['no hash table', 'var/lib/rpm/Packages', Buffer.alloc(512), /no hash table of Berkeley DB/],
    ['a table cut off', 'var/lib/rpm/Packages', berkeley.subarray(0, 1024), /ends before its last page/],
    ['a chain in a circle', 'var/lib/rpm/Packages', looped, /chain of pages that leads nowhere/],
    ['cut off', 'var/lib/rpm/rpmdb.sqlite', rpmDatabase().subarray(0, 2000), /ends before one of its pages/],
    ['no database', 'var/lib/rpm/rpmdb.sqlite', Buffer.from('x'.repeat(200)), /no SQLite database/],
    [
      'a slot to nowhere',
      'var/lib/rpm/Packages.db',
      ndbOf(blobs).subarray(0, 4200),
      /ends in the middle|leads nowhere/,
    ],
  ];
  for (const [name, path, data, reason] of damaged) {
    const result = await scanned({ layers: [[release, { name: path, data }]] });
    t.equal(result.complete, false, name);
    t.match(result.faultReasons.join('; '), reason, name);
    t.same(result.packages, [], name);
  }
  const none = await scanned({ layers: [[release]] });
  t.match(none.faultReasons, [/listed in no form/], 'a distribution without a list of packages');
});

t.test('secrets: also what a later layer has removed or written over', async (t) => {
  const result = await scanned({
    layers: [
      [
        { name: 'app/', data: '' },
        { name: 'app/.env', data: secret(1) },
        { name: 'app/kept.ts', data: secret(2) },
        { name: 'app/sub/a.ts', data: secret(3) },
        { name: 'app/b.ts', data: secret(4) },
        { name: 'usr/share/doc/example.txt', data: secret(5) },
        { name: 'app/node_modules/x/index.js', data: secret(6) },
      ],
      [{ name: 'app/.wh..env' }, { name: 'app/sub/.wh..wh..opq' }, { name: 'app/b.ts', data: 'clean\n' }],
    ],
  });
  t.same(
    result.findings
      .filter(({ rule }) => rule.startsWith('github'))
      .map(({ path, message }) => `${path} ${/layer 1(, removed by a later one)?/.exec(message)?.[0]}`)
      .sort(),
    [
      'app/.env layer 1, removed by a later one',
      'app/b.ts layer 1, removed by a later one',
      'app/kept.ts layer 1',
      'app/sub/a.ts layer 1, removed by a later one',
    ],
  );
  t.notMatch(JSON.stringify(result.findings), madeChecked('ghp_', 1).slice(6, -3));
});

t.test('configuration beside the rules', async (t) => {
  const bad = await scanned({
    layers: [
      [
        { name: 'etc/os-release', data: 'ID=debian\nVERSION_ID="9"\nPRETTY_NAME="Debian 9"\n' },
        { name: 'var/lib/dpkg/status', data: dpkg({ a: '1' }) },
        { name: 'usr/bin/passwd', mode: 0o4755 },
        { name: 'opt/tool', mode: 0o4755 },
        { name: 'opt/gone', mode: 0o2755 },
      ],
      [{ name: 'opt/.wh.gone' }],
    ],
    config: { Env: ['PATH=/bin', 'DB_PASSWORD=h7dk2lqpw', 'API_TOKEN_FILE=/run/t'], ExposedPorts: { '22/tcp': {} } },
    history: [{ created_by: '|1 NPM_TOKEN=kd83hsl20d /bin/sh -c npm ci' }, { created_by: 'x' }],
  });
  t.same(named(bad).sort(), [
    'image-exposes-ssh ExposedPorts 22',
    'image-release-ended release',
    'image-runs-as-root User',
    'image-secret-in-environment Env DB_PASSWORD',
    'image-secret-in-history history NPM_TOKEN',
    'image-setuid-program opt/tool',
    'image-without-healthcheck Healthcheck',
  ]);
  t.notMatch(JSON.stringify(bad.findings), /h7dk2lqpw|kd83hsl20d/, 'no value of a secret');
  const good = await scanned({
    layers: [[{ name: 'app', data: 'x' }]],
    config: {
      User: '1000',
      Env: ['DB_PASSWORD=${DB}', 'TOKEN_URL=https://a.example'],
      Healthcheck: { Test: ['CMD', 'x'] },
    },
  });
  t.same(good.findings, []);
});

t.test('what is no image, or a hostile one, is refused with the reason', async (t) => {
  const files = [{ name: 'a.ts', data: 'x' }];
  const whole = await imageOf({ layers: [files] });
  const refused: readonly (readonly [name: string, bytes: Buffer, reason: RegExp])[] = [
    ['text', Buffer.from('no archive'), /cannot be read to its end|no image/],
    ['cut off', whole.subarray(0, 700), /cannot be read to its end|no image/],
    ['some tar', await (await import('./testing/made-image.js')).layerOf(files), /neither manifest.json/],
    ['fewer layers than are named', await imageOf({ layers: [files], diffIds: [] }), /names 0/],
  ];
  for (const [name, bytes, reason] of refused)
    await written(bytes, async (path) => void (await t.rejects(readLayout(path), { message: reason }, name)));
  const zeros = Buffer.alloc(70 * 1024 ** 2);
  const hostile: readonly (readonly [name: string, made: MadeImage, reason: RegExp])[] = [
    ['another layer than is named', { layers: [files], diffIds: ['sha256:00'] }, /SHA-256 differs/],
    ['a bomb', { layers: [[{ name: 'zeros', data: zeros }]], isPacked: true }, /times as large/],
  ];
  for (const [name, made, reason] of hostile) await t.rejects(scanned(made), { message: reason }, name);
  const outside = await scanned({
    layers: [
      [
        { name: '../../etc/passwd', data: 'x' },
        { name: `${'d/'.repeat(80)}a`, data: '' },
      ],
    ],
  });
  t.match(outside.faultReasons, [/lead elsewhere/, /deeper than 64/]);
});

/** The plain way: files of a map, layer by layer. */
function plainly(layers: readonly LayerFacts[]): string[] {
  const files = new Map<string, number>();
  layers.forEach((layer, at) => {
    const below = (path: string) => (folder: string) => folder === '' || path.startsWith(`${folder}/`);
    for (const path of [...files.keys()]) {
      const hidden = [...layer.removed, ...layer.files, ...layer.others].some(
        (one) => one === path || below(path)(one),
      );
      if (hidden || [...layer.emptied].some(below(path))) files.delete(path);
    }
    for (const path of layer.files) files.set(path, at);
  });
  return [...files].map(([path, at]) => `${at} ${path}`).sort();
}

t.test('layers merge as if they were unpacked one over the other', async (t) => {
  const name = fc.constantFrom('a', 'b', 'c');
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
  const paths = fc.array(path, { maxLength: 4 }).map((all) => new Set(all));
  // a layer has no file below one of its own files
  const noneWithin = (files: ReadonlySet<string>): Set<string> =>
    new Set([...files].filter((one) => ![...files].some((other) => one.startsWith(`${other}/`))));
  const layer = fc
    .record({ files: paths, removed: paths, emptied: paths })
    .map(({ files, ...rest }): LayerFacts => ({ files: noneWithin(files), others: new Set(), ...rest }));
  fc.assert(
    fc.property(fc.array(layer, { maxLength: 5 }), (layers) => {
      const merged = visibleOf(layers).flatMap((visible, at) => [...visible].map((one) => `${at} ${one}`));
      t.same(merged.sort(), plainly(layers));
    }),
    { numRuns: 300, seed: Number(process.env['SEED'] ?? 28) },
  );
  t.same(['a/.wh.b', '.wh..wh..opq', 'a/.wh..wh..opq', 'a/.wh..wh.plnk', 'a/b'].map(whiteoutOf), [
    { removed: 'a/b' },
    { emptied: '' },
    { emptied: 'a' },
    null,
    null,
  ]);
});
