// Lists of client measures on their way to one node.
import { createHash } from 'node:crypto';
import { readPrincipalKey, type MeasureDelta } from '#proxy/contract';
import type { NodeClient, StatusAnswer } from '../nodes/node-client.js';
import type { MeasurePosition } from './changes.js';

export type MeasureClient = Pick<NodeClient, 'status' | 'putMeasures' | 'patchMeasures' | 'putDenials'>;

export interface MeasureText {
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly position: MeasurePosition;
  /** How it came from the list before; null: it was read whole. */
  readonly delta: MeasureDelta | null;
}

export function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** What a node of a release before client measures is given of a list: denials of addresses and networks. */
export class Denials {
  private of = '';
  private bytes: Buffer = Buffer.alloc(0);
  private digest = sha256Of(Buffer.alloc(0));

  /** Made when it is asked for: most installations have no such node. */
  from(list: MeasureText): { readonly bytes: Buffer; readonly sha256: string } {
    if (this.of !== list.sha256) {
      const lines = list.bytes.toString('latin1').split('\n');
      const isDenial = (line: string): boolean =>
        line !== '' && !line.startsWith('~') && readPrincipalKey(line.split(' ', 1)[0] as string) === null;
      this.bytes = Buffer.from(lines.flatMap((line) => (isDenial(line) ? [`${line}\n`] : [])).join(''), 'latin1');
      this.digest = sha256Of(this.bytes);
      this.of = list.sha256;
    }
    return { bytes: this.bytes, sha256: this.digest };
  }
}

/** One list at a time, and of those that wait the newest alone. */
export class NodeLane {
  /** Of the list that was handed in last, or that the node said it has; '' = neither. */
  sha256 = '';
  /** It is of a release before client measures. */
  private isOld = false;
  private last: Promise<string> = Promise.resolve('');
  private next: { list: MeasureText; readonly sent: Promise<string> } | null = null;

  constructor(
    private readonly url: string,
    private readonly client: MeasureClient,
    private readonly denials: Denials,
  ) {}

  /** What came of it, in one line. */
  give(list: MeasureText): Promise<string> {
    this.sha256 = list.sha256;
    if (this.next !== null) {
      this.next.list = list; // its delta may be of a list that the node never got: then it says so
      return this.next.sent;
    }
    const begin = (): Promise<string> => {
      const newest = this.next?.list ?? list;
      this.next = null;
      return this.send(newest);
    };
    // the caller of the one before gets its failure; this one must still go
    const sent = this.last.then(begin, begin);
    this.next = { list, sent };
    this.last = sent;
    return sent;
  }

  /** Whether the node has this list already; null: it does not answer, or does not say. */
  hasList(answer: StatusAnswer, list: MeasureText): boolean | null {
    if (answer.kind !== 'answered') return null;
    const { measures, threats } = answer.status;
    this.isOld = measures === undefined;
    if (measures !== undefined) return measures === list.sha256;
    return threats === undefined ? null : threats === this.denials.from(list).sha256;
  }

  private async send(list: MeasureText): Promise<string> {
    const answer = await this.deliver(list);
    return answer.kind === 'active'
      ? `${this.url} has the client measures`
      : `${this.url} has not taken the client measures: ${answer.detail}`;
  }

  private async deliver(list: MeasureText) {
    const { url, client } = this;
    if (!this.isOld) {
      const patched = list.delta === null ? null : await client.patchMeasures(url, list.delta);
      if (patched !== null && patched.kind !== 'mismatch' && patched.kind !== 'unknown') return patched;
      const put = patched?.kind === 'unknown' ? patched : await client.putMeasures(url, list.bytes);
      if (put.kind !== 'unknown') return put;
      this.isOld = true;
    }
    return client.putDenials(url, this.denials.from(list).bytes);
  }
}
