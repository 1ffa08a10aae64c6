// English texts of console/web/pages/soc-wall.
import { some, type Shown } from '../shown.js';

export const wallText = {
  title: 'SOC wall',
  about: 'For a screen on the wall: what is under attack now. It reads everything anew every 10 seconds.',
  fullScreen: 'Full screen',
  requests: 'Requests a minute',
  blocked: 'Blocked a minute',
  mean: (minutes: Shown) => `mean of ${minutes} minutes`,
  ofRequests: (percent: Shown) => `${percent} % of the requests`,
  events: 'Security events in 15 minutes',
  eventsBlocked: (n: Shown) => `${n} of them blocked`,
  attackMode: 'Attack mode',
  isActive: 'Active',
  isCalm: 'Calm',
  isOff: 'Off',
  onNodes: (n: number) => `on ${some(n, 'node')}`,
  noNode: 'no node answers',
  lastHour: 'Security events of the last hour',
  clients: 'Clients behind them, 15 minutes',
  categories: 'Kinds of attack, 15 minutes',
  countries: 'Countries, 15 minutes',
  latest: 'Latest',
  none: 'Nothing in 15 minutes',
  stale: (since: Shown) => `No answer from the control plane since ${since}. What is shown is older.`,
  never: 'The control plane has not answered yet.',
  degraded: 'The control plane is degraded: see System, Health.',
} as const;
