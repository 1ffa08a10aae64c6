// E2: the official JSON-Schema-Test-Suite, draft 2020-12, as Debian packages it. What OpenAPI uses of it is asked: all
// groups but those about other documents (`$id`, anchors, `$dynamicRef`, vocabularies, references by address), and of
// the optional formats those that are checked here.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isMap, Trace } from './check.js';
import { compileSchema } from './compile.js';
import { textFormats } from './formats.js';
import type { JsonSchema } from '../plan.js';

const variable = 'JSON_SCHEMA_SUITE';
const packaged = '/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance/tests/draft2020-12';
const suite = process.env[variable] ?? packaged;
const skip = existsSync(suite)
  ? false
  : 'the official JSON-Schema-Test-Suite is not installed ' +
    `(Debian: apt-get install libtest-json-schema-acceptance-perl; or ${variable} = its tests/draft2020-12)`;

interface Group {
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
}

const aboutDocuments = new Set(['$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$vocabulary']);

/** What a local reference means; undefined: nothing in this document. */
function resolve(root: unknown, reference: string): unknown {
  if (!/^#(?:\/|$)/.test(reference)) return undefined;
  let found: unknown = root;
  for (const part of reference.split('/').slice(1)) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (found === null || typeof found !== 'object' || !Object.hasOwn(found, name)) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

/** References by their text, as a specification's are collected; null: one of them leads out of the document. */
function definitionsOf(root: unknown): Record<string, JsonSchema> | null {
  const definitions: Record<string, JsonSchema> = {};
  const isOwn = (value: unknown): boolean => {
    if (Array.isArray(value)) return value.every(isOwn);
    if (!isMap(value)) return true;
    return Object.entries(value).every(([name, member]) => {
      if (aboutDocuments.has(name)) return false;
      if (name !== '$ref' || typeof member !== 'string') return isOwn(member);
      const meant = resolve(root, member);
      if (meant !== undefined) definitions[member] = meant as JsonSchema;
      return meant !== undefined;
    });
  };
  return isOwn(root) ? definitions : null;
}

/** How many cases of a file were asked; what was answered wrongly is a failure. */
function ask(t: Tap, file: string): number {
  let asked = 0;
  for (const { description, schema, tests } of JSON.parse(readFileSync(join(suite, file), 'utf8')) as Group[]) {
    const definitions = definitionsOf(schema);
    if (definitions === null) continue;
    const check = compileSchema(schema as JsonSchema, { definitions, closes: false, direction: null });
    const wrong = tests.filter(({ data, valid }) => check(data, new Trace()) !== valid);
    t.same(
      wrong.map((one) => one.description),
      [],
      `${file}: ${description}`,
    );
    asked += tests.length;
  }
  return asked;
}
type Tap = Pick<typeof t, 'same'>;

t.test('E2: the official suite, draft 2020-12', { skip }, async (t) => {
  let asked = 0;
  for (const file of readdirSync(suite).filter((name) => name.endsWith('.json') && name !== 'vocabulary.json'))
    asked += ask(t, file);
  t.ok(asked > 900, `${asked} cases`);
});

t.test('E2: the official suite, formats that are checked', { skip }, async (t) => {
  let asked = 0;
  for (const format of textFormats.keys()) {
    const file = join('optional/format', `${format}.json`);
    if (existsSync(join(suite, file))) asked += ask(t, file);
  }
  t.ok(asked > 150, `${asked} cases`);
});
