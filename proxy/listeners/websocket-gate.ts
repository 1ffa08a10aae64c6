// A WebSocket tunnel whose messages are looked at (RFC 6455 section 5). Bytes of the client are followed frame by
// frame: those of a message are held until it is whole and then go on as they came, or not at all; so does a control
// frame, whose payload (the reason of a close, what a ping carries) applications are given, too. A binary message
// larger than what is looked at as a whole goes on in parts (long-message.ts). No extension was offered to the
// upstream, so every frame is readable. Bytes of the upstream pass; they are followed as far as it takes to know
// where a close frame may stand.
import { closeFrame, FrameBorders, Opcode, readHead, type FrameHead } from './websocket-frames.js';
import { LongMessage } from './long-message.js';
import type { MessageInspector, TunnelAcceptance, TunnelClient } from './listener.js';

/** Codes of RFC 6455 section 7.4.1. */
const closeCode = { protocolError: 1002, policyViolation: 1008, tooBig: 1009 } as const;

const controlBytesMax = 125;
/** A time or a number, as nearly all pings carry, is shorter than what any rule looks for. */
const controlTextMin = 9;

/** A data frame whose payload comes in parts. */
interface OpenFrame {
  /** Turned, so that it begins with the byte for the next one. */
  mask: Buffer;
  leftBytes: number;
  readonly isFinal: boolean;
}

function unmask(payload: Buffer, mask: Buffer): Buffer {
  const plain = Buffer.allocUnsafe(payload.length);
  for (let index = 0; index < payload.length; index += 1)
    plain[index] = (payload[index] as number) ^ (mask[index & 3] as number);
  return plain;
}

export class WebSocketGate implements TunnelClient {
  private pending: Buffer = Buffer.alloc(0);
  private message: 'none' | 'text' | 'binary' = 'none';
  /** A binary message from where it is longer than what is looked at as a whole, and its frame that is under way. */
  private long: LongMessage | null = null;
  private frame: OpenFrame | null = null;
  /** Frames of a message that is not whole yet, as they came, and what they say. */
  private held: Buffer[] = [];
  private texts: Buffer[] = [];
  private textBytes = 0;
  private isOver = false;
  private readonly fromUpstream = new FrameBorders();

  constructor(
    private readonly tunnel: TunnelAcceptance,
    private readonly inspector: MessageInspector,
    private readonly client: TunnelClient,
  ) {}

  /** Bytes of the client, borrowed; false = the upstream is slow. */
  push(bytes: Buffer): boolean {
    if (this.isOver) return true;
    const isBorrowed = this.pending.length === 0;
    this.pending = this.pending.length === 0 ? bytes : Buffer.concat([this.pending, bytes]);
    let isFlowing = true;
    while (!this.isOver && this.pending.length > 0) {
      if (this.frame !== null) {
        isFlowing = this.takePart(this.frame) && isFlowing;
        continue;
      }
      const head = readHead(this.pending);
      if (head === null) break;
      const problem = head === 'invalid' ? closeCode.protocolError : this.problemOf(head);
      if (problem !== null || head === 'invalid') {
        this.refuse(problem ?? closeCode.protocolError);
        break;
      }
      if (head.opcode > Opcode.Binary) {
        if (this.pending.length < head.headBytes + head.payloadBytes) break;
        isFlowing = this.takeControl(head) && isFlowing;
        continue;
      }
      const isLong = this.long !== null || this.textBytes + head.payloadBytes > this.inspector.messageBytesMax;
      if (isLong) isFlowing = this.beginPart(head) && isFlowing;
      else if (this.pending.length < head.headBytes + head.payloadBytes) break;
      else isFlowing = this.takeFrame(head) && isFlowing;
    }
    if (isBorrowed && this.pending.length > 0) this.pending = Buffer.from(this.pending);
    return isFlowing;
  }

  /** The code to close with, or null. A frame too large is refused by its head, before its bytes come. */
  private problemOf({ opcode, isFinal, hasExtensionBits, maskAt, payloadBytes }: FrameHead): number | null {
    const { message, textBytes, inspector } = this;
    if (hasExtensionBits || maskAt === 0) return closeCode.protocolError;
    switch (opcode) {
      case Opcode.Close:
      case Opcode.Ping:
      case Opcode.Pong:
        return isFinal && payloadBytes <= controlBytesMax ? null : closeCode.protocolError;
      case Opcode.Continuation:
        if (message === 'none') return closeCode.protocolError;
        break;
      case Opcode.Text:
      case Opcode.Binary:
        if (message !== 'none') return closeCode.protocolError;
        break;
      default:
        return closeCode.protocolError;
    }
    return this.kindOf(opcode) === 'text' && textBytes + payloadBytes > inspector.messageBytesMax
      ? closeCode.tooBig
      : null;
  }

  /** Of the message that a data frame belongs to. */
  private kindOf(opcode: number): 'text' | 'binary' | 'none' {
    if (opcode === Opcode.Text) return 'text';
    if (opcode === Opcode.Binary) return 'binary';
    return opcode === Opcode.Continuation ? this.message : 'none';
  }

