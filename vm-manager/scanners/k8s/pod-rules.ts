// Rules about what runs: pods and their containers (Pod Security Standards, CIS Kubernetes Benchmark 5.2).
import { type Checked } from '../iac/rule.js';
import { objectOf, textOf } from '../sca/listing.js';
import type { Manifest } from './manifests.js';
import {
  ofContainers,
  ofPod,
  contextOf,
  inherited,
  context,
  capabilities,
  volumesOf,
  flagged,
  strong,
} from './pod-kit.js';

export const podRules: readonly Checked<Manifest>[] = [
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
      'A client that reaches the socket starts a privileged container: a container escape to the node.',
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
      'The container is set to run as root',
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
