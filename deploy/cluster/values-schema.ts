// values.schema.json of the chart: draft 7, as helm reads it, without references to other files. Variables of the
// environment come from their table. `UPDATE=1 node build/deploy/cluster/chart-files.test.js` writes it.
import {
  environmentGroup,
  flag,
  group,
  handedOn,
  listOf,
  oneOf,
  secretGroup,
  text,
  textMap,
  variablesOf,
  whole,
  type Schema,
} from './schema-kit.js';

/** Facts of the pods, or values of the chart under another name. */
export const ownVariables = {
  dataPlane: [
    'IN_CONTAINER',
    'GATEHOUSE_DATA',
    'GATEHOUSE_ADMIN_TOKEN',
    'GATEHOUSE_ADMIN_PORT',
    'GATEHOUSE_CONTROL_URL',
    'DATA_WORKERS',
    'TLS_EDGE',
    'TLS_CERTIFICATES',
    'JOIN_URLS',
    'JOIN_TOKEN',
    'NODES_JOIN_SECRET',
    'JOIN_NAME',
    'JOIN_LABELS',
    'REDIS_URL',
    'WAF_PORT',
    'WAF_BIND',
    'JA3_PORT',
    'DEMO_PORT',
    'UPSTREAM_CUSTOMER',
    'UPSTREAM_PAYMENT',
    'DASHBOARD_DOMAIN',
    'DASHBOARD_UPSTREAM',
    'CRS_DIR',
  ],
  controlPlane: [
    'IN_CONTAINER',
    'GATEHOUSE_DATA',
    'DATA_DIR',
    'API_PORT',
    'ADMIN_BIND',
    'ADMIN_EMAIL',
    'ADMIN_INITIAL_PASSWORD',
    'AUTH_SESSION_SECRET',
    'SETTINGS_ENCRYPTION_SECRET',
    'CONSOLE_TOKEN',
    'DATA_ADMIN_TOKEN',
    'DATA_ADMIN_URLS',
    'GATEHOUSE_ADMIN_TOKEN',
    'GATEHOUSE_ADMIN_PORT',
    'NODES_PORT',
    'NODES_BIND',
    'NODES_URLS',
    'NODES_JOIN_SECRET',
    'NODES_JOIN_MAX',
    'NODES_FORGET_MINUTES',
    'DATABASE_URL',
    'POSTGRES_HOST',
    'POSTGRES_PORT',
    'POSTGRES_USER',
    'POSTGRES_PASSWORD',
    'POSTGRES_DB',
    'REDIS_URL',
    'WAF_PORT',
    'DEMO_PORT',
    'UPSTREAM_CUSTOMER',
    'CRS_DIR',
  ],
  console: [
    'IN_CONTAINER',
    'GATEHOUSE_CONTROL_URL',
    'UI_PORT',
    'API_PORT',
    'ADMIN_BIND',
    'CONSOLE_TOKEN',
    'DASHBOARD_PROXIES',
  ],
} as const;

const secretName = (description: string): Schema =>
  text(description, { pattern: '^([a-z0-9]([a-z0-9.-]*[a-z0-9])?)?$', maxLength: 253 });
