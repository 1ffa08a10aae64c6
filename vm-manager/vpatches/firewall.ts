// What virtual patches need of a firewall. The control plane gives its own (its settings, its road of a change); the
// room knows none by name, and without one it says so.
import type { Actor } from '#http-kit';

/** A request as it is written down; text is sent as UTF-8. */
export interface FirewallRequest {
  readonly name: string;
  readonly method: string;
  /** Path and query, as on the wire. */
  readonly uri: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** What the firewall makes of one request. */
export interface Verdict {
  readonly name: string;
  readonly outcome: 'passed' | 'refused';
  readonly status: number | null;
  /** The rule that refused it. */
  readonly rule_id: number | null;
  /** Every rule that saw something. */
  readonly rule_ids: readonly number[];
  /** The site that it is for; null: no site takes such a request. */
  readonly site: string | null;
}

/** What is put in force. `seclang` is '' for a patch of the catalogue. */
export interface PatchText {
  readonly rule_id: number;
  readonly cve: string;
  readonly name: string;
  readonly seclang: string;
  /** Names of sites; none: all of them. */
  readonly sites: readonly string[];
}

export interface CataloguePatch {
  readonly rule_id: number;
  readonly cve: string;
  readonly title: string;
  readonly seclang: string;
  readonly attacks: readonly FirewallRequest[];
  readonly benign: readonly FirewallRequest[];
}

/** What a change would do to recorded requests. */
export interface Impact {
  /** Recorded requests that were run through both rule sets. */
  readonly replayed: number;
  readonly newly_blocked: number;
  readonly newly_allowed: number;
  readonly newly_blocked_examples: readonly { readonly method: string; readonly uri: string }[];
}

export interface Preview {
  /** null: there is nothing to compare with, and `impact_missing` says why. */
  readonly impact: Impact | null;
  readonly impact_missing: string | null;
  readonly before: readonly Verdict[];
  readonly after: readonly Verdict[];
}

export interface InForce {
  readonly version: number;
  readonly generation: number | null;
  readonly artifact_sha256: string;
}

/** What serves at this moment, by what the nodes say. */
export interface Trial extends InForce {
  readonly nodes: readonly { readonly url: string; readonly state: string }[];
  readonly verdicts: readonly Verdict[];
}

/** Every function throws ApiError: `conflict`, `unfit`, `apply_refused`, `apply_failed`, `not_ready` or `busy`. */
export interface Firewall {
  /** Ids that own patches may have, both ends included. */
  readonly ownIds: readonly [from: number, to: number];
  /** Entries of the catalogue for these vulnerabilities. */
  catalogue(cves: readonly string[]): readonly CataloguePatch[];
  /** Ids of patches that are in the settings, whoever wrote them. */
  usedIds(): Promise<ReadonlySet<number>>;
  sites(): Promise<readonly string[]>;
  /** Whether the text compiles, and which of the requests the rule alone matches; throws `unfit` for the text. */
  tryRule(ruleId: number, seclang: string, requests: readonly FirewallRequest[]): Promise<readonly boolean[]>;
  /** What putting it in force would do; nothing is saved. */
  preview(patch: PatchText, requests: readonly FirewallRequest[], site: string | null): Promise<Preview>;
  /** Saves and applies it; throws `conflict` where somebody has saved settings that are not applied yet. */
  apply(actor: Actor, patch: PatchText): Promise<InForce>;
  /** Takes it out of the settings and applies them; null: it was not there. */
  remove(actor: Actor, ruleId: number): Promise<InForce | null>;
  /** The requests through what serves now. */
  tryNow(requests: readonly FirewallRequest[], site: string | null): Promise<Trial>;
  /** The artifact that serves, by what was applied last; null: nothing was applied yet. */
  current(): Promise<string | null>;
  /** How often the rules of virtual patches refused, or would have, since then; by the rule's id. */
  hits(from: Date): Promise<ReadonlyMap<number, PatchHits>>;
}

export interface PatchHits {
  readonly total: number;
  readonly last_at: string | null;
  readonly sites: readonly { readonly site: string; readonly hits: number }[];
}
