// Whether and how a model may be asked. Address, model and key are those of the installation's settings, which
// narratives of chains use, too; the switch and how much is told are this module's own.
import type { Actor } from '#http-kit';
import type { Sql } from '../database.js';
import type { Host, Person } from '../host.js';

export const redactions = ['secrets', 'names'] as const;
export type Redaction = (typeof redactions)[number];

export interface ModelService {
  /** Of the settings of the server. */
  readonly version: number;
  readonly endpoint: string;
  readonly model: string;
  readonly has_key: boolean;
}

export interface ModelChange {
  readonly endpoint?: string;
  readonly model?: string;
  readonly key?: string | null;
}

/** The service of the operator's choice, in the settings of the server. */
export interface ModelSettings {
  read(): Promise<ModelService>;
  /** Throws ApiError where the settings would contradict themselves, or changed since `version` was read. */
  change(person: Person, actor: Actor, change: ModelChange, version: number | null): Promise<ModelService>;
}

export interface AssistantRow {
  readonly enabled: boolean;
  readonly redaction: Redaction;
  readonly updated_by: string | null;
  readonly updated_at: Date | null;
}

export async function readAssistant(sql: Sql): Promise<AssistantRow> {
  const [row] = await sql<AssistantRow[]>`
    select enabled, redaction, updated_by, updated_at from vm_assistant_settings`;
  return row ?? { enabled: false, redaction: 'names', updated_by: null, updated_at: null };
}

/** Why nothing is asked; null: it may be. */
export async function whyNot(host: Host, row: AssistantRow): Promise<string | null> {
  if (!row.enabled) return 'The assistant is switched off; an administrator switches it on.';
  if (host.narrator === undefined || (await host.narrator()) === null) return 'No model is configured.';
  return null;
}
