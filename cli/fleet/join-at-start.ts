// A data plane that enrols by itself (JOIN_URLS): a pod, or a machine that a program made. Until a control plane
// answers it asks again; what a control plane refuses ends the start.
import { setTimeout as wait } from 'node:timers/promises';
import { forgetIdentity, IdentityStore, isStillMember, joinFleet, JoinError, readJoinToken } from '#proxy/main';
import type { Values } from '#settings/environment';
import { Refusal } from '../refusal.js';
import { addressesOf, ownName, readLabels } from './words.js';

const retryMsMin = 1_000;
const retryMsMax = 15_000;

export interface JoinAtStart {
  readonly values: Values;
  readonly dataDir: string;
  readonly say: (text: string) => void;
}

function tokenOf({ JOIN_TOKEN: token, NODES_JOIN_SECRET: secret }: Values): string | { readonly secret: string } {
  if (token !== '') {
    try {
      readJoinToken(token);
    } catch (error) {
      throw error instanceof JoinError ? new Refusal(`JOIN_TOKEN cannot be used. ${error.message}`) : error;
    }
    return token;
  }
  if (secret !== '') return { secret };
  throw new Refusal('JOIN_URLS is set, and nothing to join with: set NODES_JOIN_SECRET or JOIN_TOKEN.');
}

function read(dataDir: string): IdentityStore | null {
  try {
    return IdentityStore.read(dataDir);
  } catch (error) {
    throw error instanceof Error ? new Refusal(error.message) : error;
  }
}

/** Who the node is; null: it never enrolled, and is not to. Throws Refusal for what only an operator can change. */
export async function identityAtStart({ values, dataDir, say }: JoinAtStart): Promise<IdentityStore | null> {
  const identity = read(dataDir);
  if (values.JOIN_URLS === '') return identity;
  const addresses = addressesOf(values.JOIN_URLS);
  const labels = readLabels(values.JOIN_LABELS === '' ? [] : values.JOIN_LABELS.split(','), 'JOIN_LABELS');
  const token = tokenOf(values);
  if (identity !== null) {
    if (await isStillMember(identity)) return identity;
    say(`The control planes do not know the node ${identity.current.name} any more; it joins again.`);
    await forgetIdentity(dataDir);
  }
  const given = { dataDir, addresses, token, name: values.JOIN_NAME || ownName(), labels };
  for (let pauseMs = retryMsMin; ; pauseMs = Math.min(retryMsMax, pauseMs * 2)) {
    const problem = await joinFleet(given).then(
      () => null,
      (error: unknown) => error,
    );
    if (problem === null) return read(dataDir);
    if (!(problem instanceof JoinError)) throw problem;
    if (problem.isFinal) throw new Refusal(`This node could not join. ${problem.message}`);
    say(`This node could not join yet; it tries again. ${problem.message}`);
    await wait(pauseMs / 2 + Math.random() * pauseMs);
  }
}
