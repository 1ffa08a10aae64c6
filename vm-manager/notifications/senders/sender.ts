// A kind of channel, and what came of sending.
import type { TObject } from '@sinclair/typebox';
import type { WayOut } from '../../host.js';
import type { Message, NoticedEvent } from '../message.js';

/** setup: a person has to change something; later: it is tried again; refused: this message is not taken. */
export type SendTrouble = 'setup' | 'later' | 'refused';

export class SendError extends Error {
  readonly trouble: SendTrouble;
  readonly waitMs: number | null;
  constructor(trouble: SendTrouble, message: string, waitMs: number | null = null) {
    super(message.slice(0, 400));
    this.name = 'SendError';
    [this.trouble, this.waitMs] = [trouble, waitMs];
  }
}

export interface Sending {
  readonly way: WayOut;
  readonly config: Readonly<Record<string, unknown>>;
  readonly secret: string | null;
  readonly nowMs: number;
}

export interface Sender {
  readonly title: string;
  /** What the secret is, for people; null: there may be none. */
  readonly secret: string;
  readonly needsSecret: boolean;
  readonly config: TObject;
  /** The receiver that the secret is bound to: it opens for no other one. */
  readonly receiver: (config: Readonly<Record<string, unknown>>) => string;
  /** Throws 422 for what the schema cannot refuse. */
  readonly check?: (config: Readonly<Record<string, unknown>>, secret: string | null) => void;
  /** Address that has to be admitted, where it is no secret. */
  readonly address?: (config: Readonly<Record<string, unknown>>, secret: string | null) => string | null;
  /** Throws SendError. `events`: what the message says, for programs; none in a test. */
  readonly send: (sending: Sending, message: Message, events: readonly NoticedEvent[]) => Promise<void>;
}
