// Rules about what runs: pods and their containers (Pod Security Standards, CIS Kubernetes Benchmark 5.2).
import type { Severity } from '../../findings/words.js';
import { rowOf, type Checked, type Place } from '../iac/rule.js';
import { listOf, objectOf, textOf, type Json } from '../sca/listing.js';
import type { Container, Manifest, Workload } from './manifests.js';
import { workloadOf } from './manifests.js';

type Texts = readonly [
  id: string,
  known: string,
  severity: Severity,
  cwe: number,
  title: string,
  why: string,
  mend: string,
];

const placeIn = ({ manifest }: Workload, path: readonly (string | number)[], message: string): Place => ({
  line: manifest.lineOf(path),
  message,
  address: manifest.address,
});

const row = ([id, known, severity, cwe, title, why, mend]: Texts, check: (subject: Manifest) => readonly Place[]) =>
  rowOf<Manifest>({ id, knownAs: [known], severity, cwes: [cwe], title, why, mend, check });

/** About each container. `holds` gives where it is broken, below the container; null: it is not. */
const ofContainers = (texts: Texts, holds: (one: Container, of: Workload) => readonly (string | number)[] | null) =>
  row(texts, (manifest) => {
    const workload = workloadOf(manifest);
    return (workload?.containers ?? []).flatMap((one) => {
      const path = workload === null ? null : holds(one, workload);
      if (path === null || workload === null) return [];
      return [placeIn(workload, [...one.path, ...path], `Container ${one.name || '?'}: ${texts[4]}`)];
    });
  });

/** About the pod. */
const ofPod = (texts: Texts, holds: (of: Workload) => readonly (readonly (string | number)[])[]) =>
  row(texts, (manifest) => {
    const workload = workloadOf(manifest);
    if (workload === null) return [];
    return holds(workload).map((path) => placeIn(workload, [...workload.path, ...path], `${texts[4]}`));
  });

const contextOf = ({ spec }: Container): Json => objectOf(spec['securityContext']);
const podContext = ({ pod }: Workload): Json => objectOf(pod['securityContext']);
/** Of the container, else of the pod. */
const inherited = (one: Container, of: Workload, name: string): unknown => contextOf(one)[name] ?? podContext(of)[name];
const context = ['securityContext'];
const capabilities = (one: Container, name: string): string[] =>
  listOf(objectOf(contextOf(one)['capabilities'])[name]).map((value) =>
    textOf(value).toUpperCase().replace(/^CAP_/, ''),
  );
const resource = (one: Container, kind: string, name: string): unknown =>
  objectOf(objectOf(one.spec['resources'])[kind])[name];
const imageOf = (one: Container): string => textOf(one.spec['image']);
const volumesOf = ({ pod }: Workload): Json[] => listOf(pod['volumes']).map(objectOf);
const flagged = (name: string) => (of: Workload) => (of.pod[name] === true ? [[name]] : []);

