// What a kind of tracker is to the rest: how it is set up, and the seven things that are asked of it.
import type { TObject } from '@sinclair/typebox';
import type { Format } from '../escape.js';
import type { Asker } from './ask.js';

/** A ticket as the tracker names it. `id` stays while people move it; `key` is what they read. */
export interface Remote {
  readonly id: string;
  readonly key: string;
  readonly url: string;
}

export interface RemoteComment {
  readonly id: string;
  readonly author: string;
  readonly text: string;
}

export interface RemoteState extends Remote {
  readonly isOpen: boolean;
  /** In the tracker's words. */
  readonly state: string;
  /** null: nobody has it, or the tracker does not say. */
  readonly assigneeEmail: string | null;
  /** The newest hundred at most, the oldest of them first; empty unless they were asked for. */
  readonly comments: readonly RemoteComment[];
}

export interface Draft {
  readonly marker: string;
  readonly title: string;
  /** In the format of the tracker. */
  readonly body: string;
  readonly labels: readonly string[];
  /** What the severity is called there; null: nothing is set. */
  readonly priority: string | null;
  /** Further fields, filled. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What every integration may say, whatever it leads to. */
export interface CommonConfig {
  readonly url: string;
  readonly console_url?: string;
  readonly title?: string;
  readonly body?: string;
  readonly template_id?: string;
  readonly labels?: readonly string[];
  readonly priorities?: Readonly<Record<string, string>>;
  readonly fields?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly close_tickets?: boolean;
  readonly take_assignee?: boolean;
}

/** Each throws TrackerError. */
export interface Connection {
  /** A real call; says in words what it has found. */
  test(): Promise<string>;
  /** The ticket with this marker, made since; null: there is none. */
  find(marker: string, since: Date): Promise<Remote | null>;
  create(draft: Draft): Promise<Remote>;
  /** `id` or, of a ticket that somebody names, its key. */
  read(id: string): Promise<RemoteState>;
  /** In the format of the tracker. */
  comment(of: Remote, text: string): Promise<void>;
  move(of: Remote, to: 'open' | 'closed'): Promise<void>;
}

export interface Tracker {
  readonly title: string;
  /** Members of `config` besides the common ones. */
  readonly config: TObject;
  /** What the secret is, for people. */
  readonly secret: string;
  /** False: tickets are sent and never read. */
  readonly reads: boolean;
  readonly titleMax: number;
  readonly bodyMax: number;
  format(config: CommonConfig): Format;
  /** Throws 422 for what the schema cannot refuse. */
  check?(config: CommonConfig): void;
  connect(config: CommonConfig, secret: string, asker: Asker): Connection;
}
