// The resources of a template as blocks, for the rules of Terraform.
import type { Block } from '../terraform/tree.js';
import { World, type Known, type Outcomes } from './known.js';
import { Draft, fill, type Properties, type Reading } from './reading.js';
import { dataReadings } from './readings-data.js';
import { networkReadings } from './readings-network.js';
import { operationReadings } from './readings-operation.js';
import type { DeclaredResource, Template } from './template.js';

export const readings: Readonly<Record<string, Reading>> = {
  ...dataReadings,
  ...networkReadings,
  ...operationReadings,
};

const none: Properties = new Map();

/** Names a type as rules do, where that does not depend on what stands in it. */
function typeOf({ type }: DeclaredResource, properties: Properties): string | null {
  if (!Object.hasOwn(readings, type)) return null;
  const as = readings[type]?.as;
  return typeof as === 'function' ? as(properties) : (as ?? null);
}

function blocksOf(resource: DeclaredResource, known: Known | null): Block[] {
  const properties = known?.kind === 'map' ? known.fields : none;
  const type = typeOf(resource, properties);
  const reading = readings[resource.type];
  if (type === null || reading === undefined) return [];
  const { name, line, endLine } = resource;
  // all of it comes from elsewhere: nothing is known of it
  const isOpen =
    known !== null && (known.kind === 'map' ? known.isOpen : known.kind === 'value' && known.value !== null);
  const shown = `${resource.type}.${name}`;
  const made = (kind: string, draft: Draft): Block => ({ ...draft.block([kind, name], endLine), shown });
  const draft = new Draft('resource', line);
  draft.isOpen = isOpen;
  fill(draft, properties, reading);
  reading.more?.(draft, properties);
  const beside = (reading.beside?.(properties, name) ?? []).map((one) => {
    const inner = new Draft('resource', one.line);
    one.fill(inner);
    return made(one.type, inner);
  });
  return [made(type, draft), ...beside];
}

/** As the template is in one of its ways. */
export function blocksIn(template: Template, outcomes: Outcomes): readonly Block[] {
  const types = new Map<string, string>();
  for (const resource of template.resources) {
    const names = resource.properties?.kind === 'map' ? resource.properties.fields : none;
    types.set(resource.name, typeOf(resource, names as Properties) ?? 'other');
  }
  const addressOf = (name: string): string | null => {
    const type = types.get(name);
    return type === undefined ? null : `${type}.${name}`;
  };
  const world = new World(template, outcomes, addressOf);
  return template.resources.flatMap((resource) =>
    blocksOf(resource, resource.properties === undefined ? null : world.known(resource.properties)),
  );
}
