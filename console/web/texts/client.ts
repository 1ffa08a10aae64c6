// English texts of console/web/client.
import { some, type Shown } from './shown.js';

export const clientText = {
  failedOnly: (a: Shown) =>
    `The control plane failed on this (${a}) and gave no reason; its log has it. Try again in a moment.`,
  refusedOnly: (a: Shown) => `The control plane refused this (${a}) and gave no reason.`,
  consoleSServerDoes: 'The console’s server does not answer. Is it running?',
  daysAgo: (a: Shown) => `${some(a, 'day')} ago`,
  hAgo: (a: Shown) => `${a} h ago`,
  minAgo: (a: Shown) => `${a} min ago`,
  sAgo: (a: Shown) => `${a} s ago`,
  days: (a: Shown) => `${some(a, 'day')}`,
  h: (a: Shown) => `${a} h`,
  hMin: (hours: Shown, minutes: Shown) => `${hours} h ${minutes} min`,
  min: (a: Shown) => `${a} min`,
  s: (a: Shown) => `${a} s`,
} as const;
