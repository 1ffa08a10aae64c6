// Where an import belongs, and where its statements run.
import type { Actor } from '#http-kit';
import type { Tx } from '../../database.js';
import type { Keyed } from '../../secrets/protect-record.js';

export interface ImportScope {
  readonly applicationId: number;
  readonly projectId: number | null;
  /** Application, format, branch, scope_key, tool and what it looked at: sightings are compared within it. */
  readonly scopeKey: string;
  /** What the scopes of all that the tool looks at begin with. */
  readonly family: string;
  /** Of a scope from before subjects were told apart: whose of its sightings are is not known, and none is closed. */
  readonly isInherited: boolean;
  /** `sync` closes what this scope no longer reports. */
  readonly mode: 'add' | 'sync';
  readonly runId: number;
  /** Of what was looked at; '': the caller does not say. */
  readonly commit: string;
  /** It is of everything that its scope is of, as the caller says: what it lacks is in no other part. */
  readonly isOfWhole?: boolean;
  readonly actor: Actor;
  readonly now: Date;
  /** When it was seen; not after now. */
  readonly seenAt: Date;
  /** Identities are stored under the key of the installation. */
  readonly keyed: Keyed;
  /** More of what is open in the scope is closed only after a confirmation; 100: none is asked for. */
  readonly closePercentMax: number;
}

/** Where statements run: all in one transaction, or each batch in one of its own. */
export interface Within {
  /** Records, or ids, of a batch. */
  readonly batchSize: number;
  readonly run: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
}
