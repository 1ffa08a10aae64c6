// What tests ask of rendered manifests: their pods, containers, variables, ports.
import type { Json, KubernetesObject } from './chart.js';

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: Json }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly lifecycle?: { readonly preStop?: { readonly exec: { readonly command: readonly string[] } } };
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}
export interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string };
  readonly exec?: { readonly command: readonly string[] };
}
export interface Pod {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly volumes?: readonly ({ readonly name: string } & Json)[];
  readonly securityContext: Json;
}
export interface Workload {
  readonly object: KubernetesObject;
  readonly labels: Readonly<Record<string, string>>;
  readonly pod: Pod;
}

/** Null: it runs nothing. */
export function workloadOf(object: KubernetesObject): Workload | null {
  if (object.kind === 'Pod')
    return { object, labels: object.metadata.labels ?? {}, pod: object.spec as unknown as Pod };
  const template = object.spec?.['template'] as
    | { readonly metadata: { readonly labels: Readonly<Record<string, string>> }; readonly spec: Pod }
    | undefined;
  return template === undefined ? null : { object, labels: template.metadata.labels, pod: template.spec };
}

export const workloadsOf = (objects: readonly KubernetesObject[]): Workload[] =>
  objects.map(workloadOf).filter((one) => one !== null);

export const containersOf = ({ pod }: Workload): Container[] => [...(pod.initContainers ?? []), ...pod.containers];

export const findObject = (
  objects: readonly KubernetesObject[],
  kind: string,
  name: string,
): KubernetesObject | undefined => objects.find((one) => one.kind === kind && one.metadata.name === name);

export const selects = (
  selector: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>>,
): boolean => Object.entries(selector).every(([name, value]) => labels[name] === value);
