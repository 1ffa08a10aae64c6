// The service that is asked for words, in the settings of this server: changed on the settings' own road.
import type { ModelChange, ModelService, ModelSettings } from '#vm-manager';
import { ApiError, type Principal } from '../http-kit/index.js';
import { changeSettings, type SettingsWriter } from '../settings/change.js';
import { readHead, type StoredSettings } from '../settings/store.js';

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
    async change({ userId, email, role, sessionId }, actor, change, version) {
      const head = await readHead(sql);
      if (version !== null && version !== head.id)
        throw new ApiError('conflict', `The settings were changed meanwhile: their version is ${head.id}. Read again.`);
      const principal: Principal = { kind: 'session', userId, email, role, sessionId, scopes: null, duty: null, actor };
      const { stored } = await changeSettings(parts, principal, {
        action: 'settings.update',
        ifMatch: version === null ? undefined : head.etag,
        propose: (shown) => ({ ...shown, ...toSettings(change) }),
      });
      return view(stored);
    },
  };
}
