// What folding takes away, and above all what it must not: gates, joins, conditions, writes.
import t from 'tap';
import { ask, end, gate, hit, quiet, set, expectFates, type FoldRow } from '../testing/fold-rows.js';

const rows: readonly FoldRow[] = [
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
];

t.test('fates', (t) => {
  expectFates(t, rows);
  t.end();
});
