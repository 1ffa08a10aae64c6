// English texts of runs of deduplication, of the import of applications and of lists of what is no secret.
import type { Shown } from '../../shown.js';

export const deduplicationsText = {
  title: 'Runs',
  about:
    'Looks at all open findings of an application again, and merges those that several tools have reported. Try it ' +
    'first: a run can be undone, and what a person has decided since stays.',
  application: 'Application',
  choose: 'Choose an application',
  confidence: 'At least so sure',
  confidences: { '1': '100 %', '0.8': '80 %', '0.5': '50 %' },
  tryIt: 'Try',
  run: 'Run',
  undo: 'Undo',
  undoOne: (a: Shown) => `Undo run ${a}`,
  begun: 'Begun: the list below says what becomes of it.',
  noRuns: 'No run yet',
  number: 'Run',
  kind: 'What',
  kinds: { trial: 'trial', run: 'run', undo: 'undoing' },
  state: 'State',
  result: 'Result',
  merged: (a: Shown, b: Shown) => `${a} duplicates in ${b} groups`,
  undone: (a: Shown, b: Shown) => `${a} taken back, ${b} kept`,
  at: 'Begun',
} as const;

export const importText = {
  title: 'Import applications',
  about:
    'A register as CSV or JSON, up to 5,000 rows: external_id, name, environment, business_criticality, project, ' +
    'owner, exposure, tags, site. Each row is taken or refused by itself; the same file again changes nothing.',
  file: 'File',
  tryIt: 'Try',
  run: 'Import',
  would: (a: Shown, b: Shown, c: Shown, d: Shown) => `Would be: ${a} new, ${b} changed, ${c} as before, ${d} refused.`,
  did: (a: Shown, b: Shown, c: Shown, d: Shown) => `${a} new, ${b} changed, ${c} as before, ${d} refused.`,
  ignored: (a: Shown) => `Columns that say nothing here: ${a}.`,
  row: 'Row',
  name: 'Name',
  why: 'Why not',
} as const;

export const allowedText = {
  title: 'What is no secret',
  none: 'Nothing is allowed',
  kind: 'By',
  value: 'Value',
  application: 'Application',
  every: 'every one',
  reason: 'Reason',
  until: 'Until',
  remove: 'Remove',
  removeOne: (a: Shown) => `Remove entry ${a}`,
  removed: 'Removed: from the next scan on it is found again.',
  removeRule: (a: Shown) => `Remove the rule ${a}`,
} as const;
