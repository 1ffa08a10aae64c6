// What the control plane tells of the edge, people see: no field of its answers is left out by the pages.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

const root = fileURLToPath(new URL('../../../../../', import.meta.url)); // from build/console/web/pages/protection
const pages = join(root, 'console/web/pages/protection');
const text = readdirSync(pages)
  .filter((name) => name.endsWith('.tsx'))
  .map((name) => readFileSync(join(pages, name), 'utf8'))
  .join('\n');
const { paths } = JSON.parse(readFileSync(join(root, 'build/openapi/api.json'), 'utf8')) as {
  readonly paths: Readonly<
    Record<
      string,
      { readonly get: { readonly responses: Record<string, { content: Record<string, { schema: Schema }> }> } }
    >
  >;
};

/** Names of all fields, however deep. */
function fieldsOf({ properties = {}, items, anyOf = [] }: Schema): string[] {
  const inner = [...Object.values(properties), ...(items === undefined ? [] : [items]), ...anyOf];
  return [...Object.keys(properties), ...inner.flatMap(fieldsOf)];
}

/** Of every list: pages ask for the next one by the kit. */
const ofTheKit = new Set(['items', 'next_cursor']);

for (const path of ['/api/measures', '/api/rate-limits', '/api/attack-mode', '/api/bots', '/api/pipeline'])
  t.test(`A3: every field of ${path} is shown`, async (t) => {
    const schema = paths[path]?.get.responses['200']?.content['application/json']?.schema;
    t.ok(schema, 'the endpoint is there');
    const fields = [...new Set(fieldsOf(schema ?? {}))].filter((name) => !ofTheKit.has(name));
    t.ok(fields.length > 3);
    for (const name of fields) t.match(text, new RegExp(`\\b${name}\\b`), name);
  });
