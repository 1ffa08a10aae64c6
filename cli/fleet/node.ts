// `gatehouse node`: `token` on the host of the control plane makes a token, `join` on a new node enrols it with that,
// `show` says what this node is, `drain` takes it out of its load balancer. The private key is made on the node and
// never leaves it. The image of a data plane has no control plane in it: only `token` loads anything of that.
import { X509Certificate } from 'node:crypto';
import { resolve } from 'node:path';
import { IdentityStore, JoinError, joinFleet } from '#proxy/main';
import type { Values } from '#settings/environment';
import { parseOptions } from '../command-line.js';
import { root } from '../environment/directories.js';
import { readFlags } from '../environment/flags.js';
import { closeDirectory } from '../environment/private-files.js';
import { adoptDirectories, readEnvironment } from '../environment/read-environment.js';
import { Refusal, withFiles, wrongUsage } from '../refusal.js';
import { drainNode } from './drain.js';
import { addressesOf, ownName, readLabels, type Asked } from './words.js';

const options = {
  label: { type: 'string', multiple: true },
  minutes: { type: 'string' },
  'nodes-max': { type: 'string' },
  'forget-after': { type: 'string' },
  wait: { type: 'string' },
  undo: { type: 'boolean' },
  name: { type: 'string' },
  json: { type: 'boolean' },
} as const;

const help = 'gatehouse node takes token, join URL TOKEN, drain, or show; "gatehouse help" has them.';

/** Throws Refusal for what is wrong with the words, the token, the network or the disk. */
export async function runNode(args: readonly string[]): Promise<number> {
  const { flags, others } = readFlags(args);
  const { values: asked, positionals } = parseOptions({ args: [...others], allowPositionals: true, options });
  const [action, ...rest] = positionals;
  const values = readEnvironment(flags);
  adoptDirectories(values);
  if (action === 'token' && rest.length === 0) return (await import('./token.js')).makeToken(values, asked);
  if (action === 'join' && rest.length === 2) return join(values, asked, rest[0] ?? '', rest[1] ?? '');
  if (action === 'show' && rest.length === 0) return show(values);
  if (action === 'drain' && rest.length === 0) return drainNode(values, asked.wait, asked.undo === true);
  throw wrongUsage(help);
}

async function join(values: Values, asked: Asked, urls: string, token: string): Promise<number> {
  const dataDir = resolve(root, values.GATEHOUSE_DATA);
  withFiles(() => closeDirectory(dataDir));
  const addresses = addressesOf(urls);
  const identity = await joinFleet({
    dataDir,
    addresses,
    token,
    name: asked.name ?? ownName(),
    labels: readLabels(asked.label ?? []),
  }).catch((error: unknown) => {
    throw error instanceof JoinError ? new Refusal(error.message) : error;
  });
  console.log(
    `This node is ${identity.name} now. Control planes: ${identity.addresses.join(', ')}.\n` +
      'Start it (or restart it) with "gatehouse data-plane"; it serves as soon as a control plane has sent the rules.',
  );
  return 0;
}

function show(values: Values): number {
  const dataDir = resolve(root, values.GATEHOUSE_DATA);
  let store: IdentityStore | null;
  try {
    store = IdentityStore.read(dataDir);
  } catch (error) {
    throw error instanceof Error ? new Refusal(error.message) : error;
  }
  if (store === null) throw new Refusal('This node has not joined: "gatehouse node join URL TOKEN".');
  const { name, addresses, certificate } = store.current;
  console.log(`name            ${name}`);
  console.log(`control planes  ${addresses.join(', ')}`);
  console.log(`certificate     until ${new Date(new X509Certificate(certificate).validTo).toISOString()}`);
  return 0;
}
