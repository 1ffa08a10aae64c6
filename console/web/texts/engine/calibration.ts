// English texts of the calibration of the detection engine (console/web/pages/engine/calibration.tsx).
import type { Shown } from '../shown.js';

export const calibrationText = {
  about:
    'How far verdicts can be trusted here: of clients that are known, who was an attacker. Known are those of waves ' +
    'that were sent, and those that a user marked as an attack or a false positive.',
  window: 'How far back',
  windows: { '7': '7 days', '30': '30 days', '90': '90 days', '365': 'a year' },
  since: (a: Shown) => `Counted since ${a}.`,
  simulated: 'Simulated clients',
  ofWaves: (a: Shown) => `attackers; waves: ${a}`,
  markedAttack: 'Called attacks',
  markedFalse: 'Called false positives',
  markedNote: 'by users, in verdicts',
  needed: 'Cases needed',
  neededNote: 'for a figure; fewer give an interval alone',
  nothingKnown: 'No client is known yet',
  nothingKnownAbout: 'Send a wave of attacks, or say of verdicts whether they were right: then it can be counted.',
  offAbout: 'No client gets a verdict, and no wave that is sent now will count here.',
  nothingKnownOff: 'Once the engine is on and applied, send a wave of attacks: then it can be counted.',
  byRung: 'Precision and recall',
  byRungAbout:
    'Precision: of known clients with this verdict or a stronger one, the attackers. Recall: of simulated attackers, ' +
    'those that got it. The bar is the interval that holds the true share with 95 %.',
  rung: 'Verdict',
  precision: 'Precision',
  recall: 'Recall',
  casesOf: (a: Shown, b: Shown) => `${a} of ${b}`,
  interval: (a: Shown, b: Shown) => `95 % interval: ${a} to ${b} %`,
  noCase: 'No case is known.',
  reliability: 'Attackers by risk',
  reliabilityAbout: 'A risk can be trusted where higher ones hold more attackers. Bands without a case are left out.',
  risk: 'Risk',
  riskOf: (a: Shown, b: Shown) => `${a} to ${b}`,
  attackers: 'Attackers',
  waves: 'Wave by wave',
  wave: 'Wave',
  clients: 'Clients',
  reached: (a: Shown) => `Reached ${a}`,
  noWaves: 'No wave was sent in this time',
} as const;
