// What a browser has to load before a page works, by the files of the bundle as they are compressed for the browsers
// that take gzip only.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import t from 'tap';

interface Part {
  readonly file: string;
  readonly isEntry?: boolean;
  /** Keys of what is loaded with it, and of what it may load later. */
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
}
type Manifest = Readonly<Record<string, Part>>;

const bundle = fileURLToPath(new URL('../web-bundle/', import.meta.url));
/** Also with what a page loads once somebody asks for it, such as the editor of rules beside their form. */
const [firstMax, pageMax] = [120_000, 100_000];

/** Compressed bytes of a file; files that are too small to be compressed as they are. */
const sizeOf = (file: string): number => {
  const path = join(bundle, file);
  return statSync(existsSync(`${path}.gz`) ? `${path}.gz` : path).size;
};

/** Keys of everything that is loaded with `key`; with `later` also what it loads while it is used. */
function closureOf(manifest: Manifest, key: string, isLater: boolean, known = new Set<string>()): Set<string> {
  if (known.has(key)) return known;
  known.add(key);
  const { imports = [], dynamicImports = [] } = manifest[key] ?? { file: '' };
  for (const next of [...imports, ...(isLater ? dynamicImports : [])]) closureOf(manifest, next, isLater, known);
  return known;
}

t.test('L3: no page is heavy', { skip: existsSync(bundle) ? false : 'the console is not bundled' }, async (t) => {
  const manifest = JSON.parse(readFileSync(join(bundle, 'manifest.json'), 'utf8')) as Manifest;
  const [entry = ''] = Object.keys(manifest).filter((key) => manifest[key]?.isEntry === true);
  const bytesOf = (keys: Iterable<string>): number =>
    [...keys]
      .map((key) => manifest[key]?.file ?? '')
      .filter((file) => file.endsWith('.js'))
      .reduce((sum, file) => sum + sizeOf(file), 0);
  const first = closureOf(manifest, entry, false);
  const pages = (manifest[entry]?.dynamicImports ?? []).filter((key) => key.startsWith('pages/'));
  t.ok(pages.length > 30, 'every page is a file of its own');
  const overview = pages.find((key) => key.endsWith('overview.tsx')) ?? '';
  const begin = new Set([...first, ...closureOf(manifest, overview, false)]);
  t.ok(bytesOf(begin) > 10_000 && bytesOf(begin) <= firstMax, `the first page: ${bytesOf(begin)} bytes`);
  for (const page of pages) {
    const more = [...closureOf(manifest, page, false)].filter((key) => !first.has(key));
    t.ok(bytesOf(more) > 0 && bytesOf(more) <= pageMax, `${page}: ${bytesOf(more)} bytes more`);
    // what a page loads while it is used (an editor, a chart) is gone into, but not what is there already
    const known = new Set([...first, ...more]);
    const later = [...closureOf(manifest, page, true, new Set(first))].filter((key) => !known.has(key));
    t.ok(bytesOf(more) + bytesOf(later) <= pageMax, `${page}: ${bytesOf(later)} more bytes while it is used`);
  }
});
