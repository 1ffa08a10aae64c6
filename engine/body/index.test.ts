// The processors against ModSecurity v3's own regression cases: where a case's rules only count and compare body
// variables, they are evaluated here and the status is compared; names that the expected debug log mentions are looked
// up.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { BodySink } from './body.js';
import { recommendedBodyLimits } from '../testing/body-limits.js';
import { createBodySink } from './empty-sink.js';
import { bodyProcessors } from './index.js';
import type { BodyProcessorName } from './index.js';

interface Row {
  readonly file: string;
  readonly index: number;
  readonly title: string;
  readonly enabled: number;
  readonly request: {
    readonly headers?: readonly (readonly [string, string])[];
    readonly body_lines?: readonly string[] | null;
  };
  readonly rules: readonly string[];
  readonly expected: {
    readonly http_code?: number | null;
    readonly debug_log?: string | null;
    readonly parser_error?: string | null;
  };
}

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const corpus = join(process.env['GATEHOUSE_SHARED'] ?? join(root, '..', 'shared'), 'corpora', 'modsec-regression');

const body = (text: string): Buffer => Buffer.from(text, 'latin1');
const run = (
  name: BodyProcessorName,
  bytes: Buffer,
  contentType = '',
  limits = recommendedBodyLimits,
): { sink: BodySink; error: string | null; truncated: boolean } => {
  const sink = createBodySink();
  const processor = bodyProcessors.get(name);
  if (processor === undefined) throw new Error(`no processor ${name}`);
  return { sink, ...processor(bytes, contentType, sink, limits) };
};

t.test('the table', async (t) => {
  t.same([...bodyProcessors.keys()], ['URLENCODED', 'MULTIPART', 'JSON', 'XML', 'GRAPHQL', 'TEXT', 'RAW']);
  t.same(run('URLENCODED', body('f=u+v&g=%41')).sink.argsPost.values, ['u v', 'A']);
  t.match(run('RAW', body('\0')), { error: null, truncated: false });
  for (const name of ['URLENCODED', 'JSON', 'XML', 'GRAPHQL'] as const) {
    t.match(
      run(name, body('"0123456789"'), '', { ...recommendedBodyLimits, noFilesBytesMax: 11 }),
      { error: /excluding files is bigger/, truncated: true },
      name,
    );
  }
});

/** Values of a rule's target in a sink, or null when this test does not know the target. */
function valuesOf(target: string, sink: BodySink, error: string | null): readonly string[] | null {
  if (target === 'REQBODY_ERROR' || target === 'REQBODY_PROCESSOR_ERROR') return [error === null ? '0' : '1'];
  const flag = sink.multipartFlags.get(target);
  if (flag !== undefined) return [flag];
  const [variable, member] = target.split(':');
  const collection = {
    FILES: sink.files,
    FILES_NAMES: sink.filesNames,
    FILES_SIZES: sink.filesSizes,
    MULTIPART_FILENAME: sink.multipartFilename,
    MULTIPART_NAME: sink.multipartName,
    MULTIPART_PART_HEADERS: sink.multipartPartHeaders,
    ARGS: sink.argsPost,
    ARGS_POST: sink.argsPost,
  }[variable ?? ''];
  if (collection === undefined) return null;
  if (member === undefined) return collection.values;
  const isPattern = member.startsWith('/');
  return collection.values.filter((_, index) =>
    (isPattern ? new RegExp(member.slice(1, -1)) : new RegExp(`^${member}$`, 'i')).test(
      collection.names[index] as string,
    ),
  );
}

/** Status after all rules, or null when one of them is beyond this test. */
function statusOf(rules: readonly string[], sink: BodySink, error: string | null): number | null {
  let status = 200;
  for (const text of rules.filter((rule) => rule.startsWith('SecRule '))) {
    const found = /^SecRule\s+(&?)(\S+)\s+"(!?)@(eq|streq|contains|rx|gt)\s+([^"]*)"\s+"([^"]*)"$/.exec(text);
    if (found === null) return null;
    const [, count, target, negated, operator, argument = '', actions = ''] = found;
    if (target === 'REQUEST_HEADERS:Content-Type') continue;
    if (/\bchain\b|capture|ARGS_GET/.test(actions)) {
      // Some cases end in a chain that never completes: it cannot deny.
      if (rules.indexOf(text) === rules.length - 1) continue;
      return null;
    }
    const known = valuesOf(target as string, sink, error);
    if (known === null) return null;
    const holds = (value: string): boolean => {
      if (operator === 'eq') return Number(value) === Number(argument);
      if (operator === 'gt') return Number(value) > Number(argument);
      if (operator === 'streq') return value === argument;
      if (operator === 'contains') return value.includes(argument);
      return new RegExp(argument, 's').test(/t:lowercase/.test(actions) ? value.toLowerCase() : value);
    };
    const values = count === '&' ? [String(known.length)] : known;
    if (values.some((value) => holds(value) !== (negated === '!')) && actions.includes('deny'))
      status = Number(/status:(\d+)/.exec(actions)?.[1] ?? 403);
  }
  return status;
}

