// Slither: detectors of style, cost and information, and the weakness of the others (those of the SWC registry).
import { startsWithAny, type Pattern } from '../profile.js';
import type { WeaknessTable } from '../weakness-tables.js';

/** SARIF writes impact and confidence before the name: `3-0-naming-convention`. */
export const slitherStyle: Pattern = startsWithAny(
  '(?:\\d-\\d-)?(?:' +
    'naming-convention|pragma|solc-version|assembly|boolean-equal|dead-code|deprecated-standards|' +
    'erc20-indexed|unindexed-event-address|function-init-state|incorrect-using-for|' +
    'missing-inheritance|redundant-statements|similar-names|too-many-digits|unimplemented-functions|' +
    'unused-state|unused-import|costly-loop|cyclomatic-complexity|cache-array-length|' +
    'constable-states|external-function|immutable-states|var-read-using-this|assert-state-change' +
    ')$',
);

export const slitherWeaknesses: WeaknessTable = {
  20: 'missing-zero-check',
  252: 'unchecked-lowlevel unchecked-send unchecked-transfer unused-return return-leave',
  284: `arbitrary-send arbitrary-send-eth arbitrary-send-erc20 arbitrary-send-erc20-permit suicidal protected-vars
    unprotected-upgrade`,
  294: 'encode-packed-collision',
  330: 'weak-prng',
  400: 'calls-loop',
  451: 'rtlo',
  457: 'uninitialized-state uninitialized-local uninitialized-storage uninitialized-fptr-cst',
  563: 'write-after-write',
  571: 'tautology tautological-compare',
  682: 'divide-before-multiply incorrect-exp incorrect-shift',
  697: 'incorrect-equality',
  778: 'events-access events-maths',
  829: 'controlled-delegatecall delegatecall-loop timestamp low-level-calls',
  841: `reentrancy-eth reentrancy-no-eth reentrancy-benign reentrancy-events reentrancy-unlimited-gas
    reentrancy-balance`,
  863: 'tx-origin',
};
