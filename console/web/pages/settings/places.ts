// Where each setting is edited.
import { call } from '../../client/http.js';
import { groupOf, other } from './groups.js';
import { titleOf, type SettingSchema } from './schema.js';

export interface SettingPlace {
  readonly name: string;
  readonly title: string;
  readonly group: string;
  readonly path: string;
}

/** Throws Refused. */
export async function readSettingPlaces(): Promise<readonly SettingPlace[]> {
  const schema = (await call('GET /api/settings/schema')) as {
    readonly properties?: Readonly<Record<string, SettingSchema>>;
  };
  return Object.keys(schema.properties ?? {}).map((name) => {
    const group = groupOf(name) ?? other;
    return { name, title: titleOf(name), group: group.title, path: `/admin/settings/${group.key}#${name}` };
  });
}
