// What folding takes away, and above all what it must not. Each row names, for every rule of a small list, its fate:
// a reason of FoldReason (a certain gate counts as 'constant setvar': a rule done at load, with nothing to write),
// 'certain' (it always matches when reached) or 'kept'.
import t from 'tap';
import { diskReader } from '../cli/rule-files.js';
import { loadCoreRuleSet, renderPolicy, resolvePolicy } from '../index.js';
import { compileProgram } from '../compile-program.js';
import { findCrs } from '../testing/core-rules.js';
import { programOf } from '../testing/rule-text.js';
import { foldConstants, type FoldedProgram } from './fold-constants.js';

interface Row {
  readonly name: string;
  readonly rules: string;
  /** Rule id → fate. */
  readonly fates: Readonly<Record<number, string>>;
  readonly tx?: Readonly<Record<string, string>>;
  /** Rule id → constant argument of its head. */
  readonly constants?: Readonly<Record<number, string>>;
}
const quiet = 'nolog,noauditlog,pass';
const set = (id: number, writes: string, phase = 1): string =>
  `SecAction "id:${id},phase:${phase},${quiet},${writes}"\n`;
const hit = (id: number, phase = 1): string => `SecRule ARGS "@rx x" "id:${id},phase:${phase},deny"\n`;
const gate = (id: number, condition: string, marker = 'END', phase = 1): string =>
  `SecRule ${condition} "id:${id},phase:${phase},${quiet},skipAfter:${marker}"\n`;
const ask = (id: number, condition: string, phase = 1): string =>
  `SecRule ${condition} "id:${id},phase:${phase},deny"\n`;
const end = 'SecMarker END\n';

