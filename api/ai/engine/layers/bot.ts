// What kind of program a client is, by what it admits and by what it lacks. The weights follow the signals of bot
// defence (proxy/admit/bots/): scanners most, then libraries and empty names, headless browsers, crawlers.
import type { FeatureVector, Signal } from '../vector.js';

const classes: readonly (readonly [agent: string, name: string, points: number])[] = [
  ['scanner', 'Offensive tool', 90],
  ['automation', 'HTTP library', 40],
  ['empty', 'No User-Agent', 40],
  ['headless', 'Headless browser', 35],
  ['crawler', 'Crawler', 15],
];
/** Rule of bot defence for crawlers that are not what they claim (proxy/admit/bots/bots.ts). */
const impostorRule = '1006401';
/** User-Agents behind one session at most, before they look made up. */
const agentsMax = 8;

export function botSignals(vector: FeatureVector): Signal[] {
  const signals: Signal[] = [];
  const add = (code: string, name: string, points: number, evidence: Signal['evidence']): void =>
    void signals.push({ code, layer: 'bot', name, points, evidence, attack: ['T1595'], owasp: [] });
  for (const [agent, name, points] of classes) {
    const requests = vector.agents[agent] ?? 0;
    if (requests > 0) add(`bot.${agent}`, name, points, { requests, of: vector.requests });
  }
  const impostor = vector.rules[impostorRule] ?? 0;
  if (impostor > 0) add('bot.impostor', 'Crawler under a false name', 80, { requests: impostor });
  if (vector.odd_browsers >= 3)
    add('bot.odd-browser', 'Browser without fields of one', 30, { requests: vector.odd_browsers, of: vector.requests });
  if (vector.user_agents > agentsMax && vector.user_agents > 2 * vector.sessions)
    add('bot.many-agents', 'Many User-Agents', 40, { user_agents: vector.user_agents, sessions: vector.sessions });
  return signals;
}
