// A feature of the control plane as a value. `Needs` is what it takes of the parts that are made once (api/parts.ts):
// its type says what it can touch. app.ts lists the features; nothing is found by scanning a folder.
import type { AccessRows } from './access.js';
import type { App } from './app.js';

export interface JobContext {
  /** Milliseconds since 1970 at the start of this run. */
  readonly nowMs: number;
  /** Aborted when the time limit is over or the scheduler stops. */
  readonly signal: AbortSignal;
}

/** Work that repeats in the background, on one server of an installation at a time. */
export interface Job {
  readonly name: string;
  readonly everyMs: number;
  readonly timeoutMs?: number;
  /** Returns one line about what it did. */
  readonly run: (context: JobContext) => Promise<string>;
}

export interface Feature<Needs> {
  /** Unique; also names the module of its migrations. */
  readonly name: string;
  /** One row for each route that `routes` registers, no more and no fewer. */
  readonly access: AccessRows;
  readonly routes?: (app: App, needs: Needs) => void;
  readonly jobs?: (needs: Needs) => readonly Job[];
  /** The folder of its `NNN-name.sql`, beside the built module. */
  readonly migrations?: URL;
}
