// A WebSocket whose node ends (RFC 6455 section 7.4.1, "going away"). Clients that are told so connect again at once,
// and by then to another node; those that are cut see an error. Nobody else can tell them: the application does not
// know that the node ends, and would talk for hours.
import type { TunnelClient } from '../../listeners/listener.js';
import { closeFrame, FrameBorders } from '../../listeners/websocket-frames.js';

const goingAway = 1001;

export class LeavingTunnel implements TunnelClient {
  private readonly borders = new FrameBorders();
  private isLeaving = false;
  private hasLeft = false;

  constructor(private readonly client: TunnelClient) {}

  /** Bytes of the upstream; borrowed. What follows a close frame is for nobody (section 5.5.1). */
  send(bytes: Buffer): boolean {
    if (this.hasLeft) return true;
    this.borders.push(bytes);
    const isFlowing = this.client.send(bytes);
    if (this.isLeaving) this.leave();
    return isFlowing;
  }

  end(): void {
    this.client.end();
  }

  /**
   * Tells the client, at once or behind the frame that is under way. It answers, its answer goes to the upstream like
   * everything that it sends, and the upstream ends the connection.
   */
  goAway(): void {
    this.isLeaving = true;
    this.leave();
  }

  private leave(): void {
    if (this.hasLeft || !this.borders.isBetween) return;
    this.hasLeft = true;
    this.client.send(closeFrame(goingAway));
  }
}
