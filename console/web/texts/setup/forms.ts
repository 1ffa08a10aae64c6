// English texts that the pages of settings for people share (sites, limits, connectors).
import { some, type Shown } from '../shown.js';

export const formsText = {
  save: 'Save',
  saveAndApply: 'Save and apply',
  cancel: 'Cancel',
  saved: 'Saved. It protects once it is applied.',
  inForce: (version: Shown, seconds: Shown) => `Saved and in force: version ${version}, ${seconds} s.`,
  savedNotApplied: (why: Shown) => `Saved, but it could not be applied: ${why}`,
  othersWait: 'Other saved changes wait to be applied: this one is saved beside them, and all are applied together.',
  changedMeanwhile: 'Another user changed or removed this entry meanwhile. Close the form and open it again.',
  followInstallation: (value: Shown) => `As the installation (${value})`,
  on: 'On',
  off: 'Off',
  edit: 'Edit',
  remove: 'Remove',
  advanced: 'All settings of this kind',
  adminsChange: 'Administrators change this.',
  changes: (count: Shown) => some(count, 'change'),
} as const;