const needed = (description: string): Schema =>
  text(description, { pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$', maxLength: 253 });
const annotations = textMap('annotations');
const bytes = (description: string): Schema => text(description, { pattern: '^[0-9]+(Ki|Mi|Gi|Ti)$' });
const https = (description: string): Schema =>
  listOf(description, text('an https address with its port', { pattern: '^https://[^/,\\s]+$' }));
const portNumber = (description: string): Schema => whole(description, 1, 65_535);
const storageClass = text('StorageClass; empty = the default one of the cluster');

const placement = {
  podAnnotations: textMap('annotations of the pods'),
  podLabels: textMap('labels of the pods'),
  nodeSelector: textMap('labels that a node must have'),
  tolerations: handedOn('taints that the pods tolerate', 'array'),
  affinity: handedOn('rules about nodes and other pods'),
  priorityClassName: text('PriorityClass of the pods; empty = the default one'),
};
const extraVolumes = {
  extraVolumes: handedOn('other volumes, such as a ConfigMap with REDIS_TLS_CA_FILE', 'array'),
  extraVolumeMounts: handedOn('where they are mounted', 'array'),
};
const budget = group('PodDisruptionBudget', {
  enabled: flag('make one'),
  maxUnavailable: {
    description: 'pods that may be away for an upgrade of nodes: a number, or a share such as 25%',
    anyOf: [
      { type: 'integer', minimum: 1 },
      { type: 'string', pattern: '^[1-9][0-9]?%$' },
    ],
  },
});
const resources = group('processor and memory, as in a container', {
  requests: handedOn('what the scheduler reserves'),
  limits: handedOn('what it may take'),
});
const image = (name: string): Schema =>
  group(`image of the ${name}`, {
    repository: text('name behind the registry', { minLength: 1 }),
    digest: text('digest, which wins over the tag; empty = the tag', { pattern: '^(sha256:[0-9a-f]{64})?$' }),
  });
const hosts = listOf('host names', text('host name', { minLength: 1 }));
const ingress = group(
  'Ingress',
  {
    enabled: flag('make one'),
    className: text('IngressClass; empty = the default one'),
    annotations,
    hosts,
    tlsSecret: secretName('Secret of the type kubernetes.io/tls for the hosts; empty = no TLS there'),
  },
  { if: { properties: { enabled: { const: true } } }, then: { properties: { hosts: { minItems: 1 } } } },
);
const httpRoute = group(
  'HTTPRoute of the Gateway API',
  {
    enabled: flag('make one'),
    parentRefs: listOf(
      'gateways',
      group(
        'one gateway',
        {
          name: text('name of the Gateway', { minLength: 1 }),
          namespace: text('its namespace'),
          sectionName: text('its listener'),
          port: portNumber('its port'),
        },
        { required: ['name'] },
      ),
    ),
    hostnames: hosts,
  },
  { if: { properties: { enabled: { const: true } } }, then: { properties: { parentRefs: { minItems: 1 } } } },
);
const kinds = ['ClusterIP', 'NodePort', 'LoadBalancer'] as const;

const dataPlane = (): Schema =>
  group('nodes of the data plane', {
    enabled: flag('run them in this release'),
    image: image('data plane'),
    replicas: whole('pods, where autoscaling is off', 0, 1000),
    workers: whole('threads that serve (DATA_WORKERS); give each a processor', 1, 64),
    nodeLabels: textMap(
      'labels under which the nodes enrol, such as ring: canary',
      '^[a-z][a-z0-9_-]{0,31}$',
      '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$',
    ),
    resources,
    autoscaling: group('HorizontalPodAutoscaler by processor time', {
      enabled: flag('make one'),
      minReplicas: whole('pods at least', 1, 1000),
      maxReplicas: whole('pods at most', 1, 1000),
      cpuPercent: whole('share of the requested processor time that is aimed at', 10, 95),
    }),
    disruptionBudget: budget,
    drain: group('how a pod ends', {
      waitSeconds: whole('seconds between "not ready" and the end, in which load balancers notice', 0, 300),
      requestSeconds: whole('seconds that requests have to end: the setting drain_ms, rounded up', 1, 600),
    }),
    service: group('Service for traffic', {
      type: oneOf('kind of the Service', ...kinds),
      httpPort: portNumber('port for HTTP'),
      httpsPort: portNumber('port for HTTPS'),
      externalTrafficPolicy: oneOf('Local keeps the addresses of clients', 'Local', 'Cluster'),
      annotations,
      loadBalancerClass: text('class of the load balancer; empty = the default one'),
      loadBalancerSourceRanges: listOf('networks that the load balancer lets in; empty = all', text('a network')),
    }),
    ingress,
    httpRoute,
    tlsSecrets: listOf(
      'Secrets of the type kubernetes.io/tls to serve, beside certificates that the control plane orders',
      needed('name of a Secret'),
    ),
    tls: flag('listen for HTTPS; off behind a balancer that ends TLS'),
    env: environmentGroup('other variables', variablesOf(['data plane'], false, ownVariables.dataPlane)),
    secretEnv: secretGroup('other secrets', variablesOf(['data plane'], true, ownVariables.dataPlane)),
    ...extraVolumes,
    sizeLimit: bytes('disk that a pod may fill: rules, logs'),
    ...placement,
  });

const controlPlane = (): Schema =>
  group('control planes', {
    enabled: flag('run them in this release'),
    image: image('control plane and console'),
    replicas: whole('pods; one leads, all answer', 1, 20),
    resources,
    disruptionBudget: budget,
    persistence: group('a volume for the data directory', {
      enabled: flag('use one; then there is one pod'),
      size: bytes('size of the volume'),
      storageClass,
      existingClaim: secretName('a PersistentVolumeClaim that exists; empty = one is made'),
    }),
    sizeLimit: bytes('disk that a pod may fill without a volume'),
    nodesService: group('how nodes outside of the cluster reach the port of nodes', {
      type: oneOf('ClusterIP = they do not', ...kinds),
      annotations,
      urls: https('addresses of it, which nodes are given'),
    }),
    env: environmentGroup('other variables', variablesOf(['control plane'], false, ownVariables.controlPlane)),
    secretEnv: secretGroup('other secrets', variablesOf(['control plane'], true, ownVariables.controlPlane)),
    ...extraVolumes,
    ...placement,
  });

const consoleGroup = (): Schema =>
  group('the console in a browser', {
    enabled: flag('run it in this release'),
    replicas: whole('pods', 1, 20),
    resources,
    disruptionBudget: budget,
    service: group('Service of the console', { type: oneOf('kind of the Service', ...kinds), annotations }),
    trustedProxies: listOf(
      'addresses or networks whose word of the client is believed (DASHBOARD_PROXIES)',
      text('an address or a network', { pattern: '^[0-9a-fA-F.:]+(/[0-9]{1,3})?$' }),
    ),
    ingress,
    httpRoute,
    env: environmentGroup('other variables', variablesOf(['console'], false, ownVariables.console)),
    ...placement,
  });

const database = group('where the control plane stores its data', {
  mode: oneOf('external, bundled (for trials) or embedded (one control plane)', 'external', 'bundled', 'embedded'),
  existingSecret: needed('mode external: a Secret with the key database-url'),
  bundled: group('the PostgreSQL for trials', {
    image: text('official image', { minLength: 1 }),
    storage: bytes('size of its volume'),
    storageClass,
    resources,
  }),
});
const redis = group('where limits of several processes are counted', {
  mode: oneOf('none, external or bundled (for trials)', 'none', 'external', 'bundled'),
  existingSecret: needed('mode external: a Secret with the key redis-url'),
  bundled: group('the Redis for trials', { image: text('official image', { minLength: 1 }), resources }),
});
const peers = (description: string): Schema => handedOn(description, 'array');

export function valuesSchema(): Schema {
  const properties: Readonly<Record<string, Schema>> = {
    global: handedOn('values that helm hands to every chart; not read here'),
    nameOverride: text('name in place of gatehouse', { maxLength: 40 }),
    fullnameOverride: text('begin of the names of all objects; empty = release and chart', { maxLength: 40 }),
    image: group('what all images have in common', {
      registry: text('registry, and folder in it; empty = none', { pattern: '^([^\\s:/]+(:[0-9]+)?(/[^\\s:]+)?)?$' }),
      tag: text('tag; empty = the version of the product'),
      pullPolicy: oneOf('when images are pulled', 'IfNotPresent', 'Always', 'Never'),
      pullSecrets: listOf('Secrets of the registry', needed('name of a Secret')),
    }),
    secrets: group('where the secrets of the product are', {
      existingSecret: needed('name of the Secret (docs/kubernetes.md has the command that makes it)'),
    }),
    admin: group('first login', { email: text('e-mail address', { pattern: '^[^\\s@]+@[^\\s@]+$' }) }),
    upstream: text('application behind the site that exists at first', { pattern: '^(https?://[^\\s]+)?$' }),
    database,
    redis,
    join: group('how nodes enrol by themselves', {
      urls: https('control planes elsewhere; empty = those of this release'),
      tokenSecret: secretName('control planes elsewhere: a Secret with the key join-token'),
      nodesMax: whole('nodes that are enrolled at once, at most (NODES_JOIN_MAX)', 1, 999),
      forgetMinutes: whole('minutes without a word until a node leaves the list', 5, 999),
    }),
    dataPlane: dataPlane(),
    controlPlane: controlPlane(),
    console: consoleGroup(),
    networkPolicy: group('NetworkPolicy', {
      enabled: flag('make them'),
      monitoringFrom: peers('who may scrape (NetworkPolicyPeer)'),
      consoleFrom: peers('who reaches the console (NetworkPolicyPeer); empty = all'),
      nodesFrom: peers('who reaches the port of nodes, beside the nodes of this release (NetworkPolicyPeer)'),
      dataPlaneEgress: peers('where data planes may connect (NetworkPolicyEgressRule); empty = everywhere'),
      controlPlaneEgress: peers('where control planes may connect (NetworkPolicyEgressRule); empty = everywhere'),
    }),
    monitoring: group('objects of the Prometheus operator and of Grafana', {
      serviceMonitor: group('ServiceMonitor', {
        enabled: flag('make them'),
        interval: text('how often', { pattern: '^[0-9]+(s|m)$' }),
        labels: textMap('labels by which your Prometheus finds them'),
        controlPlaneTokenSecret: secretName('a Secret with the key api-token (scope stats:read); empty = only nodes'),
      }),
      prometheusRule: group('PrometheusRule', {
        enabled: flag('make it'),
        labels: textMap('labels by which your Prometheus finds it'),
      }),
      dashboards: group('ConfigMaps with dashboards', {
        enabled: flag('make them'),
        labels: textMap('labels by which your Grafana finds them'),
      }),
    }),
    serviceAccount: group('accounts of the pods; none has a token', {
      dataPlane: secretName('of the data plane; empty = one is made'),
      controlPlane: secretName('of the control plane; empty = one is made'),
      console: secretName('of the console; empty = one is made'),
      annotations: textMap('annotations of those that are made'),
    }),
  };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart gatehouse',
    ...group('every value of the chart', properties),
  };
}
