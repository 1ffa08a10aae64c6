// How the planner answers which atoms, and how a plan reads.
import t from 'tap';
import { dumpPlan } from '../artifact/dump.js';
import { planned, ruleOf, rules } from '../testing/planned-rules.js';

t.test('what is planned how', async (t) => {
  const { program, plan } = await planned(rules);
  const idOf = (atom: number): number => ruleOf({ program, plan }, atom);
  t.same(plan.pipelines[0], [], 'pipeline 0 is the identity');
  t.same(
    [...new Set(plan.classes.flatMap(({ called }) => called.map(({ atom }) => idOf(atom))))].sort((a, b) => a - b),
    [11, 12, 13, 14, 15, 18],
    'what has no pattern is called',
  );
  t.same(
    plan.classes.flatMap(({ sets }) => sets.flatMap((set) => set.atoms.map(idOf))),
    [19, 20],
    'the giant and the inner anchor are in sets',
  );
  t.ok(
    plan.databases.every(
      ({ patterns, atomOf }) => patterns.length === atomOf.length && patterns.every(({ id }, index) => id === index),
    ),
    'pattern ids are positions',
  );
  const link = (id: number): readonly number[] | null | undefined =>
    plan.linkAtoms[program.items.findIndex((item) => item.kind === 'rule' && item.id === id)]?.[0];
  t.equal(link(17)?.length, 4, 'multiMatch asks at every stage, the untransformed value included');
});

t.test('a plan can be read', async (t) => {
  const { program, plan } = await planned(`
SecRuleEngine On
SecAction "id:1,phase:1,nolog,noauditlog,pass,setvar:tx.pl=1,setvar:tx.list=GET"
SecRule TX:pl "@lt 2" "id:2,phase:1,nolog,noauditlog,pass,skipAfter:END"
SecRule ARGS "@rx gone" "id:3,phase:1,deny"
SecMarker END
SecRule REQUEST_METHOD "!@within %{tx.list}" "id:4,phase:1,deny"
SecRule ARGS "@rx ev[i]l$" "id:5,phase:2,deny,t:urlDecodeUni"
SecRule ARGS "@validateUrlEncoding" "id:6,phase:2,deny"
`);
  t.equal(
    dumpPlan(program, plan),
    `constant TX.pl = "1"
constant TX.list = "GET"
gone 1 2 3
argument of 4/0 = "GET"
phase 1: 1 rules, visited in every transaction: 4
phase 2: 2 rules, visited in every transaction: none
atom 0 of 5/0: @rx "ev[i]l$" on t:urlDecodeUni
atom 1 of 6/0: @validateUrlEncoding "" on the value itself
class argGetValue argPostValue
  union: 1 patterns; alphabet 0: nothing; alphabet 1: 1 patterns; alphabet 2: 1 patterns
  t:urlDecodeUni: 1 patterns; alphabet 0: nothing; alphabet 1: 1 patterns; alphabet 2: 1 patterns
  called on the value itself: atom 1, where one of 1 bytes occurs
`,
  );
});
