// What the process that `gatehouse` started lends the control plane for backups: the place that BACKUP_TO names, the
// commands, and the wish for a restore that the next start fulfils. The control plane itself knows neither.
import type { Readable } from 'node:stream';
import type { Stored } from './places/place.js';

/** What `gatehouse backup verify --restore --json` says. */
export interface VerifyReport {
  readonly created_at: string;
  readonly release: string;
  readonly database: 'postgres' | 'embedded';
  readonly tables: number;
  readonly rows: number;
  readonly entries: number;
  /** Loaded into a database of its own, and every table compared there. */
  readonly restored: boolean;
  readonly secrets: 'absent' | 'sealed' | 'opened';
  /** Why this process could not take its secrets over; null: it could, or it has none that were opened. */
  readonly hindrance: string | null;
}

export interface RestoreWish {
  readonly name: string;
  /** An age secret key or a passphrase. */
  readonly key: string | null;
  readonly by: string;
  readonly at: string;
}

export interface RestoreOutcome {
  readonly name: string;
  readonly by: string;
  readonly asked_at: string;
  readonly ended_at: string;
  readonly ok: boolean;
  /** What the command said. */
  readonly said: string;
}

export interface BackupTools {
  /** For people; holds no secret. */
  readonly place: () => string;
  /** Why no backup of this installation could be made, in words; null: nothing is known to be in the way. */
  readonly hindrance: () => string | null;
  /** Backups that this program named, oldest first. Rejects with words for a person. */
  list(): Promise<readonly Stored[]>;
  /** Reads all of one and restores it into a scratch database. Rejects with words for a person. */
  verify(name: string, key: string | null, signal: AbortSignal): Promise<VerifyReport>;
  /** The bytes of one; whoever asks reads them to their end or destroys them. Rejects with words for a person. */
  fetch(name: string): Promise<Readable>;
  remove(name: string): Promise<void>;
  /** Removes the oldest beyond the newest `keep`; resolves with their names. */
  prune(keep: number): Promise<readonly string[]>;
  /** Notes that the next start is to restore, and has this process end so that it is started again. */
  restore(wish: RestoreWish): Promise<void>;
  /** What became of the last wish; told once. */
  takeOutcome(): Promise<RestoreOutcome | null>;
}
