// Custom rules: whatever people write in the fields of the form, or as raw text, stays one rule with the same meaning.
import { requireSettings } from '#settings';
import fc from 'fast-check';
import t from 'tap';
import { compileRe2 } from '#engine/compile';
import { compileProgram } from '../compile-program.js';
import { Diagnostics } from '../diagnostics/diagnostics.js';
import { smallCrs } from '../testing/small-policy.js';
import { renderVisualRule } from './forms/check-rule.js';
import { renderPolicy, resolvePolicy } from './policy.js';
import { toBytes } from './quoting.js';
import type { CustomRule } from './settings.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

const visual: CustomRule = {
  kind: 'visual',
  id: 1_000_000,
  name: 'n',
  enabled: true,
  variable: 'ARGS',
  operator: 'contains',
  value: '',
  action: 'block',
  phase: 2,
  transformations: [],
  any: [],
  redirect_url: '',
  seclang: '',
  sites: [],
  tests: [],
};

t.test('any value and name stay what they are: one rule, the same meaning', (t) => {
  const nasty = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          '"',
          '\\',
          "'",
          '\n',
          ' ',
          ',',
          '"id:2',
          '%{',
          '\\"',
          '\\\n',
          'SecRuleEngine Off',
          '\t',
          '@',
          '!',
        ),
        fc.string({ maxLength: 3, unit: 'binary' }),
      ),
      { maxLength: 8 },
    )
    .map((parts) => parts.join(''));
  let exact = 0;
  fc.assert(
    fc.property(
      nasty,
      nasty,
      fc.constantFrom('contains', '!streq', 'beginsWith', '@endsWith', 'within', 'pm', 'rx'),
      (value, name, operator) => {
        const diagnostics = new Diagnostics();
        const text = renderVisualRule({ ...visual, value, name, operator }, '/custom_rules/0', diagnostics);
        if (text === null) return diagnostics.hasErrors;
        const { program, diagnostics: found } = compileProgram([{ path: 'x', text }]);
        // The value itself may be no expression, no phrase: never a problem of quoting or structure.
        if (program === null)
          return (
            ['rx', 'pm'].includes(operator) &&
            found.every(
              ({ code, severity }) => severity !== 'error' || ['GH-C3002', 'GH-C3003', 'GH-C3004'].includes(code),
            )
          );
        const [item, ...others] = program.items;
        if (others.length > 0 || item?.kind !== 'rule' || item.id !== 1_000_000 || item.disruptive.kind !== 'deny')
          return false;
        if (program.settings.ruleEngine !== 'Off') return false;
        const bound = item.links[0]?.operator;
        if (bound === undefined || bound === null || item.links.length !== 1) return false;
        const bytes = toBytes(value);
        if (operator === 'rx' || bound.name !== operator.replace(/^[!@]+/, '')) {
          if (operator === 'rx') return true; // its own test below
          const pattern = compileRe2(bound.argument, { caseless: false, dotAll: true, multiline: false });
          return (
            pattern.test(bytes) && (bytes === '' || !pattern.test(bytes.slice(1)) || bytes.slice(1).includes(bytes))
          );
        }
        exact += 1;
        return bound.argument === bytes;
      },
    ),
    { numRuns: 1500 },
  );
  t.ok(exact > 300, `${exact} values were written as they are`);
  t.end();
});

t.test('a redirect goes to exactly the address of the form, or is refused', (t) => {
  for (const [url, isTaken] of [
    ['https://a.test/x?a=b,c&d=%20#e', true],
    ['/sorry', true],
    ["/a'b", false],
    ['/a"b', false],
    ['/%{TX.a}', false],
    ['/a b', false],
    ['/a\\', false],
    ['/a\nLocation: b', false],
    ['', false],
  ] as const) {
    const text = renderVisualRule(
      { ...visual, value: 'x', action: 'redirect', redirect_url: url },
      '',
      new Diagnostics(),
    );
    t.equal(text !== null, isTaken, JSON.stringify(url));
    const item = compileProgram([{ path: 'x', text: text ?? '' }]).program?.items[0];
    if (isTaken) t.match(item, { kind: 'rule', disruptive: { kind: 'redirect', status: 302, url: [url] } });
  }
  t.end();
});

t.test('expressions keep their meaning when quotes are hidden', (t) => {
  for (const [value, sample] of [
    ['say "x"', 'say "x"'],
    ['a\\"b', 'a"b'],
    ['["\']+\\\\', '"\\'],
    [' lead', ' lead'],
    ['\\x22\\d+"', '"12"'],
  ] as const) {
    const text = renderVisualRule({ ...visual, operator: 'rx', value }, '', new Diagnostics());
    const { program } = compileProgram([{ path: 'x', text: text ?? '' }]);
    const item = program?.items[0];
    const argument = item?.kind === 'rule' ? (item.links[0]?.operator?.argument ?? '') : '';
    t.ok(
      compileRe2(argument, { caseless: false, dotAll: true, multiline: false }).test(sample),
      `${value} finds ${sample}`,
    );
  }
  t.equal(renderVisualRule({ ...visual, operator: 'rx', value: 'a\\' }, '', new Diagnostics()), null);
  t.equal(renderVisualRule({ ...visual, operator: 'pmFromFile', value: '/etc/passwd' }, '', new Diagnostics()), null);
  t.end();
});

t.test('no text of a raw rule reaches the rule behind it', (t) => {
  const first = 'SecRule ARGS:a "@rx a" "id:1000000,phase:2,deny"';
  const links = (text: string): unknown => {
    const rules = [text, 'SecRule ARGS:b "@rx b" "id:1000001,phase:2,block"'].map((raw, index) => ({
      id: 1_000_000 + index,
      name: 'raw',
      kind: 'raw',
      seclang: raw,
    }));
    const patch = { id: 1_007_000, seclang: 'SecRule ARGS:c "@rx c" "id:1007000,phase:2,block"' };
    const { policy, diagnostics } = resolvePolicy(
      requireSettings({ custom_rules: rules, virtual_patches: [patch] }),
      smallCrs,
    );
    if (policy === null) return diagnostics.map(({ path, message }) => `${path} ${message}`);
    const { program } = compileProgram(renderPolicy(policy));
    return program?.items.flatMap((item) =>
      item.kind === 'rule' && item.id >= 1_000_000 ? [`${item.id}: ${item.links.length}`] : [],
    );
  };
  const neighbours = ['1000001: 1', '1007000: 1'];
  for (const [text, expected] of [
    ['# nothing yet \\', neighbours],
    [`${first}\n# the end \\\n`, ['1000000: 1', ...neighbours]],
    [`${first} \\`, ['1000000: 1', ...neighbours]],
    [`${first} \\ \r\n`, ['1000000: 1', ...neighbours]],
    [`\uFEFF${first}`, ['1000000: 1', ...neighbours]],
    [first, ['1000000: 1', ...neighbours]],
    [
      first.replace('deny', 'deny,chain'),
      [
        '/custom_rules/0/seclang line 1, column 1: the chain is not continued, so that the next rule of the settings ' +
          'would become a part of it',
      ],
    ],
  ] as const)
    t.same(links(text), expected, JSON.stringify(text));
  t.end();
});
