// The service that is asked for words, in the settings of this server: changed on the settings' own road.
import type { ModelChange, ModelService, ModelSettings } from '#vm-manager';
import type { SettingsWriter } from '../settings/change.js';
import { readHead, type StoredSettings } from '../settings/store.js';
import { changeAsPerson } from './change-as-person.js';

const view = ({ id, settings }: StoredSettings): ModelService => ({
  version: id,
  endpoint: settings.vm_model_url,
  model: settings.vm_model_name,
  has_key: settings.vm_model_key !== null,
});

const toSettings = ({ endpoint, model, key }: ModelChange): Record<string, unknown> => ({
  ...(endpoint === undefined ? {} : { vm_model_url: endpoint }),
  ...(model === undefined ? {} : { vm_model_name: model }),
  ...(key === undefined ? {} : { vm_model_key: key }),
});

export function createModelSettings(parts: SettingsWriter): ModelSettings {
  const { sql } = parts.database;
  return {
    read: async () => view(await readHead(sql)),
    change: async (person, actor, change, version) =>
      view(await changeAsPerson(parts, person, actor, version, toSettings(change))),
  };
}
