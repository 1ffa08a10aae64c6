// Which version of which specification the draft of the settings names, and how that is changed.
import type { Item } from '../../client/http.js';
import { draft, edit } from '../../client/settings-draft.js';

export type StoredSpec = Item<'GET /api/spec'>;
export type SchemaAction = 'ignore' | 'alert' | 'block';

/** One entry of the setting `api_specs`. */
export interface NamedSpec {
  readonly site: string;
  readonly name: string;
  readonly version: number;
  readonly base_path: string | null;
  /** null: as schema_action says. */
  readonly action: SchemaAction | null;
  readonly response_action: SchemaAction;
  readonly unknown_paths: SchemaAction;
  readonly operations: readonly unknown[];
}

type Key = Pick<NamedSpec, 'site' | 'name'>;

const isSame = (one: Key, other: Key): boolean => one.site === other.site && one.name === other.name;

export const namedSpecs = (): readonly NamedSpec[] => (draft()?.['api_specs'] ?? []) as readonly NamedSpec[];

export const isNamed = (spec: Pick<StoredSpec, 'site' | 'name' | 'version'>): boolean =>
  namedSpecs().some((one) => isSame(one, spec) && one.version === spec.version);

/** The version stands in the place of the one that is named now, whose actions it keeps. */
export function nameVersion({ site, name, version }: StoredSpec): void {
  const before = namedSpecs();
  const fresh: NamedSpec = {
    ...{ site, name, version, base_path: null, action: null },
    ...{ response_action: 'alert', unknown_paths: 'ignore', operations: [] },
  };
  const found = before.some((one) => isSame(one, fresh));
  edit('api_specs', found ? before.map((one) => (isSame(one, fresh) ? { ...one, version } : one)) : [...before, fresh]);
}

export const takeOut = (spec: Key): void =>
  edit(
    'api_specs',
    namedSpecs().filter((one) => !isSame(one, spec)),
  );

export const changeNamed = (spec: Key, part: Partial<NamedSpec>): void =>
  edit(
    'api_specs',
    namedSpecs().map((one) => (isSame(one, spec) ? { ...one, ...part } : one)),
  );

/** Problems of the setting's own schema are told in the order of its entries. */
export const indexOfNamed = (spec: Key): number => namedSpecs().findIndex((one) => isSame(one, spec));
