// Backups as the server around the room makes them. The room names them, asks, and keeps what became of each.
import type { Readable } from 'node:stream';
import type { Actor } from '#http-kit';
import type { Person } from '../host.js';

export interface StoredBackup {
  readonly name: string;
  readonly bytes: number;
}

export interface MadeBackup {
  readonly id: string;
  readonly started_at: Date;
  readonly ended_at: Date | null;
  /** null: the schedule. */
  readonly actor: string | null;
  readonly name: string | null;
  readonly place: string | null;
  readonly rows: number | null;
  readonly sha256: string | null;
  readonly checked: 'complete' | 'bytes' | null;
  readonly error: string | null;
  readonly isRunning: boolean;
}

export interface VerifiedBackup {
  readonly created_at: string;
  readonly release: string;
  readonly database: string;
  readonly tables: number;
  readonly rows: number;
  readonly entries: number;
  readonly restored: boolean;
  readonly secrets: 'absent' | 'sealed' | 'opened';
  /** Why a restore here would be refused for its secrets; null: it would not. */
  readonly hindrance: string | null;
}

export interface BackupSchedule {
  readonly every_hours: number;
  readonly keep: number;
  readonly encrypt: boolean;
}

export interface LastRestore {
  readonly at: Date;
  readonly name: string;
  readonly by: string;
  readonly ok: boolean;
  readonly said: string;
}

/** Rejects with ApiError, or with an Error whose message is for a person. */
export interface BackupPort {
  readonly place: string;
  /** Why no backup of this installation could be made; null: nothing is known to be in the way. */
  hindrance(): string | null;
  list(): Promise<readonly StoredBackup[]>;
  /** The newest hundred that were made, or tried. */
  made(): Promise<readonly MadeBackup[]>;
  /** Throws ApiError `conflict` where one is being made. `done` rejects where it failed. */
  make(actor: Actor): Promise<{ readonly id: string; readonly done: Promise<{ readonly name: string }> }>;
  verify(name: string, key: string | null, signal: AbortSignal): Promise<VerifiedBackup>;
  /** Its bytes; whoever asks reads them to their end or destroys them. */
  fetch(name: string): Promise<Readable>;
  remove(name: string): Promise<void>;
  prune(keep: number): Promise<readonly string[]>;
  schedule(): Promise<BackupSchedule & { readonly next_at: Date | null }>;
  setSchedule(person: Person, actor: Actor, change: Partial<BackupSchedule>): Promise<void>;
  /** Whether other control planes work on this database: their memory would be that of the state before. */
  othersAtWork(): Promise<boolean>;
  /** Has the next start restore, and this process end; the answer to the question still goes out. */
  restore(name: string, key: string | null, by: string): Promise<void>;
  lastRestore(): Promise<LastRestore | null>;
}
