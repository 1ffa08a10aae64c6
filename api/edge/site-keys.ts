// Public keys of the sites' tokens: fetched from `auth_jwks_url` by the guarded client, beside the road, and given to
// the nodes. Every ten minutes, and sooner when a node met a token whose key it does not know; then at most once a
// minute, so that made-up key names do not make us ask all the time. What cannot be fetched leaves the keys of before
// in force; nodes use them for a day.
import type { Settings } from '#settings';
import type { Job } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import type { NodeGates } from './node-gates.js';

export type SiteKeyParts = Pick<Parts, 'outbound' | 'currentSettings'> & { readonly nodeGates: NodeGates | null };

const bytesMax = 256 * 1024;
const timeoutMs = 10_000;
const everyMs = 10 * 60_000;
const pauseMs = 60_000;
const keysMax = 100;

interface Fetched {
  readonly url: string;
  readonly fetchedAtMs: number;
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

/** The members that a public key has; private ones never leave this function. */
const publicMembers = ['kty', 'crv', 'x', 'y', 'n', 'e', 'kid', 'use', 'alg', 'key_ops'] as const;

/** Throws Error for what is no key set (RFC 7517 section 5), or has no key in it. */
export function readKeys(text: string): readonly Readonly<Record<string, unknown>>[] {
  const { keys } = (JSON.parse(text) ?? {}) as { readonly keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('it is no JSON Web Key Set: there is no list "keys"');
  const usable = (keys as unknown[]).filter(
    (key): key is Record<string, unknown> => typeof key === 'object' && key !== null && 'kty' in key && !('k' in key),
  );
  if (usable.length === 0) throw new Error('there is no public key in it');
  if (usable.length > keysMax) throw new Error(`there are ${usable.length} keys in it, at most ${keysMax} are taken`);
  return usable.map((key) =>
    Object.fromEntries(publicMembers.flatMap((name) => (name in key ? [[name, key[name]]] : []))),
  );
}

const wantedUrl = ({ auth_enabled: isOn, auth_alg: alg, auth_jwks_url: url }: Settings): string =>
  isOn && alg !== 'HS256' ? url : '';

export function createSiteKeyJob(parts: SiteKeyParts): Job {
  let fetched: Fetched | null = null;
  let attemptedAtMs = 0;
  return {
    name: 'site-keys',
    everyMs: 15_000,
    timeoutMs: 60_000,
    async run({ nowMs }) {
      const { nodeGates } = parts;
      const url = wantedUrl(await parts.currentSettings());
      if (nodeGates === null || url === '') return 'no key set is needed';
      const nodes = (await nodeGates.figures()).flatMap(({ node, answer }) =>
        answer === null ? [] : [{ node, keys: answer.siteKeys }],
      );
      const isKnown = fetched?.url === url;
      const isWanted = nodes.some(({ keys }) => keys.wantedAtMs > attemptedAtMs);
      const waitedMs = nowMs - attemptedAtMs;
      if (
        !isKnown ||
        waitedMs >= everyMs ||
        ((isWanted || nowMs - (fetched?.fetchedAtMs ?? 0) >= everyMs) && waitedMs >= pauseMs)
      ) {
        attemptedAtMs = nowMs;
        const reply = await parts.outbound.send(url, { bytesMax, timeoutMs });
        if (reply.status !== 200) throw new Error(`${url} answered ${reply.status}`);
        fetched = { url, fetchedAtMs: nowMs, keys: readKeys(reply.body.toString('utf8')) };
      }
      const set = fetched;
      if (set === null) return 'the key set could not be fetched yet';
      const behind = nodes.filter(({ keys }) => keys.url !== set.url || keys.fetchedAtMs !== set.fetchedAtMs);
      await Promise.all(behind.map(({ node }) => nodeGates.giveKeys(node, set)));
      return behind.length === 0 ? 'nodes have the key set' : `${set.keys.length} keys for ${behind.length} nodes`;
    },
  };
}