const rows: readonly Row[] = [
  // Gates
  {
    name: 'a gate that always skips takes its region along',
    rules: set(1, 'setvar:tx.pl=1') + gate(2, 'TX:pl "@lt 2"') + hit(3) + hit(4) + end + hit(5),
    fates: { 1: 'constant setvar', 2: 'constant setvar', 3: 'always skipped', 4: 'always skipped', 5: 'kept' },
    tx: { pl: '1' },
  },
  {
    name: 'a gate that never skips goes alone',
    rules: set(1, 'setvar:tx.pl=3') + gate(2, 'TX:pl "@lt 2"') + hit(3) + end,
    fates: { 1: 'constant setvar', 2: 'never matches', 3: 'kept' },
  },
  {
    name: 'a gate that depends on the request stays',
    rules: gate(2, 'ARGS:pl "@lt 2"') + hit(3) + end,
    fates: { 2: 'kept', 3: 'kept' },
  },
  {
    name: 'an idle gate over folded rules goes, an acting one stays',
    rules:
      gate(1, 'ARGS:a "@eq 1"') +
      ask(2, 'TX:none "@eq 1"') +
      end +
      `SecRule ARGS:a "@eq 1" "id:3,phase:1,log,pass,skipAfter:END2"\n` +
      ask(4, 'TX:none "@eq 1"') +
      'SecMarker END2\n',
    fates: { 1: 'skips nothing', 2: 'never matches', 3: 'kept', 4: 'never matches' },
  },
  {
    name: 'skip counts rules, not markers',
    rules: `SecAction "id:1,phase:1,${quiet},skip:2"\n` + hit(2) + end + hit(3) + hit(4),
    fates: { 1: 'constant setvar', 2: 'always skipped', 3: 'always skipped', 4: 'kept' },
  },
  {
    name: 'skipAfter a rule goes on behind it',
    rules: `SecAction "id:1,phase:1,${quiet},skipAfter:3"\n` + hit(2) + hit(3) + hit(4),
    fates: { 1: 'constant setvar', 2: 'always skipped', 3: 'always skipped', 4: 'kept' },
  },
  {
    name: 'skipAfter a marker that is missing skips to the end of the phase',
    rules: `SecAction "id:1,phase:1,${quiet},skipAfter:GONE"\n` + hit(2) + hit(3, 2),
    fates: { 1: 'constant setvar', 2: 'always skipped', 3: 'kept' },
  },
  // Joins
  {
    name: 'where roads with different values meet, nothing is known',
    rules:
      set(1, 'setvar:tx.a=1') +
      gate(2, 'ARGS:x "@eq 1"') +
      set(3, 'setvar:tx.a=2') +
      end +
      ask(4, 'TX:a "@eq 1"') +
      ask(5, 'TX:a "@eq 2"'),
    fates: { 2: 'kept', 3: 'certain', 4: 'kept', 5: 'kept' },
  },
  {
    name: 'where roads with equal values meet, it is known',
    rules: set(1, 'setvar:tx.a=1') + gate(2, 'ARGS:x "@eq 1"') + set(3, 'setvar:tx.a=1') + end + ask(4, 'TX:a "@eq 2"'),
    fates: { 3: 'certain', 4: 'never matches' },
  },
  {
    name: 'a rule that may be skipped is not done at load',
    rules: gate(1, 'ARGS:x "@eq 1"') + set(2, 'setvar:tx.a=1') + end + set(3, 'setvar:tx.b=1'),
    fates: { 2: 'certain', 3: 'constant setvar' },
    tx: { b: '1' },
  },
  // Conditions
  {
    name: 'an unset variable matches nothing, not even a negation',
    rules: ask(1, 'TX:a "@eq 0"') + ask(2, 'TX:a "!@eq 0"') + ask(3, '&TX:a "@eq 0"') + ask(4, '&TX:a "!@eq 0"'),
    fates: { 1: 'never matches', 2: 'never matches', 3: 'certain', 4: 'never matches' },
  },
  {
    name: 'transformations and negation are applied',
    rules:
      set(1, 'setvar:tx.a=AbC') +
      ask(2, 'TX:a "@streq abc"') +
      `SecRule TX:a "@streq abc" "id:3,phase:1,deny,t:lowercase"\nSecRule TX:a "!@rx ^[a-z]" "id:4,phase:1,deny"\n`,
    fates: { 2: 'never matches', 3: 'certain', 4: 'certain' },
  },
  {
    name: 'one certain target of several is enough',
    rules:
      set(1, 'setvar:tx.a=1') + ask(2, 'ARGS|TX:a "@eq 1"') + ask(3, 'TX:a|TX:b "@eq 2"') + ask(4, 'ARGS|TX:a "@eq 2"'),
    fates: { 2: 'certain', 3: 'never matches', 4: 'kept' },
  },
  {
    name: 'captures are never known',
    rules: ask(1, 'TX:0 "@eq 1"') + ask(2, '&TX:1 "@eq 0"'),
    fates: { 1: 'kept', 2: 'kept' },
  },
  {
    name: 'an exclusion makes it uncertain',
    rules: set(1, 'setvar:tx.a=1') + ask(2, 'TX:a|!TX:a "@eq 1"'),
    fates: { 2: 'kept' },
  },
  {
    name: 'a chain is never when a link is, certain when all are',
    rules:
      set(1, 'setvar:tx.a=1') +
      'SecRule ARGS "@rx x" "id:2,phase:1,deny,chain"\n' +
      '  SecRule TX:a "@eq 2"\n' +
      'SecRule TX:a "@eq 1" "id:3,phase:1,deny,chain"\n' +
      '  SecRule &TX:b "@eq 0"\n' +
      'SecRule TX:a "@eq 1" "id:4,phase:1,deny,chain"\n' +
      '  SecRule ARGS "@rx x"\n',
    fates: { 2: 'never matches', 3: 'certain', 4: 'kept' },
  },
  {
    name: 'a chain that fails still acts before the impossible link',
    rules:
      'SecRule ARGS "@rx x" "id:2,phase:1,pass,setvar:tx.a=1,chain"\n  SecRule TX:none "@eq 2"\n' +
      ask(3, 'TX:a "@eq 1"'),
    fates: { 2: 'kept', 3: 'kept' },
  },
  // Writes
  {
    name: 'adding is done as at run time',
    rules: set(1, 'setvar:tx.a=5') + set(2, 'setvar:tx.a=+2') + set(3, 'setvar:tx.a=-10') + ask(4, 'TX:a "@eq -3"'),
    fates: { 1: 'constant setvar', 2: 'constant setvar', 3: 'constant setvar', 4: 'certain' },
    tx: { a: '-3' },
  },
  {
    name: 'a setvar of a value that may match again is unknown',
    rules:
      set(1, 'setvar:tx.n=0') +
      `SecRule ARGS "@rx x" "id:2,phase:1,${quiet},setvar:tx.n=+1"\n` +
      ask(3, 'TX:n "@eq 2"') +
      ask(4, 'TX:n "@eq 0"'),
    fates: { 2: 'kept', 3: 'kept', 4: 'kept' },
  },
  {
    name: 'unset is known',
    rules: set(1, 'setvar:tx.a=1') + set(2, 'setvar:!tx.a') + ask(3, '&TX:a "@eq 0"'),
    fates: { 3: 'certain' },
  },
  {
    name: 'constant macros',
    rules:
      set(1, 'setvar:tx.list=a b') +
      ask(2, 'ARGS "@within %{tx.list}"') +
      ask(3, 'ARGS "@streq %{tx.unset}"') +
      ask(4, 'ARGS "@streq %{REQUEST_METHOD}"') +
      ask(5, 'ARGS "@streq %{tx.0}"'),
    fates: { 2: 'kept', 3: 'kept', 4: 'kept', 5: 'kept' },
    constants: { 2: 'a b', 3: '' },
  },
  {
    name: 'a macro that its own matches change is no constant',
    rules: set(1, 'setvar:tx.v=a') + `SecRule ARGS "@streq %{tx.v}" "id:2,phase:1,log,pass,setvar:tx.v=b"\n`,
    fates: { 2: 'kept' },
    constants: {},
  },
  // Dynamic keys and expressions
  {
    name: 'a key made from the request may be any with its beginning',
    rules:
      `SecRule ARGS "@rx ." "id:1,phase:1,${quiet},setvar:tx.h_%{MATCHED_VAR}=1"\n` +
      ask(2, 'TX:h_a "@eq 1"') +
      ask(3, 'TX:g_a "@eq 1"') +
      ask(4, 'TX:/^h_/ "@eq 1"') +
      ask(5, 'TX:/^g_/ "@eq 1"'),
    fates: { 2: 'kept', 3: 'never matches', 4: 'kept', 5: 'never matches' },
  },
  {
    name: 'a key that is nothing but macros may be any',
    rules:
      `SecRule ARGS "@rx ." "id:1,phase:1,${quiet},setvar:tx.%{MATCHED_VAR}=1"\n` +
      ask(2, 'TX:h_a "@eq 1"') +
      ask(3, 'TX:/^h_/ "@eq 1"'),
    fates: { 2: 'kept', 3: 'kept' },
  },
  {
    name: 'expressions that are not a plain beginning are left alone',
    rules:
      ask(1, 'TX:/^ab?/ "@eq 1"') +
      ask(2, 'TX:/^ab|cd/ "@eq 1"') +
      ask(3, 'TX:/ab/ "@eq 1"') +
      ask(4, 'TX:/^0/ "@eq 1"') +
      ask(5, 'TX:/^ab/ "@eq 1"'),
    fates: { 1: 'kept', 2: 'kept', 3: 'kept', 4: 'kept', 5: 'never matches' },
  },
  {
    name: 'a count of no members is 0',
    rules: ask(1, '&TX:/^ab/ "@eq 0"') + ask(2, '&TX:/^ab/ "@gt 0"'),
    fates: { 1: 'certain', 2: 'never matches' },
  },
  // Removals
  {
    name: 'a gate that may be removed opens its region',
    rules:
      `SecRule ARGS:r "@eq 1" "id:1,phase:1,${quiet},ctl:ruleRemoveById=3"\n` +
      set(2, 'setvar:tx.pl=1') +
      gate(3, 'TX:pl "@lt 2"') +
      hit(4) +
      end,
    fates: { 3: 'certain', 4: 'kept' },
  },
  {
    name: 'a removal that takes the region too leaves it dead',
    rules:
      `SecRule ARGS:r "@eq 1" "id:1,phase:1,${quiet},ctl:ruleRemoveById=3-4"\n` +
      set(2, 'setvar:tx.pl=1') +
      gate(3, 'TX:pl "@lt 2"') +
      hit(4) +
      end,
    fates: { 4: 'always skipped' },
  },
  {
    name: 'by tag',
    rules:
      `SecRule ARGS:r "@eq 1" "id:1,phase:1,${quiet},ctl:ruleRemoveByTag=g"\n` +
      set(2, 'setvar:tx.pl=1') +
      `SecRule TX:pl "@lt 2" "id:3,phase:1,${quiet},tag:g,skipAfter:END"\n` +
      hit(4) +
      end,
    fates: { 3: 'certain', 4: 'kept' },
  },
  {
    name: 'a removed target makes a condition uncertain, another variable’s does not',
    rules:
      `SecRule ARGS:r "@eq 1" "id:1,phase:1,${quiet},` +
      'ctl:ruleRemoveTargetById=3;TX:pl,ctl:ruleRemoveTargetById=4;ARGS"\n' +
      set(2, 'setvar:tx.pl=1') +
      ask(3, 'TX:pl "@lt 2"') +
      ask(4, 'TX:pl "@lt 2"'),
    fates: { 3: 'kept', 4: 'certain' },
  },
  {
    name: 'removals act from their place on',
    rules:
      set(2, 'setvar:tx.pl=1') +
      gate(3, 'TX:pl "@lt 2"') +
      hit(4) +
      end +
      `SecRule ARGS:r "@eq 1" "id:9,phase:1,${quiet},ctl:ruleRemoveById=3"\n`,
    fates: { 3: 'constant setvar', 4: 'always skipped' },
  },
  // Phases
  {
    name: 'phase 5 follows any other',
    rules:
      hit(1) +
      set(2, 'setvar:tx.a=1') +
      ask(3, 'TX:a "@eq 1"', 5) +
      ask(4, '&TX:a "@eq 0"', 5) +
      ask(5, 'TX:a "@eq 1"', 2),
    fates: { 2: 'certain', 3: 'kept', 4: 'kept', 5: 'certain' },
  },
  {
    name: 'what is set before any rule may interrupt is set in phase 5',
    rules: set(1, 'setvar:tx.a=1') + hit(2) + ask(3, 'TX:a "@eq 1"', 5),
    fates: { 1: 'constant setvar', 3: 'certain' },
  },
  {
    name: 'what a later phase sets may be missing in phase 5',
    rules: set(1, 'setvar:tx.a=1', 4) + ask(2, 'TX:a "@eq 1"', 5),
    fates: { 1: 'certain', 2: 'kept' },
  },
  {
    name: 'behind an allow a rule may not run, and the next phase may begin without it',
    rules:
      `SecRule ARGS:x "@eq 1" "id:1,phase:1,${'nolog'},allow:phase"\n` +
      set(2, 'setvar:tx.a=1') +
      ask(3, '&TX:a "@eq 0"', 2) +
      ask(4, 'TX:b "@eq 1"', 2),
    fates: { 2: 'certain', 3: 'kept', 4: 'never matches' },
  },
  {
    name: 'ctl:ruleEngine ends hoisting as an interruption does',
    rules: `SecRule ARGS:x "@eq 1" "id:1,phase:1,${quiet},ctl:ruleEngine=Off"\n` + set(2, 'setvar:tx.a=1'),
    fates: { 2: 'certain' },
    tx: {},
  },
  // Hoisting
  {
    name: 'what is read before it is written stays',
    rules:
      `SecRule ARGS "@streq %{tx.a}" "id:1,phase:1,log,pass"\n` + set(2, 'setvar:tx.a=1') + set(3, 'setvar:tx.b=1'),
    fates: { 2: 'certain', 3: 'constant setvar' },
    tx: { b: '1' },
  },
  {
    name: 'what logs, has a severity or is of a later phase stays',
    rules:
      `SecAction "id:1,phase:1,log,pass,setvar:tx.a=1"\nSecAction "id:2,phase:1,${quiet},severity:2,setvar:tx.b=1"\n` +
      set(3, 'setvar:tx.c=1', 2),
    fates: { 1: 'certain', 2: 'certain', 3: 'certain' },
    tx: {},
  },
  {
    name: 'variables that a rule walks over keep their order by staying',
    rules: set(1, 'setvar:tx.w_a=1') + set(2, 'setvar:tx.v=1') + ask(3, 'TX:/^w_/ "@eq 1"'),
    fates: { 1: 'certain', 2: 'constant setvar' },
    tx: { v: '1' },
  },
  {
    name: 'where matches are seen by others nothing vanishes',
    rules:
      `SecRule &TX:a "@eq 0" "id:1,phase:1,${quiet},setvar:tx.a=1"\n` +
      gate(2, 'ARGS:q "@eq 1"') +
      ask(3, 'TX:none "@eq 1"') +
      end +
      ask(4, 'MATCHED_VAR "@streq 0"'),
    fates: { 1: 'certain', 2: 'kept', 3: 'never matches', 4: 'kept' },
    tx: {},
  },
];

