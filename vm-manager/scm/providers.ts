// What hosts of repositories send, and how they sign it. GitHub: X-Hub-Signature-256, HMAC-SHA256 of the body; Gitea
// and Forgejo: X-Gitea-Signature, the same without a prefix; Bitbucket: X-Hub-Signature, as GitHub's; GitLab:
// X-Gitlab-Token, the secret itself, or with a signing token the three headers of Standard Webhooks. Comparisons take
// one time, whatever is equal.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { at, list, obj, str, type Json } from '../imports/normalize.js';

/** A state of the code that somebody pushed or proposes. */
export interface Pushed {
  readonly commit: string;
  readonly branch: string;
}

export interface Provider {
  /** `owner/name`, in lower case; empty where the body names none. */
  readonly repository: (body: Json) => string;
  /** Of this delivery; repeated with it when it is sent again. */
  readonly delivery: (headers: IncomingHttpHeaders) => string;
  readonly event: (headers: IncomingHttpHeaders) => string;
  readonly isSigned: (headers: IncomingHttpHeaders, body: Buffer, secret: string, now: Date) => boolean;
  /** null: nothing to judge. */
  readonly pushed: (event: string, body: Json) => Pushed | null;
}

const header = (headers: IncomingHttpHeaders, ...names: readonly string[]): string => {
  for (const name of names) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return '';
};

/** Digests have one length, so that the comparison says nothing of the texts. */
const isEqual = (left: string, right: string): boolean => {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
};

const hmac = (body: Buffer, secret: string): string => createHmac('sha256', secret).update(body).digest('hex');

const byHmac =
  (prefix: string, ...names: readonly string[]): Provider['isSigned'] =>
  (headers, body, secret) =>
    isEqual(header(headers, ...names).toLowerCase(), `${prefix}${hmac(body, secret)}`);

/** Seconds that the clocks of sender and receiver may differ; what is older may have been recorded and sent again. */
const clockSecondsMax = 300;
const signingTokenPrefix = 'whsec_';
/** What anybody could write down is no key; 24 is what Standard Webhooks asks for. */
const keyBytesMin = 16;

/** Whether the secret says that it is a signing token and has no key in it. */
export const isHollowToken = (secret: string): boolean =>
  secret.startsWith(signingTokenPrefix) && keyOf(secret).length < keyBytesMin;

const keyOf = (secret: string): Buffer =>
  secret.startsWith(signingTokenPrefix)
    ? Buffer.from(secret.slice(signingTokenPrefix.length), 'base64')
    : Buffer.from(secret);

/**
 * Standard Webhooks, as GitLab signs where a hook has a signing token: `webhook-signature` holds texts `v1,<base64>`
 * with a space between them, of HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`. The key is what follows
 * whsec_ in base64, or the bytes of a secret that is written otherwise.
 */
function isSignedByStandard(headers: IncomingHttpHeaders, body: Buffer, secret: string, now: Date): boolean {
  const [id, at] = [header(headers, 'webhook-id'), header(headers, 'webhook-timestamp')];
  if (id === '' || !/^\d{1,12}$/.test(at)) return false;
  const isFresh = Math.abs(now.getTime() / 1000 - Number(at)) <= clockSecondsMax;
  const wanted = createHmac('sha256', keyOf(secret)).update(`${id}.${at}.`).update(body).digest('base64');
  const given = header(headers, 'webhook-signature').split(' ').slice(0, 10);
  const isEqualToOne = given.map((one) => isEqual(one, `v1,${wanted}`)).includes(true);
  return isFresh && isEqualToOne && !isHollowToken(secret);
}

/** A signing token is never sent: as X-Gitlab-Token it would be somebody's who has seen the settings. */
const isSignedByGitLab: Provider['isSigned'] = (headers, body, secret, now) => {
  if (isSignedByStandard(headers, body, secret, now)) return true;
  return !secret.startsWith(signingTokenPrefix) && isEqual(header(headers, 'x-gitlab-token'), secret);
};

const branchOf = (ref: string): string | null => (ref.startsWith('refs/heads/') ? ref.slice(11) : null);

/** Null for a branch that was deleted (all zeros), a tag, and what is no name of a commit. */
function pushedOf(commit: string, branch: string | null): Pushed | null {
  if (branch === null || branch.length > 200 || !/^[0-9a-f]{7,64}$/i.test(commit) || /^0+$/.test(commit)) return null;
  return { commit, branch };
}

const pullActions = new Set(['opened', 'synchronize', 'synchronized', 'reopened']);

function pushOrPull(event: string, body: Json): Pushed | null {
  if (event === 'push') return pushedOf(str(body['after']), branchOf(str(body['ref'])));
  if (event !== 'pull_request' || !pullActions.has(str(body['action']))) return null;
  return pushedOf(str(at(body, 'pull_request', 'head', 'sha')), str(at(body, 'pull_request', 'head', 'ref')));
}

const fullName = (body: Json): string => str(at(body, 'repository', 'full_name')).toLowerCase();

export const providers: Readonly<Record<string, Provider>> = {
  github: {
    repository: fullName,
    delivery: (headers) => header(headers, 'x-github-delivery'),
    event: (headers) => header(headers, 'x-github-event'),
    isSigned: byHmac('sha256=', 'x-hub-signature-256'),
    pushed: pushOrPull,
  },
  gitea: {
    repository: fullName,
    delivery: (headers) => header(headers, 'x-gitea-delivery', 'x-forgejo-delivery'),
    event: (headers) => header(headers, 'x-gitea-event', 'x-forgejo-event'),
    isSigned: byHmac('', 'x-gitea-signature', 'x-forgejo-signature'),
    pushed: pushOrPull,
  },
  gitlab: {
    repository: (body) => str(at(body, 'project', 'path_with_namespace')).toLowerCase(),
    delivery: (headers) => header(headers, 'webhook-id', 'idempotency-key', 'x-gitlab-event-uuid'),
    event: (headers) => header(headers, 'x-gitlab-event'),
    isSigned: isSignedByGitLab,
    pushed(event, body) {
      if (event === 'Push Hook') return pushedOf(str(body['after']), branchOf(str(body['ref'])));
      const merge = obj(body['object_attributes']);
      if (event !== 'Merge Request Hook' || !['open', 'update', 'reopen'].includes(str(merge['action']))) return null;
      return pushedOf(str(at(merge, 'last_commit', 'id')), str(merge['source_branch']));
    },
  },
  bitbucket: {
    repository: fullName,
    delivery: (headers) => header(headers, 'x-request-uuid'),
    event: (headers) => header(headers, 'x-event-key'),
    isSigned: byHmac('sha256=', 'x-hub-signature'),
    pushed(event, body) {
      if (event === 'repo:push') {
        const branches = list(at(body, 'push', 'changes')).map((change) => obj(at(change, 'new')));
        const last = branches.findLast((one) => str(one['type']) === 'branch');
        return last === undefined ? null : pushedOf(str(at(last, 'target', 'hash')), str(last['name']));
      }
      if (event !== 'pullrequest:created' && event !== 'pullrequest:updated') return null;
      const from = obj(at(body, 'pullrequest', 'source'));
      return pushedOf(str(at(from, 'commit', 'hash')), str(at(from, 'branch', 'name')));
    },
  },
};
export const providerNames = Object.keys(providers);
