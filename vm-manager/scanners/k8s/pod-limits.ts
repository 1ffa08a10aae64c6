// Rules about pods: ports, kinds of volumes, images, limits.
import { type Checked } from '../iac/rule.js';
import { listOf, objectOf, textOf } from '../sca/listing.js';
import type { Manifest } from './manifests.js';
import {
  ofContainers,
  ofPod,
  contextOf,
  podContext,
  inherited,
  context,
  resource,
  imageOf,
  volumesOf,
  safeSysctls,
  coreVolumes,
  hasFixedTag,
  customProfiles,
} from './pod-kit.js';

export const podLimitRules: readonly Checked<Manifest>[] = [
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
      'The token is in every container: an attacker who breaks in has it.',
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
        'The same number may be a user of the node.',
        `Set ${name} to a number above 10000.`,
      ],
      (one, of) => {
        const value = inherited(one, of, name);
        return typeof value === 'number' && value > 10_000 ? null : [...context, name];
      },
    ),
  ),
];
