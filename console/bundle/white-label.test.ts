// White label: nothing that the console sends to a browser names the product; the name comes from APP_BRAND alone.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const built = join(root, 'build/console/web-bundle');
const places = [join(root, 'console/web'), ...(existsSync(built) ? [built] : [])];

t.test('25.7: no text of the console has our name', async (t) => {
  for (const place of places) {
    const files = readdirSync(place, { recursive: true, encoding: 'utf8' }).filter(
      (name) => /\.(?:tsx?|html|css|js|svg|webmanifest)$/.test(name) && !name.endsWith('.test.ts'),
    );
    t.ok(files.length > 5, `${place}: ${files.length} files`);
    const withName = files.filter((name) =>
      readFileSync(join(place, name), 'utf8')
        .split('\n')
        .some((line) => line.includes('Gatehouse') && !/^\s*(?:\/\/|\/?\*)/.test(line)),
    );
    t.same(withName, [], place);
  }
});
