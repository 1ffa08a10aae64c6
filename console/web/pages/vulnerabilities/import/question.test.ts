import t from 'tap';
import { numbersOf, questionOf, unreadOf } from './question.js';

const numbers =
  'The import would close 27 of 30 open findings of its scope, more than 50 % (setting vm_import_close_percent).';
const detail = `${numbers} If the report is of another directory, send root with that directory.`;
const question = { at: 'the report', detail };
const unread = { at: 'runs/0/results/4', detail: 'has no location' };

t.test('what the server says for programs is cut down to its numbers', async (t) => {
  for (const [said, shown] of [
    [detail, numbers],
    [numbers, numbers],
    ['No full stop', 'No full stop.'],
    ['Version 1.2 is meant. And more.', 'Version 1.2 is meant.'],
  ] as const)
    t.equal(numbersOf(said), shown);
});

t.test('the question of a preview is no record that could not be read', async (t) => {
  for (const [what, report, asked, rest] of [
    ['asks', { needs_confirm_close: true, problems: [question, unread] }, numbers, [unread]],
    ['asks nothing', { needs_confirm_close: false, problems: [unread] }, null, [unread]],
    ['an older import', { problems: [unread] }, null, [unread]],
    ['asks without words', { needs_confirm_close: true, problems: [] }, null, []],
    ['nothing', {}, null, []],
  ] as const) {
    t.equal(questionOf(report), asked, what);
    t.same(unreadOf(report), rest, what);
  }
});
