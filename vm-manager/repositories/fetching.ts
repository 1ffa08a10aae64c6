// The code of a repository, fetched from its address: of hosts that the setting `vm_git_hosts` names, by the guarded
// way out, with what is sealed for that origin.
import { ApiError } from '#http-kit';
import { unfit, type Call } from '../kit/endpoint.js';
import type { Row } from '../kit/resource.js';
import { textOf } from '../kit/values/text.js';
import { authoritiesFile } from './git/authorities.js';
import { fetchTree, type FetchedTree } from './git/fetch.js';
import { limits } from './store.js';

const atOnceMax = 2;
let running = 0;

/** `https://git.example:8443`; null: the address is none that is fetched from. */
export const originOf = (url: unknown): string | null => {
  if (typeof url !== 'string' || !/^https?:\/\//.test(url) || !URL.canParse(url)) return null;
  return new URL(url).origin;
};

export const placeOfCredential = (origin: string): string => `vm_repositories:/${origin}`;

/** Names of the setting: with a port that one, without any. */
const isNamed = (url: URL, hosts: readonly string[]): boolean =>
  hosts.some((one) => one === url.host || one === url.hostname);

async function requireTarget({ host }: Call, url: unknown): Promise<URL> {
  if (originOf(url) === null)
    throw unfit('/url', 'is none that is fetched from', 'give the repository an https address, without a password');
  const target = new URL(String(url));
  const hosts = (await host.gitHosts?.()) ?? [];
  if (!isNamed(target, hosts))
    throw new ApiError(
      'outbound_refused',
      `${target.host} is no host that repositories are fetched from: an administrator adds it to the setting ` +
        'vm_git_hosts.',
    );
  // in the clear, the way to a host that the operator has named is taken for one of his own network
  if (target.protocol === 'http:' && (await host.wayOut?.isAllowListed(target.href)) !== true)
    throw new ApiError('outbound_refused', `${target.host} is asked by https alone: OUTBOUND_ALLOW does not name it.`);
  return target;
}

function credentialOf({ host }: Call, repository: Row, { origin }: URL) {
  const sealed = repository['credential'];
  if (typeof sealed !== 'string') return null;
  try {
    return {
      user: textOf(repository['credential_user']),
      word: host.secrets.open(sealed, placeOfCredential(origin)),
    };
  } catch {
    throw new ApiError('conflict', 'The credential was sealed for another address or installation: give it again.');
  }
}

/** The branch as an archive. Throws ApiError; nothing is left behind then. */
export async function fetchRepository(call: Call, repository: Row, branch: string): Promise<FetchedTree> {
  const target = await requireTarget(call, repository['url']);
  const connect = call.host.wayOut?.connect;
  if (connect === undefined) throw new ApiError('not_ready', 'This server asks nobody outside.');
  const credential = credentialOf(call, repository, target);
  if (running >= atOnceMax)
    throw new ApiError('conflict', `${atOnceMax} repositories are fetched already: try again in a minute.`);
  running++;
  try {
    const authorities = authoritiesFile((await call.host.gitAuthorities?.()) ?? '');
    const wanted = { url: target.href, branch, credential, authorities, directory: textOf(repository['directory']) };
    return await fetchTree(wanted, connect, { bytesMax: limits.archiveBytesMax, msMax: limits.fetchMsMax });
  } finally {
    running--;
  }
}
