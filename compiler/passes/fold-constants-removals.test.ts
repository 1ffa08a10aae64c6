// What folding takes away, and above all what it must not: dynamic keys, run-time removals, phases, and what is done at
// load. Then the core rule set as a whole.
import { requireSettings } from '#settings';
import t from 'tap';
import { diskReader } from '../disk/disk-reader.js';
import { compileProgram } from '../compile-program.js';
import { loadCoreRuleSet, renderPolicy, resolvePolicy } from '../index.js';
import { findCrs } from '../testing/core-rules.js';
import { ask, end, gate, hit, quiet, set, expectFates, type FoldRow } from '../testing/fold-rows.js';
import { foldConstants } from './fold-constants.js';

const rows: readonly FoldRow[] = [
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

t.test('fates', (t) => {
  expectFates(t, rows);
  t.end();
});

const crs = findCrs();
t.test(
  'the core rule set folds by its paranoia level',
  { skip: crs === null ? 'no rule set: run `bin/gatehouse rules update`, or set CRS_DIR' : false },
  (t) => {
    const loaded = loadCoreRuleSet(crs ?? '', diskReader);
    const folds = [1, 2, 3, 4].map((paranoia) => {
      const { policy } = resolvePolicy(
        requireSettings({ paranoia_level: paranoia }),
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
    // 3.3 carries exclusions for some applications (9001000 to 9006999), each behind a switch that is off
    const text = loaded.crs?.rules.map((source) => source.text).join('') ?? '';
    const switchedOff = text.match(/\bid:'?900[1-6]\d{3}\b/g)?.length ?? 0;
    t.ok((folds[3]?.skipped ?? 1) < 15 + switchedOff, 'at the highest level hardly anything is skipped');
    t.end();
  },
);
