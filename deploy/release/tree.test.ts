// What a release leaves out of npm packages: nothing that a program loads, and what weighs and is loaded by nobody.
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import t from 'tap';
import { importedPackages, packagesFor } from './npm-packages.js';
import { isPackagePartLeftOut } from './tree.js';

const root = join(import.meta.dirname, '../../..');
const rooms = ['settings', 'engine', 'compiler', 'proxy', 'api', 'vm-manager', 'cli', 'console/server'];
const folders = rooms.map((room) => join(root, 'build', room));
const packages = packagesFor(root, importedPackages(folders));

/** The package that a file belongs to, and its path in there. */
function placeOf(file: string): readonly [string, string] {
  const path = relative(root, file);
  const { path: own } = packages.filter((one) => path.startsWith(`${one.path}/`)).at(-1) ?? { path: '' };
  return [own, path.slice(own.length + 1)];
}

/** Files of packages that built programs name: `require.resolve('a/b.wasm')`, `import 'a/b'`. */
function namedFiles(): string[] {
  const forms = /(?:require\.resolve\(|from |import\(|import )\s*["']([@a-z][^"':]*)["']/g;
  const names = new Set<string>();
  for (const folder of folders)
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
      if (name.endsWith('.js') && !/web-bundle|\.(?:test|contract)\.js$|(?:^|\/)(?:testing|e2e)\//.test(name))
        for (const [, found = ''] of readFileSync(join(folder, name), 'utf8').matchAll(forms)) names.add(found);
  return [...names].filter((name) => !isBuiltin(name));
}

t.test('what programs load is carried', async (t) => {
  const { resolve } = createRequire(join(root, 'build/cli/main.js'));
  let count = 0;
  for (const name of namedFiles()) {
    let files: string[];
    try {
      files = [resolve(name)];
      if (!name.includes('.')) files.push(import.meta.resolve(name).replace('file://', ''));
    } catch {
      continue; // types only, or for tests
    }
    for (const file of files) {
      const [own, part] = placeOf(file);
      if (own === '') continue;
      count += 1;
      t.notOk(isPackagePartLeftOut(own, part), `${name}: ${own}/${part}`);
    }
  }
  t.ok(count > 40, `${count} files`);
});

t.test('builds for browsers and for debugging, copies and tables are not', async (t) => {
  for (const [own, part] of [
    ['node_modules/web-tree-sitter', 'debug'],
    ['node_modules/tree-sitter-typescript/node_modules/tree-sitter-javascript', 'tree-sitter-javascript.wasm'],
    ['node_modules/tree-sitter-typescript/node_modules/tree-sitter-javascript', 'prebuilds'],
    ['node_modules/@tree-sitter-grammars/tree-sitter-hcl', 'tree-sitter-hcl.wasm'],
    ['node_modules/pdfkit', 'js/pdfkit.standalone.js'],
    ['node_modules/pdfkit', 'js/pdfkit.browser.old.mjs'],
    ['node_modules/fontkit', 'dist/browser.cjs'],
    ['node_modules/csv-parse', 'dist/umd'],
    ['node_modules/dejavu-fonts-ttf', 'status.txt'],
    ['node_modules/@electric-sql/pglite', 'dist/pgcrypto.tar.gz'],
    ['node_modules/uWebSockets.js', 'dist/uws_linux_x64_115.node'],
  ] as const)
    t.ok(isPackagePartLeftOut(own, part), `${own}/${part}`);
  for (const [own, part] of [
    ['node_modules/dejavu-fonts-ttf', 'ttf/DejaVuSans.ttf'],
    ['node_modules/dejavu-fonts-ttf', 'ttf'],
    ['node_modules/dejavu-fonts-ttf', 'LICENSE'],
    ['node_modules/pdfkit', 'js/pdfkit.node.mjs'],
    ['node_modules/pdfkit', 'js/data/Helvetica.afm'],
    ['node_modules/pdfkit', ''],
  ] as const)
    t.notOk(isPackagePartLeftOut(own, part), `${own}/${part}`);
});

t.test('every binary that is carried is one of this system', async (t) => {
  const binaries: string[] = [];
  const look = (own: string, part: string): void => {
    for (const entry of readdirSync(join(root, own, part), { withFileTypes: true })) {
      const path = part === '' ? entry.name : `${part}/${entry.name}`;
      if (entry.name === 'node_modules' || isPackagePartLeftOut(own, path)) continue;
      if (entry.isDirectory()) look(own, path);
      else if (entry.name.endsWith('.node')) binaries.push(join(own, path));
    }
  };
  for (const { path } of packages) look(path, '');
  t.ok(binaries.length >= 2, binaries.join());
  for (const path of binaries)
    t.equal(readFileSync(join(root, path)).subarray(0, 4).toString('latin1'), '\x7fELF', `${path} is loaded by Linux`);
});
