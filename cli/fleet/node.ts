// `gatehouse node`: `token` on the host of the control plane makes a one-time token, `join` on a new node enrols it
// with that, `show` says what this node is. The private key is made on the node and never leaves it.
import { X509Certificate } from 'node:crypto';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { localTokenOf } from '#api/main';
import { IdentityStore, JoinError, joinFleet } from '#proxy/main';
import type { Values } from '#settings/environment';
import { parseOptions } from '../command-line.js';
import { controlUrl } from '../environment/control-url.js';
import { root } from '../environment/directories.js';
import { readFlags } from '../environment/flags.js';
import { closeDirectory } from '../environment/private-files.js';
import { adoptDirectories, controlPlaneEnvironment, readEnvironment } from '../environment/read-environment.js';
import { networkRefusal, Refusal, withFiles, wrongUsage } from '../refusal.js';
import { readControlEnv } from '../commands/control-plane.js';

const options = {
  label: { type: 'string', multiple: true },
  minutes: { type: 'string' },
  name: { type: 'string' },
  json: { type: 'boolean' },
} as const;

interface Asked {
  readonly label?: string[];
  readonly minutes?: string;
  readonly name?: string;
  readonly json?: boolean;
}

const help = 'gatehouse node takes token, join URL TOKEN, or show; "gatehouse help" has them.';

/** Throws Refusal for what is wrong with the words, the token, the network or the disk. */
export async function runNode(args: readonly string[]): Promise<number> {
  const { flags, others } = readFlags(args);
  const { values: asked, positionals } = parseOptions({ args: [...others], allowPositionals: true, options });
  const [action, ...rest] = positionals;
  const values = readEnvironment(flags);
  adoptDirectories(values);
  if (action === 'token' && rest.length === 0) return makeToken(values, asked);
  if (action === 'join' && rest.length === 2) return join(values, asked, rest[0] ?? '', rest[1] ?? '');
  if (action === 'show' && rest.length === 0) return show(values);
  throw wrongUsage(help);
}

function labelsOf({ label = [] }: Asked): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const text of label) {
    const at = text.indexOf('=');
    if (at < 1 || at === text.length - 1) throw wrongUsage(`--label takes NAME=VALUE; ${text} is not that.`);
    labels[text.slice(0, at)] = text.slice(at + 1);
  }
  return labels;
}

interface Made {
  readonly token: string;
  readonly command: string;
  readonly expires_at: string;
  readonly addresses: readonly string[];
}

async function makeToken(values: Values, asked: Asked): Promise<number> {
  const env = readControlEnv(controlPlaneEnvironment(values));
  const url = `${controlUrl(values)}/api/nodes/tokens/local`;
  const minutes = asked.minutes === undefined ? undefined : Number(asked.minutes);
  if (minutes !== undefined && !Number.isInteger(minutes)) throw wrongUsage('--minutes takes a whole number.');
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${localTokenOf(env.authSessionSecret)}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      labels: labelsOf(asked),
      ...(minutes === undefined ? {} : { expires_in_minutes: minutes }),
    }),
    signal: AbortSignal.timeout(20_000),
  }).catch((error: unknown) => {
    throw networkRefusal(`the control plane at ${controlUrl(values)}`, error) ?? error;
  });
  const body = (await answer.json().catch(() => null)) as (Made & { readonly detail?: string }) | null;
  if (!answer.ok || body === null)
    throw new Refusal(`the control plane answered ${answer.status}: ${body?.detail ?? 'no reason'}`);
  if (asked.json === true) console.log(JSON.stringify(body));
  else {
    console.log(`On the new node, before ${body.expires_at}:\n\n  ${body.command}\n`);
    if (body.addresses.length === 0)
      console.log('ADDRESS:PORT is where the node reaches NODES_PORT of this control plane; NODES_URLS names it.');
  }
  return 0;
}

/** `eu-node-1:8096` is meant as https. */
function addressesOf(text: string): string[] {
  return text.split(',').map((part) => {
    const url = part.includes('://') ? part.trim() : `https://${part.trim()}`;
    if (!URL.canParse(url) || new URL(url).protocol !== 'https:')
      throw wrongUsage(`${part} is not the address of a control plane, such as https://control.example.org:8096.`);
    return new URL(url).origin;
  });
}

const ownName = (): string =>
  hostname()
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, '-')
    .replaceAll(/^[.-]+|[.-]+$/g, '')
    .slice(0, 60) || 'node';

async function join(values: Values, asked: Asked, urls: string, token: string): Promise<number> {
  const dataDir = resolve(root, values.GATEHOUSE_DATA);
  withFiles(() => closeDirectory(dataDir));
  const addresses = addressesOf(urls);
  const identity = await joinFleet({
    dataDir,
    addresses,
    token,
    name: asked.name ?? ownName(),
    labels: labelsOf(asked),
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
