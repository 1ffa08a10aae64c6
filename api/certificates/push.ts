// Certificates and challenges on their way to nodes: at once when one changes, and every fifteen seconds to each node
// that has others than these. An old certificate is given out beside the new one until every node that answers has the
// new one; then it is not.
import { createHash } from 'node:crypto';
import type { Parts } from '../parts.js';
import type { NodeGates } from '../edge/node-gates.js';
import { listChallenges, listIssues, noteServing, type ChallengeRow, type IssueRow } from './store.js';

export type PushParts = Pick<Parts, 'database' | 'sealing' | 'now'> & { readonly nodeGates: NodeGates | null };

export const keyPlace = (issueId: string): string => `certificates:/${issueId}/key`;
export const challengePlace = (id: string): string => `certificates:/challenges/${id}/key`;

/** As a node works it out (proxy/main/https/). */
const digestOf = (value: object): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');

const toGiven = ({ sealing }: PushParts, { id, chain, key_sealed }: IssueRow): object => ({
  id,
  chain,
  key: sealing.open(key_sealed, keyPlace(id)),
});

function toTable({ sealing }: PushParts, rows: readonly ChallengeRow[]): { http: object[]; alpn: object[] } {
  const http: object[] = [];
  const alpn: object[] = [];
  for (const { id, kind, name, body, key_sealed } of rows)
    if (kind === 'http-01') http.push({ token: name, text: body });
    else alpn.push({ name, chain: body, key: sealing.open(key_sealed ?? '', challengePlace(id)) });
  return { http, alpn };
}

/** Returns how many nodes have all open challenges now. */
export async function pushChallenges(parts: PushParts): Promise<number> {
  const { nodeGates, database, now } = parts;
  if (nodeGates === null) return 0;
  const table = toTable(parts, await listChallenges(database.sql, new Date(now())));
  const wanted = digestOf(table);
  const isEmpty = table.http.length + table.alpn.length === 0;
  const have = await Promise.all(
    (await nodeGates.https()).map(async ({ node, answer }) => {
      if (answer === null) return false; // away, or of a release before certificates
      if (answer.challenges === wanted || (isEmpty && answer.challenges === '')) return true;
      return nodeGates.giveChallenges(node, table);
    }),
  );
  return have.filter(Boolean).length;
}

export interface Pushed {
  /** Nodes that serve what they are to serve. */
  readonly nodes: number;
  /** Nodes that did not take it, or do not answer. */
  readonly behind: readonly string[];
  /** Issues that are served from now on. */
  readonly taken: number;
}

/** Throws where a key does not open: then nodes keep what they have. */
export async function pushCertificates(parts: PushParts): Promise<Pushed> {
  const { nodeGates, database } = parts;
  if (nodeGates === null) return { nodes: 0, behind: [], taken: 0 };
  const first = await giveIssues(parts, nodeGates);
  if (first.nodes === 0 || first.refused > 0) return { ...first, taken: 0 };
  const fresh = first.issues.filter(({ state }) => state === 'new').map(({ id }) => id);
  const taken = await noteServing(database.sql, fresh);
  if (taken === 0) return { ...first, taken };
  return { ...(await giveIssues(parts, nodeGates)), taken }; // without what was replaced
}

async function giveIssues(parts: PushParts, nodeGates: NodeGates) {
  const issues = await listIssues(parts.database.sql);
  const certificates = issues.map((issue) => toGiven(parts, issue));
  const wanted = digestOf(certificates);
  const behind: string[] = [];
  let nodes = 0;
  let refused = 0;
  await Promise.all(
    (await nodeGates.https()).map(async ({ node, answer }) => {
      const had = answer?.certificates ?? null;
      if (had === null) {
        if (answer === null) behind.push(node); // one without a TLS edge is not behind
        return;
      }
      if (had.sha256 === wanted || (await nodeGates.giveCertificates(node, { certificates }))) nodes += 1;
      else {
        behind.push(node);
        refused += 1;
      }
    }),
  );
  return { issues, nodes, behind: behind.sort(), refused };
}
