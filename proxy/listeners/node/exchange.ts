// What the two kinds of exchanges on node:http share: requests that the library answers, and bare sockets.
import type { RequestHead } from '#engine';
import type { CheckedHead } from '../../http/request-syntax.js';
import type { Exchange, TunnelAcceptance } from '../listener.js';
import type { OpenRequests } from '../open-requests.js';

export const noBytes = Buffer.alloc(0);

export abstract class NodeExchange implements Exchange {
  onAbort: (() => void) | null = null;
  onDrain: (() => void) | null = null;
  onBodyFault: ((reason: string) => void) | null = null;
  readonly isTls = false;
  readonly tunnelsRawBytes = true;
  isOver = false;
  /** In the listener's list of open requests. */
  place = -1;
  abstract readonly relaysTrailers: boolean;
  readonly framing;
  readonly refusal;

  constructor(
    readonly head: RequestHead,
    checked: CheckedHead,
    protected readonly open: OpenRequests<NodeExchange>,
  ) {
    this.framing = checked.framing;
    this.refusal = checked.refusal;
  }

  abstract readonly isUpgrade: boolean;
  abstract readBody(onChunk: (chunk: Buffer, isLast: boolean) => void): void;
  abstract pauseBody(): void;
  abstract resumeBody(): void;
  abstract respond(status: number, headers: readonly string[], body: string | Buffer, closeConnection: boolean): void;
  abstract relayInterim(status: number, reason: string, headers: readonly string[]): void;
  abstract startResponse(status: number, reason: string, headers: readonly string[], bodyBytes: number | null): void;
  abstract respondBodyless(
    status: number,
    reason: string,
    headers: readonly string[],
    declaredBytes: number | null,
  ): void;
  abstract readonly unsentBytes: number;
  abstract write(chunk: Buffer): boolean;
  abstract endResponse(trailers: readonly string[] | null): void;
  abstract close(): void;
  abstract acceptTunnel(tunnel: TunnelAcceptance): void;

  protected finish(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.open.delete(this);
  }

  protected aborted(): void {
    if (this.isOver) return;
    this.finish();
    this.onAbort?.();
  }
}
