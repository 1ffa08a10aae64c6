// Who says it: the attributes of a resource by the semantic conventions of OpenTelemetry.
import { resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import {
  ATTR_SERVICE_INSTANCE_ID,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_NAMESPACE,
} from '@opentelemetry/semantic-conventions/incubating';

export const scope = { name: 'gatehouse' } as const;

/** `instance`: a node as it calls itself; null: the control plane, whose figures are those of the installation. */
export function resourceOf(instance: string | null): Resource {
  return resourceFromAttributes({
    [ATTR_SERVICE_NAMESPACE]: 'gatehouse',
    [ATTR_SERVICE_NAME]: instance === null ? 'gatehouse-control-plane' : 'gatehouse-data-plane',
    ...(instance === null ? {} : { [ATTR_SERVICE_INSTANCE_ID]: instance }),
  });
}