function fatesOf(rules: string): {
  folded: FoldedProgram;
  fate: (id: number) => string;
  idOf: (item: number) => number;
} {
  const program = programOf(`SecRuleEngine On\n${rules}`);
  const folded = foldConstants(program);
  const idOf = (item: number): number => {
    const found = program.items[item];
    return found?.kind === 'rule' ? found.id : 0;
  };
  const fate = (id: number): string => {
    const item = program.items.findIndex((other) => other.kind === 'rule' && other.id === id);
    const active = folded.active.flat().includes(item);
    const reason = folded.folded.get(item) ?? (folded.certain.includes(item) ? 'certain' : 'kept');
    return active === folded.folded.has(item) ? `${reason}, but active: ${String(active)}` : reason;
  };
  return { folded, fate, idOf };
}

t.test('fates', (t) => {
  for (const { name, rules, fates, tx, constants } of rows) {
    const { folded, fate, idOf } = fatesOf(rules);
    t.same(Object.fromEntries(Object.keys(fates).map((id) => [id, fate(Number(id))])), fates, name);
    if (tx !== undefined) t.same(Object.fromEntries(folded.initialTx), tx, `${name}: TX at load`);
    if (constants !== undefined)
      t.same(
        Object.fromEntries(folded.constantArguments.map(([item, , argument]) => [idOf(item), argument])),
        constants,
        `${name}: constant arguments`,
      );
  }
  t.end();
});