function setting(rules: readonly string[], name: string, otherwise: number): number {
  const found = rules.find((rule) => rule.startsWith(`${name} `));
  return found === undefined ? otherwise : Number(found.split(' ')[1]);
}

t.test(
  'regression cases of ModSecurity v3',
  { skip: existsSync(corpus) ? false : `corpora not found, set GATEHOUSE_SHARED` },
  async (t) => {
    const names = [
      'request-body-parser-multipart',
      'request-body-parser-json',
      'issue-1576',
      'issue-1825',
      'config-body_limits',
      'variable-FILES',
      'variable-FILES_NAMES',
      'variable-FILES_SIZES',
      'variable-MULTIPART_CRLF_LF_LINES',
      'variable-MULTIPART_FILENAME',
      'variable-MULTIPART_INVALID_HEADER_FOLDING',
      'variable-MULTIPART_NAME',
      'variable-MULTIPART_PART_HEADERS',
      'variable-MULTIPART_STRICT_ERROR',
      'variable-MULTIPART_UNMATCHED_BOUNDARY',
    ];
    let statuses = 0;
    let variables = 0;
    for (const name of names) {
      const rows = JSON.parse(readFileSync(join(corpus, `${name}.json`), 'utf8')) as Row[];
      for (const row of rows) {
        const contentType = row.request.headers?.find(([header]) => header.toLowerCase() === 'content-type')?.[1];
        if (row.enabled !== 1 || contentType === undefined || (row.expected.parser_error ?? '') !== '') continue;
        const processor = /json/.test(contentType)
          ? 'JSON'
          : /xml/.test(contentType)
            ? 'XML'
            : /urlencoded/.test(contentType)
              ? 'URLENCODED'
              : 'MULTIPART';
        const text = (row.request.body_lines ?? []).map((line) => `${line}\n`).join('');
        const { sink, error } = run(processor, body(text), contentType, {
          ...recommendedBodyLimits,
          noFilesBytesMax: setting(row.rules, 'SecRequestBodyNoFilesLimit', 1e9),
          uploadFilesMax: setting(row.rules, 'SecUploadFileLimit', 100),
          jsonDepthMax: setting(row.rules, 'SecRequestBodyJsonDepthLimit', 10_000),
          jsonArrayPrefix: 'array_',
        });
        const where = `${row.file} ${row.index}: ${row.title}`;
        // Without the engine on nothing is ever denied, whatever the values.
        const status = row.rules.includes('SecRuleEngine On') ? statusOf(row.rules, sink, error) : null;
        if (status !== null) {
          statuses += 1;
          t.equal(status, row.expected.http_code ?? 200, where);
        }
        const log = row.expected.debug_log ?? '';
        const member = /Variable: (ARGS|FILES_SIZES):([\w.]+)/.exec(log) ?? /^(ARGS)?(json\.[\w.]+)$/.exec(log);
        if (member !== null) {
          variables += 1;
          t.ok(
            (member[1] === 'FILES_SIZES' ? sink.filesSizes : sink.argsPost).names.includes(member[2] as string),
            `${where}: ${member[2]}`,
          );
        }
        const value = /Target value: \\?"(.*?)\\?" \\?\(Variable: (MULTIPART_\w+|FILES_SIZES)/.exec(log);
        if (value !== null) {
          variables += 1;
          t.ok(
            valuesOf(value[2] as string, sink, error)?.includes(value[1] as string),
            `${where}: ${value[2]} is ${value[1]}`,
          );
        }
      }
    }
    t.comment(`${statuses} statuses, ${variables} named variables`);
    t.ok(statuses >= 40, `${statuses} cases decided a status`);
    t.ok(variables >= 8, `${variables} cases named a variable`);
  },
);
