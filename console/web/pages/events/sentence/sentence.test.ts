import t from 'tap';
import type { RuleMessage } from '../event-text.js';
import { asMarkdown, codeSpan, plainText } from './markdown.js';
import { orderRules } from './rule-order.js';
import { scoreRows } from './score-rows.js';
import { cutAtHits } from './stretches.js';

const rule = (rule_id: number, severity: string, of: Partial<RuleMessage> = {}): RuleMessage => ({
  ...{ rule_id, severity, message: `m${rule_id}`, data: '', match: '', tags: [], file: 'rules/x.conf', line: 1 },
  ...of,
});

t.test('27.2: the rows of the score add up to it, whatever the record lacks', async (t) => {
  const messages = [rule(942_100, '2'), rule(942_100, '2'), rule(920_350, '4'), rule(949_110, '0'), rule(953_100, '2')];
  for (const [name, given, score, rows] of [
    ['each rule once, with its matches', messages, 13, ['942100 2x +10', '920350 1x +3']],
    ['more than the record lists', messages, 18, ['942100 2x +10', '920350 1x +3', 'unlisted +5']],
    ['less than the rules would add', messages, 10, ['942100 2x +10', '920350 1x +3', 'not-counted +-3']],
    ['gates add nothing', [rule(1_006_000, '2', { file: '' })], 0, []],
    ['no rule at all', [], 5, ['unlisted +5']],
  ] as const) {
    const found = scoreRows(given, score);
    t.same(
      found.map(({ ruleId, why, matches, points }) => `${ruleId === null ? why : `${ruleId} ${matches}x`} +${points}`),
      rows,
      name,
    );
    t.equal(
      found.reduce((sum, { points }) => sum + points, 0),
      score,
      name,
    );
  }
});

t.test('27.2: rules that say little come last', async (t) => {
  const ids = (of: readonly RuleMessage[]): number[] => of.map(({ rule_id }) => rule_id);
  const mixed = orderRules([
    rule(920_350, '4'),
    rule(930_100, '3'),
    rule(942_100, '2'),
    rule(7, ''),
    rule(949_110, '0'),
  ]);
  t.same(
    [ids(mixed.significant), ids(mixed.minor)],
    [
      [942_100, 930_100],
      [920_350, 7],
    ],
  );
  const alone = orderRules([rule(920_350, '4')]);
  t.same([ids(alone.significant), ids(alone.minor)], [[920_350], []], 'unless there is nothing else');
});

t.test('values are cut at their hits', async (t) => {
  t.same(cutAtHits('abcd', [[1, 3]]), [
    { text: 'a', isHit: false },
    { text: 'bc', isHit: true },
    { text: 'd', isHit: false },
  ]);
  t.same(cutAtHits('ab', [[0, 9]]), [{ text: 'ab', isHit: false }], 'what lies outside is ignored');
  t.same(cutAtHits('', []), []);
});

t.test('27.2: Markdown of an event, in which nothing that a client wrote is markup', async (t) => {
  t.equal(codeSpan('a`b'), '``a`b``');
  t.equal(codeSpan('`'), '`` ` ``');
  t.equal(plainText('@team [x](http://y) <b>'), '&#64;team &#91;x&#93;&#40;http://y&#41; &#60;b&#62;');
  const hostile = '</details>\n```\n# @all ![x](http://evil.example)\u202e|`';
  const text = asMarkdown(
    {
      at: '2026-11-28T09:00:00.000Z',
      site: 'shop',
      method: 'GET',
      uri: `/?q=${hostile}`,
      status: 403,
      verdict: 'block',
      request_id: 'r1',
      inbound_score: 5,
      summary: {
        text: '',
        category: 'sqli',
        category_name: 'SQL injection',
        severity: 'critical',
        what: 'SQL injection',
        place: 'query parameter',
        name: 'q',
        value: hostile,
        hits: [],
      },
      details: { messages: [rule(942_100, '2', { message: hostile })], headers: [['Host', hostile], ['Cookie']] },
    },
    'https://console.example/shared#x',
  );
  t.match(text, /^### SQL injection in query parameter `q`: ```` <\/details>/);
  t.match(text, /Link: <https:\/\/console\.example\/shared#x>/);
  t.match(text, /\| \*\*Inbound score\*\* \| \*\*5\*\* \|/);
  t.notMatch(text, /\u202e/);
  const fence = /^(`{4,})http$/m.exec(text)?.[1] ?? '';
  t.equal(text.split('\n').filter((line) => line === fence).length, 1, 'the block ends once, where it ends');
  const outside = text
    .replace(new RegExp(`${fence}http[^]*?\n${fence}\n`), '')
    .replace(/(`+)[^`][^]*?[^`]\1(?!`)/g, '');
  t.notMatch(outside, /@all|!\[|<\/details/, 'outside of code there is none of it');
});