const crs = findCrs();
t.test(
  'the core rule set folds by its paranoia level',
  { skip: crs === null ? 'no rule set: set CRS_DIR or run `node bin/crs.mjs`' : false },
  (t) => {
    const loaded = loadCoreRuleSet(crs ?? '', diskReader);
    const folds = [1, 2, 3, 4].map((paranoia) => {
      const { policy } = resolvePolicy(
        { mode: 'On', paranoia_level: paranoia },
        loaded.crs as NonNullable<typeof loaded.crs>,
      );
      const { program } = compileProgram(renderPolicy(policy as NonNullable<typeof policy>), { reader: diskReader });
      const folded = foldConstants(program as NonNullable<typeof program>);
      const count = (reason: string): number => [...folded.folded.values()].filter((one) => one === reason).length;
      t.ok(
        count('never matches') > 50 && count('constant setvar') > 10,
        `level ${paranoia}: ${folded.folded.size} items folded, ${folded.initialTx.length} constants`,
      );
      return { folded: folded.folded.size, skipped: count('always skipped') };
    });
    for (let level = 1; level < folds.length; level += 1) {
      const [lower, higher] = [folds[level - 1], folds[level]] as [
        { folded: number; skipped: number },
        { folded: number; skipped: number },
      ];
      t.ok(
        lower.folded > higher.folded && lower.skipped > higher.skipped,
        `level ${level} folds more (${lower.folded}) than level ${level + 1} (${higher.folded})`,
      );
    }
    t.ok((folds[3]?.skipped ?? 1) < 15, 'at the highest level hardly anything is skipped');
    t.end();
  },
);
