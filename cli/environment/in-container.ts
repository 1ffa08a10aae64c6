// Inside a container WAF_PORT, UI_PORT, API_PORT and ADMIN_BIND are the host's side of the published ports: what
// listens inside listens on every address of the container, on ports that are always the same.
import type { Values } from '#settings/environment';

export const anyAddress = '0.0.0.0';

/** As `api/env.ts` says it of the control plane. */
export const controlPortInContainer = '8090';

/** The values as a process has to take them: unchanged outside of a container. */
export function inContainer(values: Values): Values {
  if (values.IN_CONTAINER !== '1') return values;
  return {
    ...values,
    ADMIN_BIND: anyAddress,
    WAF_BIND: anyAddress,
    WAF_PORT: '8080',
    JA3_PORT: '8443',
    GATEHOUSE_ADMIN_PORT: '2019',
    UI_PORT: '3010',
    API_PORT: controlPortInContainer,
    GATEHOUSE_CONTROL_URL: values.GATEHOUSE_CONTROL_URL || `http://control-plane:${controlPortInContainer}`,
  };
}
