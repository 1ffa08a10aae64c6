import t from 'tap';
import { kindOfWord, wordPattern } from './words.js';

const kindsIn = (line: string): string[] =>
  [...line.matchAll(wordPattern)].map((match) => `${kindOfWord(match)} ${match[0]}`);

t.test('A3: the words of a rule are told apart', async (t) => {
  t.same(kindsIn('SecRule ARGS:q "!@rx ^a" "id:1000321,phase:2,deny,t:none"'), [
    ...['directive SecRule', 'variable ARGS', 'operator !@rx'],
    ...['key id', 'number 1000321', 'key phase', 'number 2', 'action deny', 'key t'],
  ]);
  t.same(kindsIn("    setvar:'tx.score=+%{tx.critical_anomaly_score}'\""), [
    'key setvar',
    'variable %{tx.critical_anomaly_score}',
  ]);
  t.same(kindsIn('  # SecRule in a comment'), ['comment   # SecRule in a comment']);
  t.same(kindsIn('SecAction "id:1,redirect:/sorry"'), [
    ...['directive SecAction', 'key id', 'number 1', 'key redirect'],
  ]);
  t.same(kindsIn('a#b mail@example.org'), [], 'neither a comment nor an operator');
});
