// What the admin interface can do, over loopback and over tunnels alike.
import type { MeasureTables } from '../../shared-state/measure-tables.js';
import type { Control } from '../start/control.js';
import type { AdminActions } from './server.js';
import { describe, describeGates, scrape, type Parts } from './status.js';

/** What the admin interface can do. `haveLoaded`: workers can take a generation from then on. */
export function actionsOf(parts: Parts, { word }: Control, haveLoaded: Promise<void>): AdminActions {
  const { generations, measures, gates, https } = parts;
  const spread = (tables: MeasureTables): void => parts.supervisor.spreadMeasures(tables);
  let isDraining = false;
  return {
    status: async () => ({ ...(await describe(parts)), draining: isDraining }),
    async activate(request) {
      await haveLoaded;
      const reply = await generations.activate(parts.supervisor, request);
      if (reply.outcome === 'active') word.hear();
      return reply;
    },
    isHealthy: () => parts.supervisor.readyCount > 0,
    whyClosed: () => generations.closed,
    isDraining: () => isDraining,
    setDraining(value) {
      isDraining = value;
    },
    metrics: () => scrape(parts),
    replaceMeasures: (text) => measures.replace(text, spread),
    changeMeasures: (delta) => measures.change(delta, spread),
    gates: () => describeGates(parts),
    bans: () => gates.bans,
    liftBans: (networks) => networks.filter((network) => gates.lift(network)).length,
    replaceSiteKeys: async (given) =>
      parts.supervisor.spread({ kind: 'siteKeys', set: await gates.replaceSiteKeys(given) }),
    replaceSafe: (addresses) => parts.supervisor.spread({ kind: 'safe', list: gates.replaceSafe(addresses) }),
    // Workers answer messages in turn: one that has reported answers with what it was told before.
    async replaceChallenges(table) {
      https.replaceChallenges(table);
      await parts.supervisor.report();
    },
    async replaceCertificates(list) {
      await https.replaceCertificates(list);
      await parts.supervisor.report();
    },
    https: () => https.describe(),
  };
}
