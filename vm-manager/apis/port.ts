// What this room asks of the inventory and the specifications of APIs, which are the data plane's: there is no second
// store of them here.

export interface LiveOperation {
  readonly site: string;
  readonly method: string;
  readonly template: string;
  readonly access: string;
  /** What became of requests without credentials. */
  readonly auth: 'enforced' | 'accepted-without' | 'mixed' | 'unknown';
  readonly authTypes: readonly string[];
  readonly classification: 'Restricted' | 'Confidential' | 'Internal' | 'Public';
  readonly categories: readonly string[];
  readonly regulations: readonly string[];
  /** 0 to 5. */
  readonly risk: number;
  readonly band: string;
  readonly hits: number;
  readonly firstSeen: Date;
  readonly lastSeen: Date;
  /** Seen, and in no specification; null: the site has none. */
  readonly shadow: boolean | null;
}

export interface ApiPort {
  /** Of one site, at most so many, those with most requests first. */
  operations(site: string, max: number): Promise<readonly LiveOperation[]>;
}
