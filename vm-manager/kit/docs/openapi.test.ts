// The committed OpenAPI document of /api/v1 against the one that is made of its endpoints, so that every change of this
// API shows in a review; the console's types are made of it. UPDATE=1 writes it anew.
import t from 'tap';
import { readFile, writeFile } from 'node:fs/promises';
import { endpoints } from '../../endpoints.js';
import { toOpenApi } from './openapi.js';

const committed = new URL('../../../../vm-manager/openapi.json', import.meta.url); // from build/vm-manager/kit/docs

t.test('the committed document is the one of these endpoints', async (t) => {
  const document: unknown = JSON.parse(JSON.stringify(toOpenApi(endpoints, 'Gatehouse')));
  if (process.env['UPDATE'] === '1') await writeFile(committed, `${JSON.stringify(document, null, 2)}\n`);
  t.same(
    document,
    JSON.parse(await readFile(committed, 'utf8')),
    'if that is what you meant: UPDATE=1 node build/vm-manager/kit/docs/openapi.test.js, and read the difference',
  );
});
