// Rules about Compose files; their subject is one service.
import { isPlaceholder, isReference, isTemplate } from '../../secrets/values.js';
import { listOf, objectOf, textOf, type Json } from '../../sca/listing.js';
import { rowOf, type Checked, type Place } from '../rule.js';

export interface Service {
  readonly name: string;
  readonly spec: Json;
  lineOf(path: readonly (string | number)[]): number;
}

const at = (one: Service, path: readonly (string | number)[], message?: string): Place => ({
  line: one.lineOf(path),
  address: one.name,
  ...(message === undefined ? {} : { message: `${one.name}: ${message}` }),
});
/** A switch may be a text, which is how variables are written. */
const isOn = (value: unknown): boolean =>
  value === true || (typeof value === 'string' && /^(?:true|yes|y|on|t|1)$/i.test(value.trim()));
const isHost =
  (name: string) =>
  (one: Service): Place[] =>
    one.spec[name] === 'host' ? [at(one, [name])] : [];

const volumes = (one: Service): { readonly source: string; readonly index: number }[] =>
  listOf(one.spec['volumes']).map((value, index) => ({
    source: typeof value === 'string' ? (value.split(':')[0] ?? '') : textOf(objectOf(value)['source']),
    index,
  }));

/** Names and values, whichever way they are written. */
const environment = (
  one: Service,
): { readonly name: string; readonly value: string; readonly key: string | number }[] => {
  const given = one.spec['environment'];
  if (Array.isArray(given))
    return given.map((value: unknown, key) => {
      const [name = '', ...rest] = textOf(value).split('=');
      return { name, value: rest.join('='), key };
    });
  return Object.entries(objectOf(given)).map(([name, value]) => ({
    name,
    value: typeof value === 'string' ? value : '',
    key: name,
  }));
};

const secretName = /(?:^|_)(?:PASSWORD|PASSWD|PASS|SECRET|SECRET_KEY|TOKEN|API_?KEY|ACCESS_KEY|PRIVATE_KEY)$/i;
const isSecret = (value: string): boolean =>
  value.length >= 6 && !value.includes('$') && !isTemplate(value) && !isReference(value) && !isPlaceholder(value);
const strong = new Set([
  'ALL',
  'SYS_ADMIN',
  'SYS_PTRACE',
  'SYS_MODULE',
  'NET_ADMIN',
  'DAC_READ_SEARCH',
  'SYS_RAWIO',
  'BPF',
]);
const databasePorts = new Set(['1433', '1521', '3306', '5432', '6379', '9200', '11211', '27017']);

/** `8080:80`, `127.0.0.1:5432:5432/tcp`: the address, and the port within. */
function published(value: unknown): { readonly host: string; readonly target: string } | null {
  if (typeof value === 'string') {
    const parts = value.replace(/\/\w+$/, '').split(':');
    return parts.length < 2
      ? null
      : { host: parts.length > 2 ? parts.slice(0, -2).join(':') : '', target: parts.at(-1) ?? '' };
  }
  const one = objectOf(value);
  return one['published'] === undefined ? null : { host: textOf(one['host_ip']), target: String(one['target']) };
}

