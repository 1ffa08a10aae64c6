// A site whose upstream leads back to this node, directly or by way of others, would send a request round until every
// connection is taken. Each hop therefore leaves a mark in CDN-Loop (RFC 8586), and whoever finds the mark of the very
// site that the request has come to again answers 508. The mark is of node and site: an application that sends a
// request on through the same node to another site (a gateway, say) closes no loop.
import { createHash } from 'node:crypto';
import type { RequestHead } from '#engine';
import { joinedField } from '../../http/header-fields.js';

const prefix = 'gatehouse-';

/** Members of this product that one request may carry: a way through more nodes and sites is a loop as well. */
const hopsMax = 16;

export class LoopGuard {
  private readonly marks = new Map<string, string>();

  /** `nodeId`: the same in all workers of a node, another on every other node. */
  constructor(private readonly nodeId: string) {}

  /** What a request to this site takes along; as many are kept as there ever were names of sites. */
  markOf(site: string): string {
    let mark = this.marks.get(site);
    if (mark === undefined) {
      mark = prefix + createHash('sha256').update(`${this.nodeId}\n${site}`).digest('hex').slice(0, 20);
      this.marks.set(site, mark);
    }
    return mark;
  }

  /** Whether the request was at this site before. */
  hasPassed({ headers }: Pick<RequestHead, 'headers'>, site: string): boolean {
    const field = joinedField(headers, 'cdn-loop');
    if (field === null) return false;
    const mark = this.markOf(site);
    let hops = 0;
    for (const member of field.split(',')) {
      const name = (member.split(';', 1)[0] as string).trim().toLowerCase();
      if (name === mark) return true;
      if (name.startsWith(prefix)) hops += 1;
    }
    return hops >= hopsMax;
  }
}
