// The address of a line of code at the host of its repository. Everything in it comes from people and tools: an address
// is built of checked parts, or there is none.
import { isIPv4 } from 'node:net';

export const hostKinds = ['github', 'gitlab', 'bitbucket', 'bitbucket-server', 'gitea'] as const;
export type HostKind = (typeof hostKinds)[number];

export interface SourcePlace {
  /** As it was given for a repository: https, ssh, or `git@host:owner/name`. */
  readonly repository: string;
  /** Of the webhook of the same repository; null: by the name of the host. */
  readonly kind: HostKind | null;
  readonly commit: string;
  /** Where there is no commit. */
  readonly branch: string;
  /** From the root of the repository. */
  readonly path: string;
  readonly line: number | null;
}

const word = /^[\w~][\w.~-]*$/;

interface Known {
  readonly origin: string;
  readonly host: string;
  /** Without `.git`. */
  readonly parts: readonly string[];
}

/** Without user, port of ssh, query and fragment; null for what has no owner and name. */
function readRepository(text: string): Known | null {
  const [, scpHost, scpPath] = /^git@([\w.-]+):(?!\/\/)(.+)$/.exec(text) ?? [];
  const given = scpHost === undefined ? text : `ssh://${scpHost}/${scpPath ?? ''}`;
  if (!URL.canParse(given)) return null;
  const { protocol, hostname, host, pathname } = new URL(given);
  if (protocol !== 'https:' && protocol !== 'http:' && protocol !== 'ssh:') return null;
  if (hostname === '') return null;
  const parts = pathname
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .split('/')
    .slice(1);
  if (parts.length < 2 || !parts.every((part) => word.test(part))) return null;
  // who clones by ssh reads by https
  const origin = protocol === 'ssh:' ? `https://${hostname}` : `${protocol}//${host}`;
  return { origin, host: hostname.toLowerCase(), parts };
}

const labels: Readonly<Record<string, HostKind>> = {
  github: 'github',
  gitlab: 'gitlab',
  gitea: 'gitea',
  forgejo: 'gitea',
  codeberg: 'gitea',
  bitbucket: 'bitbucket-server',
  stash: 'bitbucket-server',
};

function kindOf({ host, parts }: Known, kind: HostKind | null): HostKind | null {
  if (host === 'bitbucket.org') return 'bitbucket';
  const named =
    kind ??
    (isIPv4(host)
      ? undefined
      : host
          .split('.')
          .map((label) => labels[label])
          .find(Boolean));
  // what the webhook calls bitbucket is the cloud; a server of one's own has other addresses
  const isServer = parts[0] === 'scm' || parts[0] === 'projects' || parts[0] === 'users';
  return named === 'bitbucket' || named === 'bitbucket-server'
    ? isServer
      ? 'bitbucket-server'
      : null
    : (named ?? null);
}

const encoded = (parts: readonly string[]): string => parts.map(encodeURIComponent).join('/');

function partsOfPath(path: string): string[] | null {
  const parts = path.replace(/^(?:\.\/)+/, '').split('/');
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..');
  // eslint-disable-next-line no-control-regex
  return isPlain && !/[\\\u0000-\u001f\u007f]|^[A-Za-z]:/.test(path) && path.length <= 1500 ? parts : null;
}

/** `https://bitbucket.example/scm/PRO/name.git` is shown at `/projects/PRO/repos/name`. */
function serverPath([first = '', second = '', third = '', fourth = '']: readonly string[]): string {
  const [owner, name] = first === 'scm' ? [second, third] : [second, third === 'repos' ? fourth : third];
  return owner.startsWith('~') || first === 'users'
    ? `users/${owner.replace(/^~/, '')}/repos/${name}`
    : `projects/${owner}/repos/${name}`;
}

/** null: it is not known how the host shows a line, or a part of it would not be safe in an address. */
export function sourceLink(place: SourcePlace): string | null {
  const known = readRepository(place.repository.trim());
  const path = partsOfPath(place.path);
  if (known === null || path === null) return null;
  const isCommit = /^[0-9a-f]{7,64}$/i.test(place.commit);
  const branch = place.branch.split('/');
  const isBranch = branch.every((part) => /^[\w+@=-][\w.+@=-]*$/.test(part) && !part.includes('..'));
  if (!isCommit && !isBranch) return null;
  const ref = isCommit ? place.commit : encoded(branch);
  const file = encoded(path);
  const line = Number.isSafeInteger(place.line) && Number(place.line) > 0 ? Number(place.line) : null;
  const at = (before: string): string => (line === null ? '' : `#${before}${line}`);
  const base = `${known.origin}/${known.parts.join('/')}`;
  switch (kindOf(known, place.kind)) {
    case 'github':
      return `${base}/blob/${ref}/${file}${at('L')}`;
    case 'gitlab':
      return `${base}/-/blob/${ref}/${file}${at('L')}`;
    case 'bitbucket':
      return `${base}/src/${ref}/${file}${at('lines-')}`;
    case 'gitea':
      return `${base}/src/${isCommit ? 'commit' : 'branch'}/${ref}/${file}${at('L')}`;
    case 'bitbucket-server': {
      const which = isCommit ? place.commit : `refs/heads/${place.branch}`;
      const server = serverPath(known.parts);
      return `${known.origin}/${server}/browse/${file}?at=${encodeURIComponent(which)}${at('')}`;
    }
    case null:
      return null;
  }
}
