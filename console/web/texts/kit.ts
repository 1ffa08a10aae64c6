// English texts of console/web/kit.
import type { Shown } from './shown.js';

export const kitText = {
  staleTable: 'What is shown is not up to date',
  unreadTable: 'This could not be read',
  tryAgain: 'Try again',
  more: 'More',
  loading: 'Loading',
  clear: 'Clear',
  removeFilter: (a: Shown) => `Remove the filter ${a}`,
  filter: 'Filter',
  thereNoFilterFilters: (a: Shown, b: Shown) => `There is no filter "${a}". Filters are ${b}.`,
  cancel: 'Cancel',
  dismiss: 'Dismiss',
  notes: 'Notes',
  close: 'Close',
  requestsOverTime: 'Requests over time',
  helpProblem: (a: Shown, b: Shown) => `${a}-help ${b}-problem`,
  blocked2: 'Blocked',
  requests2: 'Requests',
  leaveUnsaved: 'Leave without saving?',
  leaveAnyway: 'Leave and discard',
  stayHere: 'Stay here',
  unsavedIsLost: 'What you have typed here is not saved. If you leave, it is gone.',
  whatIsShownIsOf: (a: Shown) => `What is shown is not up to date: ${a}`,
  blockedOf: (a: Shown) => `${a} blocked`,
  requestsOf: (a: Shown) => `${a} requests`,
} as const;
