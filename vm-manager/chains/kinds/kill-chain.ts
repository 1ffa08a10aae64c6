// The kill chain of an application: the best finding of each stage that has one, where at least two have.
import { compareHops, type ApplicationView, type Candidate } from '../candidate.js';
import { chainOf, type Chain } from '../chain.js';

export function killChain(view: ApplicationView): Chain | null {
  const hops = [...view.stages.values()].map((candidates) => candidates[0] as Candidate).sort(compareHops);
  return hops.length < 2 ? null : chainOf('kill-chain', hops);
}
