// What objects of Kubernetes may look like, as far as the chart makes any: names of fields and kinds of values, from
// the reference of the API (1.31), the Gateway API (v1) and the Prometheus operator (v1). Strict: a field that is not
// here is a mistake, or a line to be added after a look at the reference.
import type { Schema } from './schema-kit.js';

type Fields = Readonly<Record<string, Schema>>;
const str: Schema = { type: 'string' };
const int: Schema = { type: 'integer' };
const bool: Schema = { type: 'boolean' };
const any: Schema = {};
const strings: Schema = { type: 'array', items: str };
const map: Schema = { type: 'object', additionalProperties: str };
const list = (items: Schema): Schema => ({ type: 'array', items });
const only = (...allowed: readonly string[]): Schema => ({ enum: allowed });
const obj = (properties: Fields, ...required: readonly string[]): Schema => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
});
const dnsName: Schema = { type: 'string', pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$', maxLength: 63 };
const portName: Schema = { type: 'string', pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$', maxLength: 15 };
const intOrPort: Schema = { anyOf: [{ type: 'integer', minimum: 1, maximum: 65_535 }, portName] };
const quantity: Schema = { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?(m|Ki|Mi|Gi|Ti)?$' };
const labelMap: Schema = {
  type: 'object',
  additionalProperties: { type: 'string', pattern: '^([A-Za-z0-9][A-Za-z0-9._-]{0,61})?[A-Za-z0-9]?$' },
};

const selector = obj({ matchLabels: labelMap, matchExpressions: list(any) });
const metadata = obj({ name: dnsName, namespace: str, labels: labelMap, annotations: map }, 'name');
const resources = obj({
  requests: { type: 'object', additionalProperties: quantity },
  limits: { type: 'object', additionalProperties: quantity },
});
const containerSecurity = obj({
  allowPrivilegeEscalation: bool,
  readOnlyRootFilesystem: bool,
  capabilities: obj({ drop: strings, add: strings }),
});
const action: Fields = {
  exec: obj({ command: strings }, 'command'),
  httpGet: obj({ path: str, port: intOrPort }, 'port'),
};
const probe = obj({
  ...action,
  periodSeconds: int,
  timeoutSeconds: int,
  failureThreshold: int,
  initialDelaySeconds: int,
});
const container = obj(
  {
    name: dnsName,
    image: str,
    imagePullPolicy: only('IfNotPresent', 'Always', 'Never'),
    command: strings,
    args: strings,
    env: list(
      obj(
        {
          name: { type: 'string', pattern: '^[A-Z][A-Z0-9_]*$' },
          value: str,
          valueFrom: obj({ fieldRef: obj({ fieldPath: str }, 'fieldPath') }),
        },
        'name',
      ),
    ),
    ports: list(obj({ name: portName, containerPort: int, protocol: str }, 'containerPort')),
    startupProbe: probe,
    livenessProbe: probe,
    readinessProbe: probe,
    lifecycle: obj({ preStop: obj(action) }),
    resources,
    securityContext: containerSecurity,
    volumeMounts: list(obj({ name: dnsName, mountPath: str, readOnly: bool, subPath: str }, 'name', 'mountPath')),
  },
  'name',
  'image',
  'resources',
  'securityContext',
);
const keys = list(obj({ key: str, path: str }, 'key', 'path'));
const volume = obj(
  {
    name: dnsName,
    emptyDir: obj({ sizeLimit: quantity, medium: str }),
    secret: obj({ secretName: str, defaultMode: int, items: keys }, 'secretName'),
    projected: obj({ defaultMode: int, sources: list(obj({ secret: obj({ name: str, items: keys }, 'name') })) }),
    persistentVolumeClaim: obj({ claimName: str }, 'claimName'),
  },
  'name',
);
const pod = obj(
  {
    serviceAccountName: str,
    automountServiceAccountToken: bool,
    enableServiceLinks: bool,
    terminationGracePeriodSeconds: int,
    restartPolicy: only('Always', 'Never', 'OnFailure'),
    securityContext: obj({
      runAsNonRoot: bool,
      runAsUser: int,
      runAsGroup: int,
      fsGroup: int,
      fsGroupChangePolicy: only('OnRootMismatch', 'Always'),
      seccompProfile: obj({ type: only('RuntimeDefault') }, 'type'),
    }),
    imagePullSecrets: list(obj({ name: str }, 'name')),
    priorityClassName: str,
    nodeSelector: map,
    tolerations: list(any),
    affinity: any,
    topologySpreadConstraints: list(
      obj({
        maxSkew: int,
        topologyKey: str,
        whenUnsatisfiable: only('ScheduleAnyway', 'DoNotSchedule'),
        labelSelector: selector,
      }),
    ),
    initContainers: list(container),
    containers: list(container),
    volumes: list(volume),
  },
  'containers',
  'securityContext',
);
const template = obj({ metadata: obj({ labels: labelMap, annotations: map }), spec: pod }, 'metadata', 'spec');
const claim = obj(
  { accessModes: strings, storageClassName: str, resources: obj({ requests: map }, 'requests') },
  'accessModes',
  'resources',
);
const peer = obj({
  podSelector: selector,
  namespaceSelector: selector,
  ipBlock: obj({ cidr: str, except: strings }, 'cidr'),
});
const policyPorts = list(obj({ port: intOrPort, protocol: only('TCP', 'UDP', 'SCTP'), endPort: int }));
const bearer = obj({ type: only('Bearer'), credentials: obj({ name: str, key: str }, 'name', 'key') });

const specs: Readonly<Record<string, Schema>> = {
  'apps/v1 Deployment': obj(
    {
      replicas: int,
      revisionHistoryLimit: int,
      minReadySeconds: int,
      strategy: obj({
        type: only('RollingUpdate', 'Recreate'),
        rollingUpdate: obj({ maxSurge: int, maxUnavailable: int }),
      }),
      selector,
      template,
    },
    'selector',
    'template',
  ),
  'apps/v1 StatefulSet': obj(
    {
      replicas: int,
      serviceName: str,
      selector,
      template,
      volumeClaimTemplates: list(obj({ metadata: obj({ name: str }), spec: claim })),
    },
    'serviceName',
    'selector',
    'template',
  ),
  'v1 Pod': pod,
  'v1 Service': obj(
    {
      type: only('ClusterIP', 'NodePort', 'LoadBalancer'),
      clusterIP: only('None'),
      publishNotReadyAddresses: bool,
      externalTrafficPolicy: only('Local', 'Cluster'),
      loadBalancerClass: str,
      loadBalancerSourceRanges: strings,
      selector: labelMap,
      ports: list(obj({ name: portName, port: int, targetPort: intOrPort, protocol: str }, 'name', 'port')),
    },
    'selector',
    'ports',
  ),
  'v1 PersistentVolumeClaim': claim,
  'policy/v1 PodDisruptionBudget': obj(
    {
      maxUnavailable: { type: ['integer', 'string'] },
      unhealthyPodEvictionPolicy: only('AlwaysAllow', 'IfHealthyBudget'),
      selector,
    },
    'selector',
  ),
  'autoscaling/v2 HorizontalPodAutoscaler': obj(
    {
      scaleTargetRef: obj({ apiVersion: str, kind: str, name: str }, 'kind', 'name'),
      minReplicas: int,
      maxReplicas: int,
      metrics: list(
        obj({
          type: only('Resource'),
          resource: obj({ name: str, target: obj({ type: only('Utilization'), averageUtilization: int }) }),
        }),
      ),
      behavior: {
        type: 'object',
        additionalProperties: obj({
          stabilizationWindowSeconds: int,
          selectPolicy: only('Max', 'Min'),
          policies: list(obj({ type: only('Pods', 'Percent'), value: int, periodSeconds: int })),
        }),
      },
    },
    'scaleTargetRef',
    'maxReplicas',
  ),
  'networking.k8s.io/v1 Ingress': obj({
    ingressClassName: str,
    tls: list(obj({ secretName: str, hosts: strings })),
    rules: list(
      obj({
        host: str,
        http: obj({
          paths: list(
            obj({
              path: str,
              pathType: only('Prefix', 'Exact'),
              backend: obj({ service: obj({ name: str, port: obj({ number: int, name: str }) }) }),
            }),
          ),
        }),
      }),
    ),
  }),
  'networking.k8s.io/v1 NetworkPolicy': obj(
    {
      podSelector: selector,
      policyTypes: list(only('Ingress', 'Egress')),
      ingress: list(obj({ from: list(peer), ports: policyPorts })),
      egress: list(obj({ to: list(peer), ports: policyPorts })),
    },
    'podSelector',
  ),
  'gateway.networking.k8s.io/v1 HTTPRoute': obj(
    {
      parentRefs: list(obj({ name: str, namespace: str, sectionName: str, port: int }, 'name')),
      hostnames: strings,
      rules: list(
        obj({
          matches: list(obj({ path: obj({ type: only('PathPrefix', 'Exact'), value: str }) })),
          backendRefs: list(obj({ name: str, port: int, weight: int }, 'name', 'port')),
        }),
      ),
    },
    'parentRefs',
  ),
  'monitoring.coreos.com/v1 ServiceMonitor': obj(
    {
      jobLabel: str,
      selector,
      endpoints: list(obj({ port: str, path: str, interval: str, authorization: bearer }, 'port')),
    },
    'selector',
    'endpoints',
  ),
  'monitoring.coreos.com/v1 PrometheusRule': obj({
    groups: list(
      obj({
        name: str,
        rules: list(obj({ alert: str, record: str, expr: str, for: str, labels: map, annotations: map }, 'expr')),
      }),
    ),
  }),
};
const others: Readonly<Record<string, Fields>> = {
  'v1 ServiceAccount': { automountServiceAccountToken: bool },
  'v1 ConfigMap': { data: map },
  'v1 Namespace': {},
};

/** By `apiVersion kind`. */
export const kubernetesShapes: Readonly<Record<string, Schema>> = Object.fromEntries([
  ...Object.entries(specs).map(([name, spec]): [string, Schema] => [
    name,
    obj({ apiVersion: str, kind: str, metadata, spec }, 'apiVersion', 'kind', 'metadata', 'spec'),
  ]),
  ...Object.entries(others).map(([name, fields]): [string, Schema] => [
    name,
    obj({ apiVersion: str, kind: str, metadata, ...fields }, 'apiVersion', 'kind', 'metadata'),
  ]),
]);