  private takeControl({ opcode, maskAt, headBytes, payloadBytes }: FrameHead): boolean {
    const bytes = headBytes + payloadBytes;
    const frame = Buffer.from(this.pending.subarray(0, bytes));
    this.pending = this.pending.subarray(bytes);
    if (payloadBytes >= controlTextMin) {
      const payload = unmask(frame.subarray(headBytes), frame.subarray(maskAt, maskAt + 4));
      if (!this.inspector.mayPass(opcode === Opcode.Close ? payload.subarray(2) : payload, true)) {
        this.refuse(closeCode.policyViolation);
        return true;
      }
    }
    // Behind what is held of a long message: a part of a frame may have gone on before that.
    if (this.long === null || this.held.length === 0) return this.tunnel.sendUpstream(frame);
    this.held.push(frame);
    this.textBytes += bytes; // they take room, too
    return this.textBytes < this.inspector.messageBytesMax || this.letPartGo();
  }

  /** A data frame of a binary message that is longer than what is looked at as a whole. */
  private beginPart({ isFinal, maskAt, headBytes, payloadBytes }: FrameHead): boolean {
    this.long ??= new LongMessage(this.inspector);
    this.message = 'binary';
    const head = Buffer.from(this.pending.subarray(0, headBytes));
    this.pending = this.pending.subarray(headBytes);
    this.held.push(head);
    this.textBytes += 1;
    this.frame = { mask: head.subarray(maskAt, maskAt + 4), leftBytes: payloadBytes, isFinal };
    return payloadBytes > 0 || this.endOfFrame(isFinal);
  }

  /** What has come of the frame, as far as there is room for it. */
  private takePart(frame: OpenFrame): boolean {
    const { messageBytesMax } = this.inspector;
    const room = Math.max(1, messageBytesMax - this.textBytes);
    const bytes = Buffer.from(this.pending.subarray(0, Math.min(frame.leftBytes, room)));
    this.pending = this.pending.subarray(bytes.length);
    this.held.push(bytes);
    this.texts.push(unmask(bytes, frame.mask));
    this.textBytes += bytes.length;
    const turn = bytes.length & 3;
    if (turn !== 0) frame.mask = Buffer.concat([frame.mask.subarray(turn), frame.mask.subarray(0, turn)]);
    frame.leftBytes -= bytes.length;
    if (frame.leftBytes === 0) return this.endOfFrame(frame.isFinal);
    return this.textBytes < messageBytesMax || this.letPartGo();
  }

  private endOfFrame(isFinal: boolean): boolean {
    this.frame = null;
    if (!isFinal) return this.textBytes < this.inspector.messageBytesMax || this.letPartGo();
    const isFlowing = this.letPartGo();
    this.long = null;
    this.message = 'none';
    return isFlowing;
  }

  private letPartGo(): boolean {
    const outcome = this.long?.take(Buffer.concat(this.texts.splice(0))) ?? 'passes';
    this.textBytes = 0;
    if (outcome === 'passes') return this.tunnel.sendUpstream(Buffer.concat(this.held.splice(0)));
    this.refuse(outcome === 'blocked' ? closeCode.policyViolation : closeCode.tooBig);
    return true;
  }

  private takeFrame({ opcode, isFinal, maskAt, headBytes, payloadBytes }: FrameHead): boolean {
    const frameBytes = headBytes + payloadBytes;
    const frame = Buffer.from(this.pending.subarray(0, frameBytes)); // a copy: it may be held for long
    this.pending = this.pending.subarray(frameBytes);
    this.held.push(frame);
    // Empty fragments take room, too.
    this.textBytes += Math.max(payloadBytes, 1);
    this.texts.push(unmask(frame.subarray(headBytes), frame.subarray(maskAt, maskAt + 4)));
    const kind = this.kindOf(opcode);
    this.message = kind;
    if (!isFinal) return true;
    const held = this.held.splice(0);
    const text = Buffer.concat(this.texts.splice(0));
    this.textBytes = 0;
    this.message = 'none';
    if (!this.inspector.mayPass(text, kind === 'binary')) {
      this.refuse(closeCode.policyViolation);
      return true;
    }
    return this.tunnel.sendUpstream(held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held));
  }

  private refuse(code: number): void {
    if (this.isOver) return;
    this.isOver = true;
    this.pending = Buffer.alloc(0);
    this.held = [];
    this.texts = [];
    // Within a frame of the upstream there is no place for one of ours: then the connection only ends.
    if (this.fromUpstream.isBetween) this.client.send(closeFrame(code));
    this.client.end();
    this.tunnel.closeUpstream();
  }

  // The client's side, as the upstream's bytes see it.

  send(bytes: Buffer): boolean {
    if (this.isOver) return true;
    this.fromUpstream.push(bytes);
    return this.client.send(bytes);
  }

  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.client.end();
  }
}
