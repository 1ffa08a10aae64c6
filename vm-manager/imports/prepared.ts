// A record on its way into the tables. What it costs (masks, keyed hashes) is paid when it is asked for: the preview of
// a report for an application without findings asks for none of it.
import type { Keyed, RecordMask } from '../secrets/protect-record.js';
import { contentHash, type TakenKeys } from './fingerprint.js';
import type { Prepared } from './import-store.js';
import { showLocation, type FindingRecord, type FormerKeys, type Location } from './record.js';

/** Counted up where masks hide more: what is stored is then masked anew. Hashes without it are of masked records. */
const keyedMark = 'k3:';

export class PreparedRecord implements Prepared {
  readonly isSuppressed: boolean;
  /** Counted already as a duplicate: an earlier batch had a less grave one, whose place it takes. */
  readonly isGraver: boolean;
  private readonly given: FindingRecord;
  private readonly keys: TakenKeys;
  private readonly mask: RecordMask;
  private readonly keyed: Keyed;
  private masked: FindingRecord | undefined;
  private ownFingerprint: string | undefined;
  private ownToolKey: string | undefined;
  private ownHash: string | undefined;

  private readonly formerKeys: readonly FormerKeys[];

  constructor(
    given: FindingRecord,
    keys: TakenKeys,
    mask: RecordMask,
    keyed: Keyed,
    isGraver = false,
    former: readonly FormerKeys[] = [],
  ) {
    [this.given, this.keys, this.mask, this.keyed, this.formerKeys] = [given, keys, mask, keyed, former];
    this.isSuppressed = given.suppressed;
    this.isGraver = isGraver;
  }

  get record(): FindingRecord {
    return (this.masked ??= this.mask.record(this.given));
  }
  get fingerprint(): string {
    return (this.ownFingerprint ??= this.keyed(this.keys.fingerprint));
  }
  get toolKey(): string {
    return (this.ownToolKey ??= this.keyed(this.keys.toolKey));
  }
  /** Where a report of a part of the repository has stored it, the newest first. */
  get former(): readonly { readonly fingerprint: string; readonly toolKey: string }[] {
    return this.formerKeys.map(({ keys, mark }) => ({
      fingerprint: this.keyed(keys.fingerprint) + mark,
      toolKey: this.keyed(keys.toolKey) + mark,
    }));
  }
  /** Of the record, whose other texts stay as they are where this is asked alone. */
  get ruleId(): string {
    return this.masked?.ruleId ?? this.mask.ruleId(this.given);
  }
  get kind(): Location['kind'] {
    return this.given.location.kind;
  }
  get cluster(): string | null {
    const { cluster } = this.keys;
    return cluster !== null && this.given.location.kind === 'secret' ? this.keyed(cluster) : cluster;
  }
  /** Of what the report says, before masks: what is as it was the last time is never masked. */
  get hash(): string {
    return (this.ownHash ??= keyedMark + this.keyed(contentHash(this.given)));
  }
  isAsStored(hash: string): boolean {
    return hash.startsWith('k') ? hash === this.hash : hash === contentHash(this.record);
  }
  get knownAs(): string | undefined {
    return this.given.knownAs;
  }
  get tool(): string | undefined {
    return this.given.tool === undefined ? undefined : this.mask.text(this.given.tool);
  }
  get location(): string {
    return showLocation(this.record.location);
  }
}
