// English texts of findings that users write and correct themselves.
import type { Shown } from '../shown.js';

export const byHandText = {
  newFinding: 'New finding',
  about: 'What no tool reports: of a review, a test or a person outside.',
  correct: 'Correct it',
  application: 'Application',
  choose: 'Choose',
  title: 'Title',
  severity: 'Severity',
  location: 'Where',
  locationHelp: 'A file and line, or an address.',
  cwe: 'Weaknesses (CWE)',
  cweHelp: 'Such as 79; several with commas.',
  identifiers: 'Identifiers',
  identifiersHelp: 'CVE or others; several with commas.',
  description: 'Description',
  save: 'Save',
  created: (a: Shown) => `Finding ${a} is there.`,
  saved: 'Saved.',
  delete: 'Delete',
  deleteTitle: 'Delete the finding?',
  deleteAbout: 'With its history and comments. A report that has it makes it anew.',
  deleted: 'The finding is gone.',
} as const;
