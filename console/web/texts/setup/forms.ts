// English texts that the pages of sites, limits and connectors share.
import type { Shown } from '../shown.js';

export const formsText = {
  save: 'Save',
  saveAndApply: 'Save and apply',
  saved: 'Saved. It protects once it is applied.',
  inForce: (version: Shown, seconds: Shown) => `Saved and in force: version ${version}, ${seconds} s.`,
  savedNotApplied: (why: Shown) => `Saved, but it could not be applied: ${why}`,
  othersWait: 'Other saved changes wait to be applied: this one is saved with them, and all are applied together.',
  changedMeanwhile: 'Another user changed or removed this entry meanwhile. Close the form and open it again.',
  followInstallation: (value: Shown) => `As the installation (${value})`,
  on: 'On',
  off: 'Off',
  edit: 'Edit',
} as const;