export const composeRules: readonly Checked<Service>[] = [
  rowOf({
    id: 'compose-privileged',
    title: 'Privileged service',
    severity: 'critical',
    cwes: [250],
    why: 'A privileged container is root of the host: a container escape takes one command.',
    fix: 'Take privileged out, and name the capability that is needed.',
    check: (one) => (isOn(one.spec['privileged']) ? [at(one, ['privileged'])] : []),
  }),
  rowOf({
    id: 'compose-docker-socket',
    title: 'Socket of Docker in a service',
    severity: 'high',
    cwes: [250],
    why: 'A client that reaches the socket starts a privileged container: a container escape to the host.',
    fix: 'Leave it out, or put a proxy before it that allows what is needed.',
    check: (one) =>
      volumes(one)
        .filter(({ source }) => /(?:docker|containerd|podman)\.sock$/.test(source))
        .map(({ index }) => at(one, ['volumes', index])),
  }),
  rowOf({
    id: 'compose-host-directory',
    title: 'Directory of the system in a service',
    severity: 'high',
    cwes: [668],
    why: 'Files of the host are changed from the container.',
    fix: 'Mount the directory of the application alone.',
    check: (one) =>
      volumes(one)
        .filter(({ source }) => /^\/(?:|etc|root|proc|sys|boot|dev|var|usr|home)\/?$/.test(source))
        .map(({ index }) => at(one, ['volumes', index])),
  }),
  ...(
    [
      ['network_mode', 'network', 'All ports of the host are reached by localhost.'],
      ['pid', 'pid', 'The container reads the memory and environment of all processes.'],
      ['ipc', 'ipc', 'The container reads the shared memory of all processes.'],
    ] as const
  ).map(([name, short, why]) =>
    rowOf<Service>({
      id: `compose-host-${short}`,
      title: `The service shares ${name} with the host`,
      severity: 'high',
      cwes: [653],
      why,
      fix: `Take ${name} out.`,
      check: isHost(name),
    }),
  ),
  rowOf({
    id: 'compose-capabilities',
    title: 'Added capabilities',
    severity: 'high',
    cwes: [250],
    why: 'They are most of root.',
    fix: 'Drop all, and add what is needed.',
    check: (one) =>
      listOf(one.spec['cap_add']).flatMap((name, index) =>
        strong.has(textOf(name).toUpperCase().replace(/^CAP_/, '')) ? [at(one, ['cap_add', index])] : [],
      ),
  }),
  rowOf({
    id: 'compose-unconfined',
    title: 'The bounds of the kernel are off',
    severity: 'high',
    cwes: [693],
    why: 'Without seccomp or AppArmor every call to the kernel is open.',
    fix: 'Take the option out.',
    check: (one) =>
      listOf(one.spec['security_opt']).flatMap((value, index) =>
        /^(?:seccomp|apparmor)[:=]unconfined$/.test(textOf(value)) ? [at(one, ['security_opt', index])] : [],
      ),
  }),
  rowOf({
    id: 'compose-secret',
    title: 'Secret in the environment of a service',
    severity: 'high',
    cwes: [798],
    why: 'It stands in the repository and in the configuration of the container.',
    fix: 'Use secrets, or a variable that is set outside.',
    check: (one) =>
      environment(one)
        .filter(({ name, value }) => secretName.test(name) && isSecret(value))
        .map(({ name, key }) => at(one, ['environment', key], `${name} has a value`)),
  }),
  rowOf({
    id: 'compose-open-database',
    title: 'Database is reached from everywhere',
    severity: 'medium',
    cwes: [1327],
    why: 'A published port listens on every address of the host, past its firewall.',
    fix: 'Write 127.0.0.1: before it, or leave it out: services reach each other without.',
    check: (one) =>
      listOf(one.spec['ports']).flatMap((value, index) => {
        const port = published(value);
        return port !== null && databasePorts.has(port.target) && /^(?:|0\.0\.0\.0|::|\[::\])$/.test(port.host)
          ? [at(one, ['ports', index])]
          : [];
      }),
  }),
  rowOf({
    id: 'compose-untagged',
    title: 'Image without a fixed tag',
    severity: 'low',
    cwes: [1357],
    why: 'Another image may start tomorrow.',
    fix: 'Name a version, or a digest.',
    check: (one) => {
      const image = textOf(one.spec['image']);
      const name = image.slice(image.lastIndexOf('/') + 1);
      const isFixed =
        image === '' ||
        image.includes('$') ||
        image.includes('@sha256:') ||
        one.spec['build'] !== undefined ||
        (name.includes(':') && !name.endsWith(':latest'));
      return isFixed ? [] : [at(one, ['image'])];
    },
  }),
];
