// How rules about pods and containers are written, and what they ask.
import type { Severity } from '../../findings/words.js';
import { rowOf, type Place } from '../iac/rule.js';
import { listOf, objectOf, textOf, type Json } from '../sca/listing.js';
import type { Container, Manifest, Workload } from './manifests.js';
import { workloadOf } from './manifests.js';

export type Texts = readonly [
  id: string,
  known: string,
  severity: Severity,
  cwe: number,
  title: string,
  why: string,
  fix: string,
];

export const placeIn = ({ manifest }: Workload, path: readonly (string | number)[], message: string): Place => ({
  line: manifest.lineOf(path),
  message,
  address: manifest.address,
});

export const row = (
  [id, known, severity, cwe, title, why, fix]: Texts,
  check: (subject: Manifest) => readonly Place[],
) => rowOf<Manifest>({ id, knownAs: [known], severity, cwes: [cwe], title, why, fix, check });

/** About each container. `holds` gives where it is broken, below the container; null: it is not. */
export const ofContainers = (
  texts: Texts,
  holds: (one: Container, of: Workload) => readonly (string | number)[] | null,
) =>
  row(texts, (manifest) => {
    const workload = workloadOf(manifest);
    return (workload?.containers ?? []).flatMap((one) => {
      const path = workload === null ? null : holds(one, workload);
      if (path === null || workload === null) return [];
      return [placeIn(workload, [...one.path, ...path], `Container ${one.name || '?'}: ${texts[4]}`)];
    });
  });

/** About the pod. */
export const ofPod = (texts: Texts, holds: (of: Workload) => readonly (readonly (string | number)[])[]) =>
  row(texts, (manifest) => {
    const workload = workloadOf(manifest);
    if (workload === null) return [];
    return holds(workload).map((path) => placeIn(workload, [...workload.path, ...path], `${texts[4]}`));
  });

export const contextOf = ({ spec }: Container): Json => objectOf(spec['securityContext']);
export const podContext = ({ pod }: Workload): Json => objectOf(pod['securityContext']);
/** Of the container, else of the pod. */
export const inherited = (one: Container, of: Workload, name: string): unknown =>
  contextOf(one)[name] ?? podContext(of)[name];
export const context = ['securityContext'];
export const capabilities = (one: Container, name: string): string[] =>
  listOf(objectOf(contextOf(one)['capabilities'])[name]).map((value) =>
    textOf(value).toUpperCase().replace(/^CAP_/, ''),
  );
export const resource = (one: Container, kind: string, name: string): unknown =>
  objectOf(objectOf(one.spec['resources'])[kind])[name];
export const imageOf = (one: Container): string => textOf(one.spec['image']);
export const volumesOf = ({ pod }: Workload): Json[] => listOf(pod['volumes']).map(objectOf);
export const flagged = (name: string) => (of: Workload) => (of.pod[name] === true ? [[name]] : []);

export const safeSysctls: ReadonlySet<string> = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
]);
export const coreVolumes: ReadonlySet<string> = new Set(
  'name,configMap,csi,downwardAPI,emptyDir,ephemeral,persistentVolumeClaim,projected,secret,hostPath,image'.split(','),
);
export const strong = new Set([
  'SYS_ADMIN',
  'NET_ADMIN',
  'SYS_PTRACE',
  'SYS_MODULE',
  'DAC_READ_SEARCH',
  'SYS_RAWIO',
  'BPF',
  'ALL',
]);

/** A tag, or a digest, that is the same tomorrow. */
export function hasFixedTag(image: string): boolean {
  if (image === '' || image.includes('@sha256:')) return true;
  const name = image.slice(image.lastIndexOf('/') + 1);
  return name.includes(':') && !name.endsWith(':latest');
}

/** An AppArmor profile that is neither the runtime's nor one of the node. */
export function customProfiles({ annotations, manifest, pod }: Workload): readonly (readonly string[])[] {
  const given = { ...annotations, ...objectOf(objectOf(manifest.object['metadata'])['annotations']) };
  const isCustom = Object.entries(given).some(
    ([name, value]) =>
      name.startsWith('container.apparmor.security.beta.kubernetes.io/') &&
      !/^(?:runtime\/default|localhost\/.+)$/.test(textOf(value)),
  );
  const type = objectOf(objectOf(pod['securityContext'])['appArmorProfile'])['type'];
  return isCustom || type === 'Unconfined' ? [[]] : [];
}
