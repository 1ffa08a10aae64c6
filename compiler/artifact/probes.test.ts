// Probes of a folded program are those of the whole program: what folding found idle may be left out, and nothing else.
import t from 'tap';
import { foldConstants } from '../passes/fold-constants.js';
import { selectProbes } from './probes.js';
import { programOf } from '../testing/rule-text.js';

const seen = 'SecRule ARGS "@contains script" "id:90,phase:2,deny"\n';
const cases: readonly (readonly [string, string, readonly number[]])[] = [
  ['rules without detection', 'SecRule REQUEST_METHOD "@streq PUT" "id:1,phase:1,deny"', []],
  ['a rule that matches', seen, [90]],
  [
    'a gate that is closed',
    `SecAction "id:1,phase:1,pass,nolog,setvar:tx.pl=1"\n` +
      `SecRule TX:pl "@lt 2" "id:2,phase:2,pass,nolog,skipAfter:END"\n` +
      `SecRule ARGS "@contains script" "id:3,phase:2,pass"\n` +
      `SecMarker END\n` +
      `${seen}`,
    [90],
  ],
  [
    'a jump to a rule that never matches',
    `SecAction "id:1,phase:1,pass,nolog,setvar:tx.pl=1"\n` +
      `SecRule ARGS "@contains script" "id:2,phase:2,pass,nolog,skipAfter:4"\n` +
      `SecRule ARGS "@contains alert" "id:3,phase:2,deny"\n` +
      `SecRule TX:pl "@eq 7" "id:4,phase:2,deny"\n` +
      `${seen}`,
    [90],
  ],
  [
    'a count over a rule that never matches',
    `SecAction "id:1,phase:1,pass,nolog,setvar:tx.pl=1"\n` +
      `SecRule ARGS "@contains script" "id:2,phase:2,pass,nolog,skip:2"\n` +
      `SecRule TX:pl "@eq 7" "id:3,phase:2,deny"\n` +
      `SecRule ARGS "@contains alert" "id:4,phase:2,deny"\n` +
      `${seen}`,
    [90],
  ],
  [
    'a constant that is set by a rule',
    `SecAction "id:1,phase:1,pass,nolog,setvar:tx.word=script"\n` +
      'SecRule ARGS "@contains %{tx.word}" "id:2,phase:2,deny"',
    [2],
  ],
  ['a rule for replies', `SecRule RESPONSE_BODY "@contains script" "id:1,phase:4,deny"\n${seen}`, [90]],
  ['logging', 'SecRule ARGS "@contains script" "id:1,phase:5,pass,log"', [1]],
];

for (const [name, text, ids] of cases) {
  t.test(name, async (t) => {
    const program = programOf(`SecRuleEngine On\n${text}`);
    const probes = selectProbes(program, foldConstants(program));
    t.same(probes, selectProbes(program, { folded: new Map() }), 'as without folding');
    t.same(probes.find(({ name }) => name.startsWith('script'))?.expectAnyOf ?? [], ids);
    t.equal(probes.at(-1)?.uri, '/', 'a plain page view is always among them');
  });
}
