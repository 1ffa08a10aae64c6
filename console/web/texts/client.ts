// English texts of console/web/client.
import type { Shown } from './shown.js';

export const clientText = {
  consoleSServerDoes: 'The console’s server does not answer. Is it running?',
  daysAgo: (a: Shown) => `${a} days ago`,
  hAgo: (a: Shown) => `${a} h ago`,
  minAgo: (a: Shown) => `${a} min ago`,
  sAgo: (a: Shown) => `${a} s ago`,
} as const;
