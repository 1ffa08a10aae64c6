import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { calledIn, forPrograms, notYet, operationsOf, sameAs } from './offered.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const web = join(root, 'console/web');
const sources = readdirSync(web, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
  .map((name) => readFileSync(join(web, name), 'utf8'))
  .join('\n');
const known = ['build/openapi/api.json', 'build/openapi/vm-manager.json'].flatMap((file) =>
  operationsOf((JSON.parse(readFileSync(join(root, file), 'utf8')) as { paths: Record<string, object> }).paths),
);

t.test('calls of the typed client are found', async (t) => {
  const operations = ['GET /a', 'POST /a/{id}/open', 'POST /a/{id}/close', 'POST /a/{id}/x/close', 'DELETE /a/{id}'];
  t.same([...calledIn("createQuery('GET /a')", operations)], ['GET /a']);
  t.same([...calledIn('call(`POST /a/{id}/${to}`, options)', operations)], operations.slice(1, 3), 'a template');
  t.same([...calledIn("const path = '/a/{id}'; // GET /a", operations)], [], 'an address alone is no call');
});

t.test(
  'L3: a person needs no curl: what the API offers is called by a page, or stands in a list with a reason',
  async (t) => {
    const called = calledIn(sources, known);
    const excused = [...Object.keys(forPrograms), ...Object.keys(sameAs), ...notYet];
    t.ok(known.length > 300 && called.size > 200, 'both documents and the pages are read');
    t.same(
      known.filter((one) => !called.has(one) && !excused.includes(one)),
      [],
      'no page offers it, and nothing says why',
    );
    t.same(
      excused.filter((one) => called.has(one)),
      [],
      'a page offers it: it belongs in no list',
    );
    t.same(
      excused.filter((one) => !known.includes(one)),
      [],
      'the API has no such operation',
    );
    t.equal(new Set(excused).size, excused.length, 'each stands in one list');
    t.same(
      Object.values(sameAs).filter((one) => !called.has(one)),
      [],
      'what is offered in its place is offered',
    );
  },
);