const safeSysctls: ReadonlySet<string> = new Set([
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
const coreVolumes: ReadonlySet<string> = new Set(
  'name,configMap,csi,downwardAPI,emptyDir,ephemeral,persistentVolumeClaim,projected,secret,hostPath,image'.split(','),
);
const strong = new Set([
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
function hasFixedTag(image: string): boolean {
  if (image === '' || image.includes('@sha256:')) return true;
  const name = image.slice(image.lastIndexOf('/') + 1);
  return name.includes(':') && !name.endsWith(':latest');
}

/** An AppArmor profile that is neither the runtime's nor one of the node. */
function customProfiles({ annotations, manifest, pod }: Workload): readonly (readonly string[])[] {
  const given = { ...annotations, ...objectOf(objectOf(manifest.object['metadata'])['annotations']) };
  const isCustom = Object.entries(given).some(
    ([name, value]) =>
      name.startsWith('container.apparmor.security.beta.kubernetes.io/') &&
      !/^(?:runtime\/default|localhost\/.+)$/.test(textOf(value)),
  );
  const type = objectOf(objectOf(pod['securityContext'])['appArmorProfile'])['type'];
  return isCustom || type === 'Unconfined' ? [[]] : [];
}

const dangerous: readonly Checked<Manifest>[] = [
  ofContainers(
    [
      'k8s-privileged',
      'KSV-0017',
      'critical',
      250,
      'Privileged container',
      'A privileged container is root of the node: an escape from the container takes one command.',
      'Take privileged out; name the one capability that is needed.',
    ],
    (one) => (contextOf(one)['privileged'] === true ? [...context, 'privileged'] : null),
  ),
  ofPod(
    [
      'k8s-docker-socket',
      'KSV-0006',
      'critical',
      250,
      'Socket of the container runtime in a pod',
      'Whoever reaches the socket starts a privileged container: a container escape to the node.',
      'Build and inspect without the socket of the node.',
    ],
    (of) =>
      volumesOf(of).flatMap((volume, index) =>
        /(?:docker|containerd|crio|cri-dockerd)\.sock$/.test(textOf(objectOf(volume['hostPath'])['path']))
          ? [['volumes', index]]
          : [],
      ),
  ),
  ofPod(
    [
      'k8s-host-pid',
      'KSV-0010',
      'high',
      250,
      'The pod sees the processes of the node',
      'With hostPID a container reads the memory and the environment of all others.',
      'Take hostPID out.',
    ],
    flagged('hostPID'),
  ),
  ofPod(
    [
      'k8s-host-ipc',
      'KSV-0008',
      'high',
      250,
      'The pod shares memory with the node',
      'With hostIPC a container reads the shared memory of all others.',
      'Take hostIPC out.',
    ],
    flagged('hostIPC'),
  ),
  ofPod(
    [
      'k8s-host-network',
      'KSV-0009',
      'high',
      653,
      'The pod is in the network of the node',
      'With hostNetwork no network policy holds, and the ports of the node are reached by localhost.',
      'Take hostNetwork out.',
    ],
    flagged('hostNetwork'),
  ),
  ofPod(
    [
      'k8s-host-path',
      'KSV-0023',
      'high',
      668,
      'Directory of the node in a pod',
      'A hostPath gives files of the node to the container: a container escape where one may be written.',
      'Use a volume of the cluster.',
    ],
    (of) => volumesOf(of).flatMap((volume, index) => (volume['hostPath'] == null ? [] : [['volumes', index]])),
  ),
  ofContainers(
    [
      'k8s-sys-admin',
      'KSV-0005',
      'high',
      250,
      'Capability SYS_ADMIN',
      'It is nearly all of root: a container escape.',
      'Take it out.',
    ],
    (one) => (capabilities(one, 'add').includes('SYS_ADMIN') ? [...context, 'capabilities', 'add'] : null),
  ),
  ofContainers(
    [
      'k8s-added-capabilities',
      'KSV-0022',
      'medium',
      250,
      'Added capabilities',
      'Each added capability is a piece of root that a break-in gets as well.',
      'Drop all, and add none but NET_BIND_SERVICE where a low port is needed.',
    ],
    (one) =>
      capabilities(one, 'add').some((name) => name !== 'SYS_ADMIN') ||
      capabilities(one, 'add').some((name) => strong.has(name))
        ? [...context, 'capabilities', 'add']
        : null,
  ),
  ofContainers(
    [
      'k8s-privilege-escalation',
      'KSV-0001',
      'medium',
      269,
      'A process may gain privileges',
      'Without allowPrivilegeEscalation: false a setuid program in the image makes root.',
      'Set allowPrivilegeEscalation: false.',
    ],
    (one) => (contextOf(one)['allowPrivilegeEscalation'] === false ? null : [...context, 'allowPrivilegeEscalation']),
  ),
  ofContainers(
    [
      'k8s-runs-as-root',
      'KSV-0012',
      'medium',
      250,
      'The container may run as root',
      'Nothing keeps the image from running as root: runs as root is one mistake from a container escape.',
      'Set runAsNonRoot: true, or runAsUser to a number above 0.',
    ],
    (one, of) => {
      const user = inherited(one, of, 'runAsUser');
      if (inherited(one, of, 'runAsNonRoot') === true) return null;
      return typeof user === 'number' && user > 0 ? null : [...context, 'runAsNonRoot'];
    },
  ),
  ofContainers(
    [
      'k8s-root-user',
      'KSV-0105',
      'high',
      250,
      'The container is told to run as root',
      'runAsUser is 0: the process is root in the container, one mistake from a container escape.',
      'Name the number of a user above 0.',
    ],
    (one, of) => (inherited(one, of, 'runAsUser') === 0 ? [...context, 'runAsUser'] : null),
  ),
  ofContainers(
    [
      'k8s-seccomp',
      'KSV-0030',
      'low',
      693,
      'No seccomp profile of the runtime',
      'All calls to the kernel are open to a break-in.',
      'Set seccompProfile.type: RuntimeDefault for the pod.',
    ],
    (one, of) => {
      const type = objectOf(inherited(one, of, 'seccompProfile'))['type'];
      return type === 'RuntimeDefault' || type === 'Localhost' ? null : [...context, 'seccompProfile'];
    },
  ),
  ofContainers(
    [
      'k8s-drop-all',
      'KSV-0003',
      'low',
      250,
      'The default capabilities are kept',
      'NET_RAW and others of the default set are not needed by most programs.',
      'Set capabilities.drop: [ALL].',
    ],
    (one) => (capabilities(one, 'drop').includes('ALL') ? null : [...context, 'capabilities', 'drop']),
  ),
  ofContainers(
    [
      'k8s-writable-root',
      'KSV-0014',
      'low',
      732,
      'The file system of the container may be written',
      'A break-in can put its programs there.',
      'Set readOnlyRootFilesystem: true, with an emptyDir where files are written.',
    ],
    (one) => (contextOf(one)['readOnlyRootFilesystem'] === true ? null : [...context, 'readOnlyRootFilesystem']),
  ),
  ofContainers(
    [
      'k8s-proc-mount',
      'KSV-0027',
      'high',
      668,
      'Unmasked /proc',
      'The container sees and writes parts of the kernel.',
      'Leave procMount out.',
    ],
    (one) => {
      const mount = contextOf(one)['procMount'];
      return mount === undefined || mount === null || mount === 'Default' ? null : [...context, 'procMount'];
    },
  ),
];

const others: readonly Checked<Manifest>[] = [
  ofContainers(
    [
      'k8s-host-port',
      'KSV-0024',
      'medium',
      668,
      'Port of the node',
      'A hostPort is reached past every service and most network policies.',
      'Use a Service.',
    ],
    (one) => {
      const index = listOf(one.spec['ports']).findIndex(
        (port) => typeof objectOf(port)['hostPort'] === 'number' && objectOf(port)['hostPort'] !== 0,
      );
      return index === -1 ? null : ['ports', index];
    },
  ),
  ofPod(
    [
      'k8s-sysctls',
      'KSV-0026',
      'medium',
      250,
      'Settings of the kernel that others feel',
      'Unsafe sysctls change the node for all of its pods.',
      'Leave them to who runs the nodes.',
    ],
    (of) =>
      listOf(podContext(of)['sysctls']).flatMap((one, index) =>
        safeSysctls.has(textOf(objectOf(one)['name'])) ? [] : [['securityContext', 'sysctls', index]],
      ),
  ),
  ofPod(
    [
      'k8s-selinux',
      'KSV-0025',
      'medium',
      693,
      'SELinux type of its own',
      'Another type than the runtime’s may have no bounds.',
      'Leave seLinuxOptions out, or use a container type.',
    ],
    (of) => {
      const all = [podContext(of), ...of.containers.map(contextOf)].map((one) => objectOf(one['seLinuxOptions']));
      const isOwn = all.some(
        ({ type, user, role }) =>
          (type !== undefined &&
            !/^(?:|container_t|container_init_t|container_kvm_t|container_engine_t)$/.test(textOf(type))) ||
          textOf(user) !== '' ||
          textOf(role) !== '',
      );
      return isOwn ? [['securityContext', 'seLinuxOptions']] : [];
    },
  ),
  ofPod(
    [
      'k8s-apparmor',
      'KSV-0002',
      'medium',
      693,
      'AppArmor profile that is not the runtime’s',
      'Unconfined or unknown profiles bound nothing.',
      'Use runtime/default, or a profile of the node.',
    ],
    customProfiles,
  ),
  ofPod(
    [
      'k8s-volume-types',
      'KSV-0028',
      'low',
      668,
      'Volume of a kind that restricted pods may not have',
      'Volumes of the network tie a pod to credentials and hosts.',
      'Use a PersistentVolumeClaim.',
    ],
    (of) =>
      volumesOf(of).flatMap((volume, index) =>
        Object.keys(volume).every((name) => coreVolumes.has(name)) ? [] : [['volumes', index]],
      ),
  ),
  ofContainers(
    [
      'k8s-latest-tag',
      'KSV-0013',
      'low',
      1357,
      'Image without a fixed tag',
      'Another image may start tomorrow.',
      'Name a version, or a digest.',
    ],
    (one) => (hasFixedTag(imageOf(one)) ? null : ['image']),
  ),
  ofPod(
    [
      'k8s-token-mounted',
      'KSV-0036',
      'low',
      522,
      'Token of the service account is asked for',
      'The token is in every container: whoever breaks in has it.',
      'Set automountServiceAccountToken: false where the API is not used.',
    ],
    (of) =>
      of.pod['automountServiceAccountToken'] === true && of.manifest.namespace !== 'kube-system'
        ? [['automountServiceAccountToken']]
        : [],
  ),
  ofContainers(
    [
      'k8s-tiller',
      'KSV-0102',
      'critical',
      250,
      'Tiller of Helm 2',
      'It does for everybody what its account may.',
      'Use Helm 3, which has no Tiller.',
    ],
    (one) => (/(?:^|\/)tiller(?:[:@]|$)/.test(imageOf(one)) ? ['image'] : null),
  ),
  ...(
    [
      ['k8s-cpu-limit', 'KSV-0011', 'limits', 'cpu', 'No limit of processor time', 'info'],
      ['k8s-cpu-request', 'KSV-0015', 'requests', 'cpu', 'No request of processor time', 'info'],
      ['k8s-memory-request', 'KSV-0016', 'requests', 'memory', 'No request of memory', 'info'],
      ['k8s-memory-limit', 'KSV-0018', 'limits', 'memory', 'No limit of memory', 'low'],
    ] as const
  ).map(([id, known, kind, name, title, severity]) =>
    ofContainers(
      [
        id,
        known,
        severity,
        770,
        title,
        'One container may take what all others of the node need.',
        `Set resources.${kind}.${name}.`,
      ],
      (one) =>
        resource(one, kind, name) === undefined && !(kind === 'requests' && resource(one, 'limits', name) !== undefined)
          ? ['resources', kind]
          : null,
    ),
  ),
  ...(
    [
      ['k8s-low-uid', 'KSV-0020', 'runAsUser', 'User with a low number'],
      ['k8s-low-gid', 'KSV-0021', 'runAsGroup', 'Group with a low number'],
    ] as const
  ).map(([id, known, name, title]) =>
    ofContainers(
      [
        id,
        known,
        'info',
        250,
        title,
        'The same number may be somebody on the node.',
        `Set ${name} to a number above 10000.`,
      ],
      (one, of) => {
        const value = inherited(one, of, name);
        return typeof value === 'number' && value > 10_000 ? null : [...context, name];
      },
    ),
  ),
];

export const podRules: readonly Checked<Manifest>[] = [...dangerous, ...others];
