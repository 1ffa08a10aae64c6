// The compiler against rule sets of the world: the OWASP CRS with its CI's configuration, and ModSecurity's regression
// rules. Both live outside the repository; without them the test says so and passes.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { formatDiagnostics } from './diagnostics/format.js';
import { compileProgram } from './compile-program.js';
import type { SourceReader } from './text/source.js';
import { findCrsOf, withoutVersion4 } from './testing/core-rules.js';
import { builtInUnicodeMap, parseUnicodeMap } from './program/unicode-map.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const shared = process.env['GATEHOUSE_SHARED'] ?? join(root, '../shared');

function diskReader(resolve: (path: string) => string): SourceReader {
  return {
    read: (path) => (existsSync(resolve(path)) ? readFileSync(resolve(path), 'latin1') : null),
    glob: (pattern) => {
      const folder = resolve(dirname(pattern));
      const [before = '', after = ''] = basename(pattern).split('*');
      return existsSync(folder)
        ? readdirSync(folder)
            .filter((name) => name.startsWith(before) && name.endsWith(after))
            .map((name) => join(dirname(pattern), name))
        : [];
    },
  };
}

const crs = findCrsOf('4');
const ciSetup = join(shared, 'corpora/ftw/ci-setup');
t.test(
  'the CRS with the configuration of its CI',
  { skip: withoutVersion4 || (existsSync(ciSetup) ? false : 'needs ../shared/corpora/ftw/ci-setup') },
  (t) => {
    const sources = [
      join(ciSetup, 'modsecurity.ci.conf'),
      join(ciSetup, 'crs-setup.ci.conf'),
      { path: join(crs ?? '', 'main.conf'), text: 'Include rules/*.conf\n' },
    ];
    const { program, diagnostics } = compileProgram(sources, { reader: diskReader((path) => path) });
    const notable = diagnostics.filter((one) => one.severity !== 'info');
    t.equal(formatDiagnostics(notable), '', 'neither errors nor warnings');
    const items = program?.items ?? [];
    const rules = items.flatMap((item) => (item.kind === 'rule' ? [item] : []));
    t.ok(rules.length >= 600, `${rules.length} rules`);
    t.ok(rules.reduce((sum, rule) => sum + rule.links.length, 0) >= 700, 'links');
    t.ok(items.length - rules.length >= 25, 'markers');
    t.ok(
      items.every((item, index) => item.index === index),
      'items know their index',
    );
    t.end();
  },
);

const mapping = join(root, 'data/crs/unicode.mapping');
t.test(
  'the built-in code page is that of unicode.mapping',
  { skip: existsSync(mapping) ? false : 'no data/crs/unicode.mapping' },
  (t) => {
    t.same(builtInUnicodeMap(), parseUnicodeMap(readFileSync(mapping, 'latin1'), '20127'));
    t.end();
  },
);

/** Rows that a proxy refuses, with the reason the diagnostic gives; anything else that does not load is a failure. */
const refusals: Readonly<Record<string, string>> = {
  'GH-C6001': 'runs programs or scripts',
  'GH-C6002': 'loads things over the network',
  'GH-C6004': 'operator or directive that needs what a proxy does not have',
  'GH-C6005': 'variable or XPath that cannot be known',
  'GH-C4006': 'ctl:responseBodyProcessor',
  'GH-C3003': 'look-behind',
  'GH-C1001': 'quotes that are never closed (two rows)',
  'GH-C4004': 'action quotes that are never closed (one row)',
};

const regression = join(shared, 'corpora/modsec-regression');
t.test(
  'regression rules load, fail or are refused as listed',
  { skip: existsSync(regression) ? false : 'no corpora' },
  (t) => {
    const reader = diskReader((path) => join(regression, 'data', path.replace(/^.*test-cases\/data\/?/, '')));
    const counts = { loaded: 0, failed: 0, refused: 0 };
    for (const name of readdirSync(regression).filter((entry) => entry.endsWith('.json'))) {
      const rows = JSON.parse(readFileSync(join(regression, name), 'utf8')) as {
        id: string;
        enabled?: number;
        rules: string | string[];
        expected?: { parser_error: string | null };
      }[];
      for (const row of rows.filter((one) => one.enabled !== 0)) {
        const text = Buffer.from(Array.isArray(row.rules) ? row.rules.join('\n') : row.rules, 'utf8').toString(
          'latin1',
        );
        const { program, diagnostics } = compileProgram([{ path: name, text }], { reader });
        const errors = diagnostics.filter((one) => one.severity === 'error');
        if (typeof row.expected?.parser_error === 'string') {
          if (program !== null) t.fail(`${row.id} must not load`);
          counts.failed += 1;
        } else if (program !== null) counts.loaded += 1;
        else if (errors.some((one) => one.code in refusals)) counts.refused += 1;
        else t.fail(`${row.id}: ${formatDiagnostics(errors)}`);
      }
    }
    t.same(counts, { loaded: 417, failed: 21, refused: 52 });
    t.end();
  },
);
