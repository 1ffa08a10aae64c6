// What hosts of repositories send, and how they sign it. GitHub: X-Hub-Signature-256, HMAC-SHA256 of the body; Gitea
// and Forgejo: X-Gitea-Signature, the same without a prefix; Bitbucket: X-Hub-Signature, as GitHub's; GitLab:
// X-Gitlab-Token, the secret itself. Comparisons take one time, whatever is equal.
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
  readonly isSigned: (headers: IncomingHttpHeaders, body: Buffer, secret: string) => boolean;
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
    delivery: (headers) => header(headers, 'idempotency-key', 'x-gitlab-event-uuid'),
    event: (headers) => header(headers, 'x-gitlab-event'),
    isSigned: (headers, _body, secret) => isEqual(header(headers, 'x-gitlab-token'), secret),
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
