// What a bill of material lists, as its reader hands it on.
export const relations = ['direct', 'transitive', 'unknown'] as const;
export type Relation = (typeof relations)[number];

/** One component as a bill lists it. */
export interface ListedComponent {
  readonly name: string;
  readonly version: string;
  /** Empty: it has none. */
  readonly purl: string;
  readonly licences: readonly string[];
  readonly relation: Relation;
}
